"""A robot of five topics that keeps a ledger of what it published; optionally a service and an action."""

import argparse
import json
import sys
import time

import rclpy
from rclpy.action import ActionServer
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.qos import qos_profile_services_default
from rclpy.serialization import serialize_message
from rclpy.service_introspection import ServiceIntrospectionState

from fingerprint import fingerprint
from robot_topics import topics

def wait_until(node, condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"robot: {what} after {seconds} s")
        rclpy.spin_once(node, timeout_sec=0.05)


def publish(node, options):
    publishers = {}
    for name, (kind, qos, make) in topics().items():
        if not options.topics or name in options.topics:
            publishers[name] = (node.create_publisher(kind, name, qos), make)
    if options.subscribers:
        wait_until(
            node,
            lambda: all(p.get_subscription_count() >= options.subscribers for p, _ in publishers.values()),
            options.patience,
            f"not all topics have {options.subscribers} subscriptions",
        )
    # Both ends must have matched; the publisher's side is known now.
    time.sleep(0.5 + options.delay)
    ledger = {name: [] for name in publishers}
    for number in range(options.count):
        for name, (publisher, make) in publishers.items():
            if name == "/trial/latched" and number > 0:
                continue
            message = make(number, options.bytes)
            ledger[name].append(fingerprint(serialize_message(message), type(message)))
            publisher.publish(message)
        time.sleep(options.period)
    for publisher, _ in publishers.values():
        publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=5))
    # Best effort topics have no acknowledgement.
    time.sleep(0.5)
    print(json.dumps(ledger))


def serve(node, options):
    """A service with introspection and an action with introspection, until the process is stopped."""
    from example_interfaces.action import Fibonacci
    from example_interfaces.srv import AddTwoInts

    calls = {"requests": 0, "goals": 0}

    def add(request, response):
        calls["requests"] += 1
        response.sum = request.a + request.b
        return response

    def execute(goal):
        calls["goals"] += 1
        feedback = Fibonacci.Feedback(sequence=[0, 1])
        goal.publish_feedback(feedback)
        goal.succeed()
        return Fibonacci.Result(sequence=[0, 1, 1])

    service = node.create_service(AddTwoInts, "/trial/add", add)
    service.configure_introspection(
        node.get_clock(), qos_profile_services_default, ServiceIntrospectionState.CONTENTS
    )
    action = ActionServer(node, Fibonacci, "/trial/fibonacci", execute)
    if hasattr(action, "configure_introspection"):
        action.configure_introspection(
            node.get_clock(), qos_profile_services_default, ServiceIntrospectionState.CONTENTS
        )
    executor = MultiThreadedExecutor()
    executor.add_node(node)
    print("READY", flush=True)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        print(json.dumps(calls), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--topics", nargs="*")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--bytes", type=int, default=1000)
    parser.add_argument("--period", type=float, default=0.02)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--subscribers", type=int, default=1)
    parser.add_argument("--patience", type=float, default=20.0)
    options = parser.parse_args()
    rclpy.init()
    node = rclpy.create_node("trial_robot")
    (serve if options.serve else publish)(node, options)


main()
