"""Messages of ROS for peers on Eclipse Cyclone DDS from PyPI, with the type names that rmw_cyclonedds uses."""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int32, uint32


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32

    @staticmethod
    def of(nanos):
        return Time(nanos // 10**9, nanos % 10**9)

    def nanos(self):
        return self.sec * 10**9 + self.nanosec


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs.msg.dds_.Clock_"):
    clock: Time


@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str


@dataclass
class String(IdlStruct, typename="std_msgs.msg.dds_.String_"):
    data: str
