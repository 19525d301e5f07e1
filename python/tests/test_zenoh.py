"""Recorders and players over Zenoh, beside a robot of eclipse-zenoh from PyPI, on 127.0.0.1."""

import json
import os
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

import timeloom
import timeloom._native

if not timeloom._native.has_zenoh:
    pytest.skip("this build of the module has no Zenoh", allow_module_level=True)
zenoh = pytest.importorskip("zenoh")
pytest.importorskip("xxhash")

ROBOT = Path(__file__).parents[2] / "crates" / "cli" / "tests" / "peers" / "zenoh_robot.py"
DOMAIN = 7


class Robot:
    """The robot in a process of its own: a command is a line of JSON, and so is its answer."""

    def __init__(self, endpoint):
        self.process = subprocess.Popen(
            [sys.executable, str(ROBOT), str(DOMAIN), endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )

    def ask(self, what, **arguments):
        self.process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer["ok"]


@pytest.fixture
def robot(monkeypatch):
    # A port below the ephemeral ones, which no other test is likely to use.
    for port in range(10_000 + os.getpid() * 13 % 20_000, 40_000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                break
    endpoint = f"tcp/127.0.0.1:{port}"
    config = zenoh.Config()
    for key, value in {"mode": "router", "listen/endpoints": [endpoint], "scouting/multicast/enabled": False}.items():
        config.insert_json5(key, json.dumps(value))
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")
    places = f'connect/endpoints=["{endpoint}"];listen/endpoints=["tcp/127.0.0.1:0"];scouting/multicast/enabled=false'
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", places)
    with zenoh.open(config):
        robot = Robot(endpoint)
        yield robot
        robot.process.stdin.close()
        robot.process.wait()


def until(condition):
    """Waits for a condition; the limit is for machines under load."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.01)


def test_a_robot_is_recorded_and_its_messages_are_played_back(tmp_path, robot):
    with timeloom.Recorder(tmp_path / "out", ["/talk"], domain=DOMAIN) as recorder:
        robot.ask("writer", name="w", topic="/talk")
        robot.ask("matched", name="w")
        assert robot.ask("publish", name="w", count=200) == 200
        until(lambda: recorder.status().topics["/talk"].account.recorded == 200)
    assert recorder.report.error is None
    assert recorder.report.total.lost == 0
    bag = timeloom.open(tmp_path / "out")
    talk = bag["/talk"]
    assert [message.value.data.split(":")[:2] for message in talk] == [["w", str(number)] for number in range(200)]
    assert (talk.losses.recorded, talk.losses.lost) == (200, 0)

    robot.ask("close", name="w")
    robot.ask("reader", topic="/talk", type_name="std_msgs::msg::dds_::String_", type_hash=talk.type_hash)
    player = timeloom.Player(bag, ["/talk"], rate=100.0, wait_for_subscribers=1, domain=DOMAIN)
    with player:
        assert player.wait(60)
        taken = robot.ask("taken", topic="/talk", count=200)
    assert (player.status().state, player.status().lost) == ("ended", 0)
    # The same bytes, in the same order.
    expected = [zlib.crc32(raw[3]) for raw in bag._native.messages(None, None, None)]
    assert [row[3] for row in taken] == expected


def test_a_clock_follows_a_player_over_zenoh(bag, robot):  # noqa: ARG001
    with timeloom.Clock(use_sim_time=True, domain=DOMAIN) as clock:
        with timeloom.Player(bag, ["/chatter"], start_paused=True, clock=50, domain=DOMAIN) as player:
            assert clock.wait_until_started(60)
            until(lambda: clock.now() == bag.start_time)
            player.resume()
            assert clock.sleep_for(0.1, timeout=60) == "reached"
