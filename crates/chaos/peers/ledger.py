"""What a peer publishes, and its ledger of it. Standard library alone.

Before a message is written, its number, length, CRC-32 and the time go into `<writer>.ledger`; after it, the count of
those that were written goes into `<writer>.done`. Both are plain write() calls: they survive a kill -9 of the peer.
"""

import json
import os
import struct
import sys
import threading
import time
import zlib

# Each message contains another piece of this text, so that mixed-up bytes are noticed.
FILLER = "".join(chr(33 + (index * index * 7 + index // 90) % 90) for index in range(100_003)) * 2


class Source:
    """Publishes continuously on its own thread. Subclasses implement `put(number, data)`."""

    kind = "String"

    def __init__(self, directory, name, topic):
        self.name, self.sent, self.stopped, self.thread = name, 0, threading.Event(), None
        with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as about:
            json.dump({"topic": topic, "kind": self.kind}, about)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self.ledger = os.open(os.path.join(directory, name + ".ledger"), flags, 0o644)
        self.done = os.open(os.path.join(directory, name + ".done"), os.O_WRONLY | os.O_CREAT, 0o644)

    def data(self, number, size):
        head = f"{self.name}:{number}:"
        begin = number * 7919 % 100_003
        return (head + FILLER[begin : begin + max(0, size - len(head))]).encode()

    def publish_one(self, sizes):
        number = self.sent
        data = self.data(number, sizes[number % len(sizes)])
        os.write(self.ledger, struct.pack("<QIIQ", number, len(data), zlib.crc32(data), time.time_ns()))
        self.put(number, data)
        self.sent += 1
        os.pwrite(self.done, struct.pack("<Q", self.sent), 0)

    def publish_now(self, count, sizes):
        for _ in range(count):
            self.publish_one(sizes)

    def publish(self, rate, sizes):
        begin, index = time.monotonic(), 0
        while not self.stopped.is_set():
            self.publish_one(sizes)
            index += 1
            ahead = begin + index / rate - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -0.2:
                # It was held up: what was missed is not caught up with in one burst.
                begin -= ahead

    def start(self, rate, sizes):
        self.stopped.clear()
        self.thread = threading.Thread(target=self.publish, args=(rate, sizes), daemon=True)
        self.thread.start()


class Peer:
    """The commands that all peers have."""

    def __init__(self, directory):
        self.directory, self.writers = directory, {}

    def start(self, name, rate, sizes):
        self.writers[name].start(rate, sizes)

    def matched(self, names, seconds=20.0):
        """Whether each of them has a subscription within this time."""
        end = time.monotonic() + seconds
        while not all(self.writers[name].is_matched() for name in names):
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def stop(self, names):
        """Ends that; answers whether all have stopped: one whose subscription takes nothing waits for it."""
        for name in names:
            self.writers[name].stopped.set()
        for name in names:
            self.writers[name].thread.join(25)
        return not any(self.writers[name].thread.is_alive() for name in names)

    def obey(self):
        """One JSON command per line, one JSON answer per line."""
        print(json.dumps({"ok": "there"}), flush=True)
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = {"ok": getattr(self, command.pop("do"))(**command)}
            except Exception as error:  # reported to the campaign, which fails
                answer = {"error": repr(error)}
            print(json.dumps(answer), flush=True)
        # Writers that wait for a subscription that is gone do not hold it up.
        os._exit(0)
