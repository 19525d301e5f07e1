"""What every case of the trial uses: processes that end, peers, and the comparison of ledgers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


class Failed(Exception):
    """A case failed; the text says what was expected and what was found."""


class Running:
    """A process in a group of its own, with its output in a file."""

    def __init__(self, trial, name, command, env=None):
        self.log = trial.folder / f"{name}.log"
        self.command = command
        # Standard error goes to a file of its own: standard output of peers is JSON.
        self.err = trial.folder / f"{name}.err"
        with open(self.log, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                # A shell that runs the trial in the background has it ignore SIGINT, and children inherit that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                env=trial.environment(env),
            )
        trial.running.append(self)

    def output(self):
        return self.log.read_text(errors="replace")

    def errors(self):
        return self.err.read_text(errors="replace")

    def wait_for(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.output() and text not in self.errors():
            if self.process.poll() is not None:
                raise Failed(f"{self.command[0]} ended with {self.process.returncode}: {self.tail()}")
            if time.monotonic() > end:
                raise Failed(f"{self.command[0]} did not print {text!r} in {seconds} s: {self.tail()}")
            time.sleep(0.05)

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{' '.join(map(str, self.command[:3]))} still ran after {seconds} s") from None

    def stop(self, seconds=20, sign=signal.SIGINT):
        """Stops it as Ctrl-C does; gives its exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, sign)
        return self.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def tail(self):
        lines = (self.output() + self.errors()).strip().splitlines()
        return " / ".join(lines[-3:])[-300:]

    def json(self):
        for line in reversed(self.output().splitlines()):
            if line.startswith("{"):
                return json.loads(line)
        raise Failed(f"no result: {self.tail()}")


class Trial:
    """One case with one RMW: a folder, an environment, processes."""

    def __init__(self, timeloom, rmw, folder, domain):
        self.timeloom_path = timeloom
        self.rmw = rmw
        self.folder = folder
        self.domain = domain
        self.running = []
        folder.mkdir(parents=True)

    def environment(self, more=None):
        env = dict(os.environ, RMW_IMPLEMENTATION=self.rmw, ROS_DOMAIN_ID=str(self.domain), PYTHONUNBUFFERED="1")
        env.update(more or {})
        return env

    def start(self, name, *command, env=None):
        return Running(self, name, [str(word) for word in command], env)

    def timeloom(self, *words, name=None, env=None):
        return self.start(name or f"timeloom_{words[0]}", self.timeloom_path, *words, env=env)

    def ros2(self, *words, name=None):
        return self.start(name or "ros2_" + "_".join(words[:2]), "ros2", *words)

    def peer(self, script, *words, name=None):
        return self.start(name or script, sys.executable, HERE / f"{script}.py", *words)

    def run(self, running, seconds=60, codes=(0,)):
        code = running.wait(seconds)
        if code not in codes:
            raise Failed(f"{' '.join(running.command[:4])} ended with {code}: {running.tail()}")
        return running.output()

    def robot(self, *words, seconds=60):
        """Lets the robot publish; gives its ledger."""
        robot = self.peer("robot", *words)
        self.run(robot, seconds)
        return robot.json()

    def read(self, bag, name="read_bag"):
        """What rosbag2 reads from a bag."""
        reader = self.peer("read_bag", bag, name=name)
        self.run(reader)
        return reader.json()

    def close(self):
        for running in self.running:
            running.kill()


def compare(expected, found, what, exact=True):
    """Every message of a ledger is found once, in order; gives the count."""
    for topic, messages in expected.items():
        have = found.get(topic, [])
        if have != messages if exact else not set(messages) <= set(have):
            raise Failed(f"{what}: {topic} has {len(have)} of {len(messages)} messages")
    return sum(len(messages) for messages in expected.values())


def versions():
    """The distribution and the versions of what is tried, from the package index of ROS."""
    import xml.etree.ElementTree as xml

    wanted = ["rclpy", "rclcpp", "rosbag2_transport", "rmw_cyclonedds_cpp", "rmw_fastrtps_cpp", "rmw_zenoh_cpp"]
    found = []
    for package in wanted:
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
            manifest = Path(prefix) / "share" / package / "package.xml"
            if manifest.is_file():
                found.append(f"{package} {xml.parse(manifest).getroot().findtext('version')}")
                break
    return f"ROS 2 {os.environ.get('ROS_DISTRO', 'unknown')}: " + ", ".join(found)


def installed_rmws():
    names = ["rmw_cyclonedds_cpp", "rmw_fastrtps_cpp"]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    return [n for n in names if any((Path(p) / "share" / n / "package.xml").is_file() for p in prefixes)]


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
