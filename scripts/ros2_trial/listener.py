"""Subscribes to topics of the robot and prints fingerprints of what came, once nothing came for a while."""

import argparse
import json
import time

import rclpy
from rclpy.clock import ClockType
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from fingerprint import fingerprint
from robot_topics import topics


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", type=float, default=2.0, help="end after so many seconds without a message")
    parser.add_argument("--patience", type=float, default=20.0, help="end after so many seconds without any message")
    parser.add_argument("--sim-time", action="store_true")
    options = parser.parse_args()
    rclpy.init()
    parameters = [Parameter("use_sim_time", value=True)] if options.sim_time else []
    node = rclpy.create_node("trial_listener", parameter_overrides=parameters)
    heard = {}
    last = [None]
    times = []

    def subscribe(name, kind, qos):
        heard[name] = []

        def take(message):
            last[0] = time.monotonic()
            heard[name].append(fingerprint(serialize_message(message), kind))
            times.append(node.get_clock().now().nanoseconds)

        node.create_subscription(kind, name, take, qos)

    for name, (kind, qos, _make) in topics().items():
        subscribe(name, kind, qos)
    print("READY", flush=True)
    begin = time.monotonic()
    while True:
        rclpy.spin_once(node, timeout_sec=0.05)
        now = time.monotonic()
        if last[0] is None and now - begin > options.patience:
            break
        if last[0] is not None and now - last[0] > options.idle:
            break
    assert node.get_clock().clock_type == ClockType.ROS_TIME
    print(json.dumps({"topics": heard, "first_time": times[:1], "last_time": times[-1:]}))


main()
