"""Nodes that TILDE would have instrumented, on Eclipse Cyclone DDS from PyPI: they publish and read tracking tags.

Reads one JSON command per line, answers with one JSON line. Times are nanoseconds. Main messages are
std_msgs/msg/Header: a stamp at the top level.
"""

import json
import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, sequence
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from ros_types import Header, Time  # noqa: E402


@dataclass
class PubTopicTimeInfo(IdlStruct, typename="tilde_msg.msg.dds_.PubTopicTimeInfo_"):
    topic_name: str
    node_fqn: str
    seq: int64
    pub_time: Time
    pub_time_steady: Time
    has_header_stamp: bool
    header_stamp: Time


@dataclass
class SubTopicTimeInfo(IdlStruct, typename="tilde_msg.msg.dds_.SubTopicTimeInfo_"):
    topic_name: str
    sub_time: Time
    sub_time_steady: Time
    has_header_stamp: bool
    header_stamp: Time


@dataclass
class MessageTrackingTag(IdlStruct, typename="tilde_msg.msg.dds_.MessageTrackingTag_"):
    header: Header
    output_info: PubTopicTimeInfo
    input_infos: sequence[SubTopicTimeInfo]


def tag_of(wanted):
    """The tag that a JSON object describes."""
    output = wanted["output"]
    inputs = [
        SubTopicTimeInfo(one["topic"], Time.of(one["received"]), Time.of(one["received_steady"]), True, Time.of(one["stamp"]))
        for one in wanted.get("inputs", [])
    ]
    return MessageTrackingTag(
        Header(Time.of(output["published"]), ""),
        PubTopicTimeInfo(
            output["topic"],
            output.get("node", ""),
            output.get("sequence", 0),
            Time.of(output["published"]),
            Time.of(output["published_steady"]),
            True,
            Time.of(output["stamp"]),
        ),
        inputs,
    )


def described(tag):
    output = tag.output_info
    return {
        "output": {
            "topic": output.topic_name,
            "node": output.node_fqn,
            "sequence": output.seq,
            "published": output.pub_time.nanos(),
            "published_steady": output.pub_time_steady.nanos(),
            "stamp": output.header_stamp.nanos() if output.has_header_stamp else None,
        },
        "inputs": [
            {
                "topic": one.topic_name,
                "received": one.sub_time.nanos(),
                "received_steady": one.sub_time_steady.nanos(),
                "stamp": one.header_stamp.nanos() if one.has_header_stamp else None,
            }
            for one in tag.input_infos
        ],
        # What the same value is in the bytes of Cyclone's own serialiser.
        "bytes": tag.serialize().hex(),
    }


class Node:
    """As TILDE makes it: a tag before each message, keep last 1, reliable."""

    def __init__(self, participant, topic):
        qos = Qos(Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepLast(1))
        self.topic, self.sequence = topic, 0
        self.main = DataWriter(participant, Topic(participant, "rt" + topic, Header), qos=qos)
        name = "rt" + topic + "/message_tracking_tag"
        self.tags = DataWriter(participant, Topic(participant, name, MessageTrackingTag), qos=qos)

    def publish(self, stamp):
        output = {
            "topic": self.topic,
            "sequence": self.sequence,
            "published": time.time_ns(),
            "published_steady": time.monotonic_ns(),
            "stamp": stamp,
        }
        self.tags.write(tag_of({"output": output}))
        self.main.write(Header(Time.of(stamp), "base"))
        self.sequence += 1


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("not in time")
        time.sleep(0.005)


class Peer:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain)
        self.nodes = {}
        self.readers = {}
        self.taken = {}

    def node(self, topic):
        self.nodes[topic] = Node(self.participant, topic)

    def matched(self, topic, messages, tags):
        node = self.nodes[topic]
        until(lambda: len(node.main.get_matched_subscriptions()) >= messages)
        until(lambda: len(node.tags.get_matched_subscriptions()) >= tags)

    def publish(self, topic, stamp):
        self.nodes[topic].publish(stamp)

    def acked(self):
        for node in self.nodes.values():
            for writer in (node.tags, node.main):
                if not writer.wait_for_acks(duration(seconds=60)):
                    raise TimeoutError("not acknowledged")

    def read(self, topic):
        name = "rt" + topic + "/message_tracking_tag"
        qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(100))
        self.readers[topic] = DataReader(self.participant, Topic(self.participant, name, MessageTrackingTag), qos=qos)
        self.taken[topic] = []

    def found(self, topic):
        until(lambda: self.readers[topic].get_matched_publications())

    def take(self, topic, count):
        def enough():
            self.taken[topic].extend(self.readers[topic].take(100))
            return len(self.taken[topic]) >= count

        until(enough)
        return [described(tag) for tag in self.taken[topic]]

    @staticmethod
    def serialize(tag):
        return tag_of(tag).serialize().hex()


def main():
    peer = Peer(int(sys.argv[1]))
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": getattr(peer, command.pop("do"))(**command)}
        except Exception as error:  # noqa: BLE001 - the test says what was wrong
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


main()
