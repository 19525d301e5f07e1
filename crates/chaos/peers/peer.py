"""A foreign publisher with a ledger: Eclipse Cyclone DDS from PyPI, spoken to in lines of JSON.

usage: peer.py <domain> <directory of the ledger>

Before a message is written, its number, length and CRC-32 go into `<writer>.ledger`; after it, the count of those that
were written goes into `<writer>.done`. Both are plain write() calls: they survive a kill -9 of this process.
"""

import json
import os
import signal
import struct
import sys
import threading
import time
import zlib
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int32, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from cyclonedds.util import duration

# Text of which each message has another piece: bytes that were mixed up do not look right by accident.
FILLER = "".join(chr(33 + (index * index * 7 + index // 90) % 90) for index in range(100_003)) * 2


@dataclass
class String(IdlStruct, typename="std_msgs.msg.dds_.String_"):
    data: str


@dataclass
class Number(IdlStruct, typename="std_msgs.msg.dds_.UInt64_"):
    data: uint64


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs.msg.dds_.Clock_"):
    clock: Time


def qos(reliable=True, latched=False, depth=None):
    policies = [
        Policy.Reliability.Reliable(duration(infinite=True)) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if depth is None else Policy.History.KeepLast(depth),
    ]
    if latched:
        policies.append(Policy.Durability.TransientLocal)
        policies.append(Policy.DurabilityService(0, Policy.History.KeepLast(depth or 1), -1, -1, -1))
    return Qos(*policies)


class Writer:
    def __init__(self, participant, directory, name, topic, kind="String", **wanted):
        self.name, self.kind = name, {"String": String, "Number": Number}[kind]
        self.writer = DataWriter(participant, Topic(participant, "rt" + topic, self.kind), qos=qos(**wanted))
        self.sent, self.stop, self.thread = 0, threading.Event(), None
        with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as about:
            json.dump({"topic": topic, "kind": kind, "reliable": wanted.get("reliable", True)}, about)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self.ledger = os.open(os.path.join(directory, name + ".ledger"), flags, 0o644)
        self.done = os.open(os.path.join(directory, name + ".done"), os.O_WRONLY | os.O_CREAT, 0o644)

    def message(self, number, size):
        if self.kind is Number:
            return Number(number), struct.pack("<Q", number)
        head = f"{self.name}:{number}:"
        begin = number * 7919 % 100_003
        text = head + FILLER[begin : begin + max(0, size - len(head))]
        return String(text), text.encode()

    def publish(self, count, rate, sizes):
        begin = time.monotonic()
        for index in range(count):
            if self.stop.is_set():
                return
            number = self.sent
            message, data = self.message(number, sizes[number % len(sizes)])
            os.write(self.ledger, struct.pack("<QII", number, len(data), zlib.crc32(data)))
            self.writer.write(message)
            self.sent += 1
            os.pwrite(self.done, struct.pack("<Q", self.sent), 0)
            ahead = begin + (index + 1) / rate - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -0.2:
                # It was held up: what was missed is not caught up with in one burst.
                begin -= ahead


class Peer:
    def __init__(self, domain, directory):
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.directory = directory
        self.writers = {}
        self.clock = None

    def writer(self, name, topic, **wanted):
        self.writers[name] = Writer(self.participant, self.directory, name, topic, **wanted)

    def matched(self, names, seconds=20.0):
        """Whether each of them has a subscription within this time."""
        end = time.monotonic() + seconds
        while not all(self.writers[name].writer.get_matched_subscriptions() for name in names):
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def start(self, name, rate, sizes):
        """Publishes on and on."""
        writer = self.writers[name]
        writer.stop.clear()
        writer.thread = threading.Thread(target=writer.publish, args=(1 << 60, rate, sizes), daemon=True)
        writer.thread.start()

    def stop(self, names):
        """Ends that; answers whether all have stopped: one whose subscription takes nothing waits for it."""
        for name in names:
            self.writers[name].stop.set()
        for name in names:
            self.writers[name].thread.join(25)
        return not any(self.writers[name].thread.is_alive() for name in names)

    def acked(self, names, seconds):
        """Whether everything was acknowledged within this time."""
        return all(self.writers[name].writer.wait_for_acks(duration(seconds=seconds)) for name in names)

    def close(self, name):
        self.writers.pop(name)

    def tick(self, begin, step, hertz, count):
        """Publishes /clock from `begin` seconds on, so many times."""
        if self.clock is None:
            policies = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(1))
            self.clock = DataWriter(self.participant, Topic(self.participant, "rt/clock", Clock), qos=policies)
        for number in range(count):
            nanos = int((begin + number * step) * 1e9)
            self.clock.write(Clock(Time(nanos // 10**9, nanos % 10**9)))
            time.sleep(1 / hertz)


def main():
    # A campaign that dies leaves no peer behind.
    signal.alarm(120)
    peer = Peer(int(sys.argv[1]), sys.argv[2])
    print(json.dumps({"ok": "there"}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": getattr(peer, command.pop("do"))(**command)}
        except Exception as error:  # told to the campaign, which fails with it
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)
    # Writers that wait for a subscription that is gone do not hold it up.
    os._exit(0)


main()
