"""A foreign publisher over DDS: Eclipse Cyclone DDS from PyPI.

usage: peer.py <domain> <directory of the ledger>
"""

import os
import signal
import struct
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import uint64
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from cyclonedds.util import duration

import ledger

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../testkit/peers"))
from ros_types import Clock, String, Time  # noqa: E402


@dataclass
class Number(IdlStruct, typename="std_msgs.msg.dds_.UInt64_"):
    data: uint64


def qos(reliable=True, latched=False, depth=None):
    policies = [
        Policy.Reliability.Reliable(duration(infinite=True)) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if depth is None else Policy.History.KeepLast(depth),
    ]
    if latched:
        policies.append(Policy.Durability.TransientLocal)
        policies.append(Policy.DurabilityService(0, Policy.History.KeepLast(depth or 1), -1, -1, -1))
    return Qos(*policies)


class Texts(ledger.Source):
    idl = String

    def __init__(self, participant, directory, name, topic, **wanted):
        super().__init__(directory, name, topic)
        self.writer = DataWriter(participant, Topic(participant, "rt" + topic, self.idl), qos=qos(**wanted))

    def put(self, number, data):
        self.writer.write(String(data.decode()))

    def is_matched(self):
        return bool(self.writer.get_matched_subscriptions())


class Numbers(Texts):
    """The same topic with another type."""

    kind, idl = "Number", Number

    def data(self, number, size):
        return struct.pack("<Q", number)

    def put(self, number, data):
        self.writer.write(Number(number))


class Peer(ledger.Peer):
    def __init__(self, domain, directory):
        super().__init__(directory)
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.clock = None

    def writer(self, name, topic, kind="String", **wanted):
        source = {"String": Texts, "Number": Numbers}[kind]
        self.writers[name] = source(self.participant, self.directory, name, topic, **wanted)

    def acked(self, names, seconds):
        """Whether everything was acknowledged within this time."""
        return all(self.writers[name].writer.wait_for_acks(duration(seconds=seconds)) for name in names)

    def close(self, name):
        self.writers.pop(name)

    def burst(self, name, topic, count, reliable=True):
        """A publisher that sends so many messages and is gone again, heard or not."""
        source = Texts(self.participant, self.directory, name, topic, reliable=reliable, depth=100)
        source.publish_now(count, [40, 200])
        source.writer = None

    def tick(self, begin, step, hertz, count):
        """Publishes /clock from `begin` seconds on, so many times."""
        if self.clock is None:
            policies = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(1))
            self.clock = DataWriter(self.participant, Topic(self.participant, "rt/clock", Clock), qos=policies)
        for number in range(count):
            nanos = int((begin + number * step) * 1e9)
            self.clock.write(Clock(Time(nanos // 10**9, nanos % 10**9)))
            time.sleep(1 / hertz)


# A campaign that dies leaves no peer behind.
signal.alarm(120)
Peer(int(sys.argv[1]), sys.argv[2]).obey()
