"""A node under test for `replay-test`: Eclipse Cyclone DDS from PyPI. It doubles the points of /in on /out.

`replay_node.py [BEHAVIOUR [COUNT]]`: after COUNT messages it behaves as named:
  dies    ends with exit code 7
  hangs   reads no more, and ignores SIGINT
  slacks  answers no more
"""

import os
import signal
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos, WaitSet, ReadCondition, InstanceState, SampleState, ViewState
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from ros_types import Header  # noqa: E402


@dataclass
class Point(IdlStruct, typename="geometry_msgs.msg.dds_.Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class PointStamped(IdlStruct, typename="geometry_msgs.msg.dds_.PointStamped_"):
    header: Header
    point: Point


def main():
    behaviour = sys.argv[1] if len(sys.argv) > 1 else "works"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]), Qos(Policy.Userdata(b"enclave=/;")))
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepLast(10))
    writer = DataWriter(participant, Topic(participant, "rt/out", PointStamped), qos=qos)
    reader = DataReader(participant, Topic(participant, "rt/in", PointStamped), qos=qos)
    waitset = WaitSet(participant)
    waitset.attach(ReadCondition(reader, SampleState.Any | ViewState.Any | InstanceState.Any))
    print(os.getpid(), flush=True)
    answered = 0
    while True:
        waitset.wait(duration(seconds=1))
        for sample in reader.take(N=10):
            if not isinstance(sample, PointStamped):
                continue
            if count and answered >= count:
                if behaviour == "dies":
                    print("a wheel came off", file=sys.stderr, flush=True)
                    sys.exit(7)
                if behaviour == "hangs":
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    print("hanging", flush=True)
                    time.sleep(3600)
                continue
            sample.point.x *= 2.0
            writer.write(sample)
            answered += 1


main()
