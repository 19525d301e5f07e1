"""A foreign ROS node for the tests of our nodes: Eclipse Cyclone DDS from PyPI, spoken to in lines of JSON.

It calls services as rmw_cyclonedds does, hears /rosout, and publishes /clock and other topics.
"""

import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from json_peer import reply, serve  # noqa: E402
from ros_types import Clock, String, Time  # noqa: E402

ME = 0xFEDCBA9876543210


@dataclass
class Log(IdlStruct, typename="rcl_interfaces.msg.dds_.Log_"):
    stamp: Time
    level: uint8
    name: str
    msg: str
    file: str
    function: str
    line: uint32


@dataclass
class Value(IdlStruct, typename="rcl_interfaces.msg.dds_.ParameterValue_"):
    type: uint8 = 0
    bool_value: bool = False
    integer_value: int64 = 0
    double_value: float = 0.0
    string_value: str = ""
    byte_array_value: sequence[uint8] = ()
    bool_array_value: sequence[bool] = ()
    integer_array_value: sequence[int64] = ()
    double_array_value: sequence[float] = ()
    string_array_value: sequence[str] = ()


@dataclass
class Parameter(IdlStruct, typename="rcl_interfaces.msg.dds_.Parameter_"):
    name: str
    value: Value


@dataclass
class SetResult(IdlStruct, typename="rcl_interfaces.msg.dds_.SetParametersResult_"):
    successful: bool
    reason: str


@dataclass
class Names(IdlStruct, typename="rcl_interfaces.srv.dds_.GetParameters_Request_"):
    client: uint64
    sequence: int64
    names: sequence[str]


@dataclass
class Values(IdlStruct, typename="rcl_interfaces.srv.dds_.GetParameters_Response_"):
    client: uint64
    sequence: int64
    values: sequence[Value]


@dataclass
class Assignments(IdlStruct, typename="rcl_interfaces.srv.dds_.SetParameters_Request_"):
    client: uint64
    sequence: int64
    parameters: sequence[Parameter]


@dataclass
class Results(IdlStruct, typename="rcl_interfaces.srv.dds_.SetParameters_Response_"):
    client: uint64
    sequence: int64
    results: sequence[SetResult]


@dataclass
class ListRequest(IdlStruct, typename="rcl_interfaces.srv.dds_.ListParameters_Request_"):
    client: uint64
    sequence: int64
    prefixes: sequence[str]
    depth: uint64


@dataclass
class ListResult(IdlStruct, typename="rcl_interfaces.msg.dds_.ListParametersResult_"):
    names: sequence[str]
    prefixes: sequence[str]


@dataclass
class ListResponse(IdlStruct, typename="rcl_interfaces.srv.dds_.ListParameters_Response_"):
    client: uint64
    sequence: int64
    result: ListResult


@dataclass
class FieldType(IdlStruct, typename="type_description_interfaces.msg.dds_.FieldType_"):
    type_id: uint8
    capacity: uint64
    string_capacity: uint64
    nested_type_name: str


@dataclass
class Field(IdlStruct, typename="type_description_interfaces.msg.dds_.Field_"):
    name: str
    type: FieldType
    default_value: str


@dataclass
class Individual(IdlStruct, typename="type_description_interfaces.msg.dds_.IndividualTypeDescription_"):
    type_name: str
    fields: sequence[Field]


@dataclass
class Description(IdlStruct, typename="type_description_interfaces.msg.dds_.TypeDescription_"):
    type_description: Individual
    referenced_type_descriptions: sequence[Individual]


@dataclass
class Source(IdlStruct, typename="type_description_interfaces.msg.dds_.TypeSource_"):
    type_name: str
    encoding: str
    raw_file_contents: str


@dataclass
class KeyValue(IdlStruct, typename="type_description_interfaces.msg.dds_.KeyValue_"):
    key: str
    value: str


@dataclass
class DescribeRequest(IdlStruct, typename="type_description_interfaces.srv.dds_.GetTypeDescription_Request_"):
    client: uint64
    sequence: int64
    type_name: str
    type_hash: str
    include_type_sources: bool


@dataclass
class DescribeResponse(IdlStruct, typename="type_description_interfaces.srv.dds_.GetTypeDescription_Response_"):
    client: uint64
    sequence: int64
    successful: bool
    failure_reason: str
    type_description: Description
    type_sources: sequence[Source]
    extra_information: sequence[KeyValue]


