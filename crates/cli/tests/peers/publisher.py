"""A foreign publisher for the tests of `record`: Eclipse Cyclone DDS from PyPI.

Reads one JSON command per line, answers with one JSON line. Messages are std_msgs/msg/String whose text begins with the
writer's name and the message's number: `name:number:`.
"""

import os
import sys
import threading
import time

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from json_peer import serve  # noqa: E402
from ros_types import String  # noqa: E402


def qos(reliable=True, latched=False, depth=None):
    policies = [
        Policy.Reliability.Reliable(duration(seconds=10)) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if depth is None else Policy.History.KeepLast(depth),
    ]
    if latched:
        policies.append(Policy.Durability.TransientLocal)
        policies.append(Policy.DurabilityService(0, Policy.History.KeepLast(depth or 1), -1, -1, -1))
    return Qos(*policies)


class Writer:
    def __init__(self, participant, name, topic, **wanted):
        self.name = name
        self.writer = DataWriter(participant, Topic(participant, "rt" + topic, String), qos=qos(**wanted))
        self.sent = 0
        self.stop = None

    def publish(self, count, rate=0.0, size=20):
        begin, number = time.monotonic(), 0
        while number < count and not (self.stop and self.stop.is_set()):
            text = f"{self.name}:{self.sent}:"
            self.writer.write(String(text + "x" * (size - len(text))))
            self.sent += 1
            number += 1
            ahead = begin + number / rate - time.monotonic() if rate else 0
            if ahead > 0:
                time.sleep(ahead)


class Publisher:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.writers = {}
        self.threads = {}

    def writer(self, name, topic, **wanted):
        self.writers[name] = Writer(self.participant, name, topic, **wanted)

    def matched(self, name, count=1):
        writer, end = self.writers[name].writer, time.monotonic() + 60
        while len(writer.get_matched_subscriptions()) < count:
            if time.monotonic() > end:
                raise TimeoutError("no subscription")
            time.sleep(0.01)

    def publish(self, name, count, rate=0.0, size=20):
        self.writers[name].publish(count, rate, size)
        return self.writers[name].sent

    def start(self, name, rate, size=20):
        """Publishes on and on."""
        writer = self.writers[name]
        writer.stop = threading.Event()
        self.threads[name] = threading.Thread(target=writer.publish, args=(1 << 60, rate, size))
        self.threads[name].start()

    def stop(self, name):
        """Ends that; answers how many were sent."""
        self.writers[name].stop.set()
        self.threads.pop(name).join()
        self.writers[name].stop = None
        return self.writers[name].sent

    def sleep(self, seconds):
        time.sleep(seconds)

    def acked(self, name):
        self.writers[name].writer.wait_for_acks(duration(seconds=30))
        return self.writers[name].sent

    def close(self, name):
        return self.writers.pop(name).sent


serve(lambda: Publisher(int(sys.argv[1])), 150)
