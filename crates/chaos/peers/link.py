"""The wire between two hosts, in user space: what netem does, for kernels without it. Standard library alone.

usage: link.py <seed> <interface a> <interface b>

Makes two TAP interfaces and carries frames from one to the other. Each line on stdin is a JSON object that says how, from
now on: shares `loss`, `duplicate` and `reorder`, seconds `delay` and `jitter`, and `cut`. Each line is answered with the
counts so far. What is decided about a frame comes from the seed alone.
"""

import fcntl
import heapq
import json
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
LONGEST = 65_536
# A real cable has a queue, and it is not endless.
MOST_WAITING = 20_000


def tap(name):
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return end


class Link:
    def __init__(self, seed, names):
        self.random = random.Random(seed)
        self.ends = [tap(name) for name in names]
        self.how = {}
        self.waiting = []
        self.number = 0
        self.counts = {"frames": 0, "lost": 0, "duplicated": 0, "reordered": 0, "delayed": 0, "cut": 0, "refused": 0}

    def take(self, end):
        other = self.ends[1] if end == self.ends[0] else self.ends[0]
        for _ in range(64):
            try:
                frame = os.read(end, LONGEST)
            except (BlockingIOError, OSError):
                return
            self.counts["frames"] += 1
            self.judge(other, frame)

    def judge(self, to, frame):
        how, dice = self.how, self.random.random
        if how.get("cut"):
            self.counts["cut"] += 1
            return
        if dice() < how.get("loss", 0):
            self.counts["lost"] += 1
            return
        copies = 1
        if dice() < how.get("duplicate", 0):
            self.counts["duplicated"] += 1
            copies = 2
        for _ in range(copies):
            wait = how.get("delay", 0) + how.get("jitter", 0) * dice()
            if wait > 0:
                self.counts["delayed"] += 1
            if dice() < how.get("reorder", 0):
                # Later than those that come after it.
                self.counts["reordered"] += 1
                wait += 0.002 + 0.03 * dice()
            if wait > 0 and len(self.waiting) < MOST_WAITING:
                self.number += 1
                heapq.heappush(self.waiting, (time.monotonic() + wait, self.number, to, frame))
            elif wait > 0:
                self.counts["lost"] += 1
            else:
                self.give(to, frame)

    def give(self, to, frame):
        try:
            os.write(to, frame)
        except OSError:
            # The interface is down.
            self.counts["refused"] += 1

    def run(self):
        commands = ""
        while True:
            patience = max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            ready, _, _ = select.select([*self.ends, 0], [], [], patience)
            for end in ready:
                if end != 0:
                    self.take(end)
                    continue
                data = os.read(0, 4096)
                if not data:
                    return
                commands += data.decode()
                *lines, commands = commands.split("\n")
                for line in lines:
                    self.how = json.loads(line)
                    print(json.dumps({"ok": self.counts}), flush=True)
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now:
                _, _, to, frame = heapq.heappop(self.waiting)
                self.give(to, frame)


link = Link(int(sys.argv[1]), sys.argv[2:4])
print(json.dumps({"ok": "there"}), flush=True)
link.run()