RELIABLE = Policy.Reliability.Reliable(duration(seconds=10))
SERVICE = Qos(RELIABLE, Policy.History.KeepLast(10))
LATCHED = Qos(RELIABLE, Policy.History.KeepLast(1000), Policy.Durability.TransientLocal)
CLOCK = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(1))


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("not in time")
        time.sleep(0.002)


class Peer:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.number = 0
        self.writers = {}

    def call(self, service, request_type, response_type, *fields):
        reader = DataReader(self.participant, Topic(self.participant, f"rr{service}Reply", response_type), qos=SERVICE)
        writer = DataWriter(self.participant, Topic(self.participant, f"rq{service}Request", request_type), qos=SERVICE)
        until(lambda: writer.get_matched_subscriptions() and reader.get_matched_publications())
        self.number += 1
        writer.write(request_type(ME, self.number, *fields))
        replies = []

        def answered():
            replies.extend(r for r in reader.take(N=16) if (r.client, r.sequence) == (ME, self.number))
            return replies

        until(answered)
        return replies[0]

    def get(self, node, names):
        reply = self.call(f"{node}/get_parameters", Names, Values, names)
        pick = {1: "bool_value", 2: "integer_value", 3: "double_value", 4: "string_value"}
        return [getattr(value, pick[value.type]) for value in reply.values]

    def set(self, node, name, value):
        kinds = {bool: (1, "bool_value"), int: (2, "integer_value"), str: (4, "string_value")}
        number, field = kinds[type(value)]
        wanted = Parameter(name, Value(type=number, **{field: value}))
        reply = self.call(f"{node}/set_parameters", Assignments, Results, [wanted])
        return [reply.results[0].successful, reply.results[0].reason]

    def list(self, node):
        return self.call(f"{node}/list_parameters", ListRequest, ListResponse, [], 0).result.names

    def describe(self, node, type_name, type_hash):
        service = f"{node}/get_type_description"
        reply = self.call(service, DescribeRequest, DescribeResponse, type_name, type_hash, True)
        described = reply.type_description
        return {
            "reason": reply.failure_reason,
            "fields": [[f.name, f.type.type_id] for f in described.type_description.fields],
            "referenced": [d.type_name for d in described.referenced_type_descriptions],
            "sources": [s.type_name for s in reply.type_sources],
        }

    def rosout(self, count):
        """Hears as a late joiner; answers with level, logger and words."""
        reader = DataReader(self.participant, Topic(self.participant, "rt/rosout", Log), qos=LATCHED)
        heard = []

        def enough():
            heard.extend([log.level, log.name, log.msg] for log in reader.take(N=16))
            return len(heard) >= count

        until(enough)
        return heard

    def writer(self, topic):
        kind, qos = (Clock, CLOCK) if topic == "/clock" else (String, SERVICE)
        if topic not in self.writers:
            self.writers[topic] = DataWriter(
                self.participant, Topic(self.participant, f"rt{topic}", kind), qos=qos
            )
        return self.writers[topic]

    def tick(self, seconds):
        """Publishes one time, once there is a subscription."""
        writer = self.writer("/clock")
        until(writer.get_matched_subscriptions)
        writer.write(Clock(Time(seconds, 0)))

    def simulate(self, topic, step, count):
        """Publishes a time and a text in turns; each text is `step` seconds of simulated time after the last."""
        clock, data = self.writer("/clock"), self.writer(topic)
        reply({"ok": "there"})
        until(lambda: clock.get_matched_subscriptions() and data.get_matched_subscriptions())
        for number in range(count):
            clock.write(Clock(Time(1000 + number * step, 0)))
            time.sleep(0.02)
            data.write(String(str(number)))
            time.sleep(0.02)

    def open(self, topic):
        """A best effort publisher of texts that begin with their number."""
        qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(1))
        self.writers[topic] = DataWriter(
            self.participant, Topic(self.participant, f"rt{topic}", String), qos=qos
        )
        self.sent = 0

    def matched(self, topic, count):
        until(lambda: len(self.writers[topic].get_matched_subscriptions()) >= count)

    def send(self, topic, count, size):
        """As fast as it goes; answers with the number of the last."""
        writer, tail = self.writers[topic], " " + "x" * size
        for _ in range(count):
            self.sent += 1
            writer.write(String(f"{self.sent}{tail}"))
        return self.sent


serve(lambda: Peer(int(sys.argv[1])), 120)
