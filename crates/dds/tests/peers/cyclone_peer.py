"""A foreign DDS participant for the interop tests: Eclipse Cyclone DDS from PyPI.

Reads one JSON command per line, answers with one JSON line. Payloads are sequences of bytes whose first four say which
sample it is and whose rest follows from that.
"""

import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, int64, sequence, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from json_peer import reply, serve  # noqa: E402


@dataclass
class Blob(IdlStruct, typename="timeloom_test.msg.dds_.Blob_"):
    data: sequence[uint8]


@dataclass
class Gid(IdlStruct, typename="rmw_dds_common.msg.dds_.Gid_"):
    data: array[uint8, 16]


@dataclass
class NodeInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]


@dataclass
class ParticipantInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.ParticipantEntitiesInfo_"):
    gid: Gid
    node_entities_info_seq: sequence[NodeInfo]


@dataclass
class Request(IdlStruct, typename="timeloom_test.srv.dds_.Add_Request_"):
    client: uint64
    sequence: int64
    a: int64
    b: int64


@dataclass
class Response(IdlStruct, typename="timeloom_test.srv.dds_.Add_Response_"):
    client: uint64
    sequence: int64
    sum: int64


def qos(wanted):
    policies = [
        Policy.Reliability.Reliable(duration(seconds=10))
        if wanted.get("reliable", True)
        else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if wanted.get("depth") is None else Policy.History.KeepLast(wanted["depth"]),
    ]
    if wanted.get("latched"):
        policies.append(Policy.Durability.TransientLocal)
        policies.append(
            Policy.DurabilityService(0, Policy.History.KeepLast(wanted.get("depth") or 1), -1, -1, -1)
        )
    if "deadline" in wanted:
        policies.append(Policy.Deadline(wanted["deadline"]))
    if "lifespan" in wanted:
        policies.append(Policy.Lifespan(wanted["lifespan"]))
    if "manual" in wanted:
        policies.append(Policy.Liveliness.ManualByTopic(wanted["manual"]))
    if "user_data" in wanted:
        policies.append(Policy.Userdata(wanted["user_data"].encode()))
    return Qos(*policies)


def fill(mark, size):
    """The body of sample `mark`: the same rule as in python.rs."""
    return mark.to_bytes(4, "little") + bytes([mark * 31 % 251]) * (size - 4)


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("not in time")
        time.sleep(0.002)


class Peer:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.named = {}
        self.info = None

    def topic(self, name, kind=Blob):
        return Topic(self.participant, name, kind)

    def writer(self, name, topic, **wanted):
        self.named[name] = DataWriter(self.participant, self.topic(topic), qos=qos(wanted))
        return self.named[name].guid.bytes.hex()

    def reader(self, name, topic, **wanted):
        self.named[name] = DataReader(self.participant, self.topic(topic), qos=qos(wanted))
        return self.named[name].guid.bytes.hex()

    def matched(self, name, count):
        end = self.named[name]
        if isinstance(end, DataWriter):
            until(lambda: len(end.get_matched_subscriptions()) == count)
        else:
            until(lambda: len(end.get_matched_publications()) == count)

    def write(self, name, size, marks):
        for mark in marks:
            self.named[name].write(Blob(data=fill(mark, size)))

    def take(self, name, count, seconds=30.0):
        """Waits for `count` samples; answers with their marks, or None for one that is not as it was sent."""
        got = []

        def enough():
            for blob in self.named[name].take(N=16):
                data = bytes(blob.data)
                mark = int.from_bytes(data[:4], "little")
                got.append(mark if data == fill(mark, len(data)) else None)
            return len(got) >= count

        try:
            until(enough, seconds)
        except TimeoutError:
            pass
        return got

    def close(self, name):
        del self.named[name]

    def node(self, namespace, name, readers=(), writers=()):
        """Announces a node as rmw_cyclonedds does."""
        if self.info is None:
            wanted = qos({"depth": 1, "latched": True})
            self.info = DataWriter(
                self.participant, self.topic("ros_discovery_info", ParticipantInfo), qos=wanted
            )
        gids = [[Gid(data=list(self.named[end].guid.bytes)) for end in ends] for ends in (readers, writers)]
        node = NodeInfo(namespace, name, *gids)
        self.info.write(ParticipantInfo(Gid(data=list(self.participant.guid.bytes)), [node]))
        return self.participant.guid.bytes.hex()

    def participants(self):
        """The user data of all participants."""
        reader = BuiltinDataReader(self.participant, BuiltinTopicDcpsParticipant)
        found = []

        def seen():
            for sample in reader.read(N=100):
                data = sample.qos[Policy.Userdata]
                found.append([sample.key.bytes.hex(), bytes(data.data).decode() if data else ""])
            return len(found) > 1

        until(seen)
        return found

    def endpoint(self, topic, kind):
        """The discovery data of the only endpoint on a topic."""
        of = BuiltinTopicDcpsPublication if kind == "writer" else BuiltinTopicDcpsSubscription
        reader = BuiltinDataReader(self.participant, of)
        found = []

        def seen():
            found.extend(sample for sample in reader.take(N=100) if sample.topic_name == topic)
            return bool(found)

        until(seen)
        data = found[0].qos[Policy.Userdata]
        return {
            "guid": found[0].key.bytes.hex(),
            "type": found[0].type_name,
            "user_data": bytes(data.data).decode() if data else "",
            "qos": sorted(str(policy) for policy in found[0].qos if not isinstance(policy, Policy.Userdata)),
        }

    def serve(self, service, count):
        """Answers `count` requests as a server of rmw_cyclonedds does."""
        wanted = {"depth": 10, "user_data": "serviceid= 1.2.3;"}
        reader = DataReader(self.participant, self.topic(f"rq{service}Request", Request), qos=qos(wanted))
        writer = DataWriter(self.participant, self.topic(f"rr{service}Reply", Response), qos=qos(wanted))
        reply({"ok": "serving"})
        done = []

        def enough():
            for request in reader.take(N=16):
                done.append(request)
                writer.write(Response(request.client, request.sequence, request.a + request.b))
            return len(done) >= count

        until(enough)
        writer.wait_for_acks(duration(seconds=10))

    def call(self, service, pairs):
        """Calls as a client of rmw_cyclonedds does; answers with the sums."""
        wanted = {"depth": 10, "user_data": "clientid= 4.5.6;"}
        reader = DataReader(self.participant, self.topic(f"rr{service}Reply", Response), qos=qos(wanted))
        writer = DataWriter(self.participant, self.topic(f"rq{service}Request", Request), qos=qos(wanted))
        until(lambda: writer.get_matched_subscriptions() and reader.get_matched_publications())
        sums = []
        for number, (a, b) in enumerate(pairs, 1):
            writer.write(Request(0xFEDCBA9876543210, number, a, b))

            def answered():
                for reply in reader.take(N=16):
                    if (reply.client, reply.sequence) == (0xFEDCBA9876543210, number):
                        sums.append(reply.sum)
                return len(sums) == number

            until(answered)
        return sums


serve(lambda: Peer(int(sys.argv[1])), 120)
