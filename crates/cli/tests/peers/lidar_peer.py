"""A foreign ROS node that hears a lidar: Eclipse Cyclone DDS from PyPI, spoken to in lines of JSON."""

import json
import os
import signal
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, int32, sequence, uint8, uint16, uint32, uint64
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from ros_types import Header  # noqa: E402


@dataclass
class LaserScan(IdlStruct, typename="sensor_msgs.msg.dds_.LaserScan_"):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


@dataclass
class PFHeader(IdlStruct, typename="pf_interfaces.msg.dds_.PFHeader_"):
    magic: uint16
    packet_type: uint16
    packet_size: uint32
    header_size: uint16
    scan_number: uint16
    packet_number: uint16


@dataclass
class PFR2000Header(IdlStruct, typename="pf_interfaces.msg.dds_.PFR2000Header_"):
    header: PFHeader
    timestamp_raw: uint64
    timestamp_sync: uint64
    status_flags: uint32
    scan_frequency: uint32
    num_points_scan: uint16
    num_points_packet: uint16
    first_index: uint16
    first_angle: int32
    angular_increment: int32
    iq_input: uint32
    iq_overload: uint32
    iq_timestamp_raw: uint64
    iq_timestamp_sync: uint64


@dataclass
class KeyValue(IdlStruct, typename="diagnostic_msgs.msg.dds_.KeyValue_"):
    key: str
    value: str


@dataclass
class DiagnosticStatus(IdlStruct, typename="diagnostic_msgs.msg.dds_.DiagnosticStatus_"):
    level: uint8
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
class DiagnosticArray(IdlStruct, typename="diagnostic_msgs.msg.dds_.DiagnosticArray_"):
    header: Header
    status: sequence[DiagnosticStatus]


SENSOR = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(1000))


def main():
    # A test that dies leaves no peer behind.
    signal.alarm(120)
    participant = DomainParticipant(int(sys.argv[1]))
    scans_wanted = int(sys.argv[2])

    def reader(name, kind):
        return DataReader(participant, Topic(participant, f"rt{name}", kind), qos=SENSOR)

    readers = [
        reader("/scan", LaserScan),
        reader("/r2000_header", PFR2000Header),
        reader("/diagnostics", DiagnosticArray),
    ]
    scans, headers, diagnostics = [], [], []
    while len(scans) < scans_wanted or not diagnostics:
        for kept, source in zip((scans, headers, diagnostics), readers):
            kept.extend(source.take(N=64))
        time.sleep(0.002)
    last = scans[-1]
    print(json.dumps({
        "stamps": [scan.header.stamp.sec * 10**9 + scan.header.stamp.nanosec for scan in scans],
        "firsts": [h.timestamp_raw for h in headers if h.header.packet_number == 1],
        "magic": headers[0].header.magic,
        "frame": last.header.frame_id,
        "points": len(last.ranges),
        "seen": sum(1 for r in last.ranges if 0.0 < r < 5.1),
        "angle_min": last.angle_min,
        "range_max": last.range_max,
        "bounds": [
            float(value.value)
            for array in diagnostics
            for status in array.status
            for value in status.values
            if value.key == "bound [us]" and value.value != "none"
        ],
        "diagnostics": [
            {"name": s.name, "hardware": s.hardware_id, "values": {v.key: v.value for v in s.values}}
            for s in diagnostics[-1].status
        ],
    }), flush=True)


main()
