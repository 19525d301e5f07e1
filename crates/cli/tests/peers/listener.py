"""A foreign listener for the tests of `play`: Eclipse Cyclone DDS from PyPI, spoken to in lines of JSON.

It hears topics of std_msgs/msg/String and /clock, calls the services of a player as rmw_cyclonedds does, and runs
programs in a terminal of their own.
"""

import os
import pty
import sys
import threading
import time
import types
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int64, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from json_peer import serve  # noqa: E402
from ros_types import Clock, String, Time  # noqa: E402

ME = 0x0123456789ABCDEF


def service(name, request, response):
    """The two messages of a service, as rmw_cyclonedds wraps them; an empty one has a byte that means nothing."""

    def message(kind, fields):
        fields = fields or {"structure_needs_at_least_one_member": uint8}
        fields = {"client": uint64, "sequence": int64, **fields}
        typename = {"typename": f"rosbag2_interfaces.srv.dds_.{name}_{kind}_"}
        made = types.new_class(
            f"{name}{kind}", (IdlStruct,), typename, lambda names: names.update(__annotations__=fields)
        )
        return dataclass(made)

    return message("Request", request), message("Response", response)


SERVICES = {
    "pause": service("Pause", {}, {}),
    "resume": service("Resume", {}, {}),
    "toggle_paused": service("TogglePaused", {}, {}),
    "is_paused": service("IsPaused", {}, {"paused": bool}),
    "get_rate": service("GetRate", {}, {"rate": float64}),
    "set_rate": service("SetRate", {"rate": float64}, {"success": bool}),
    "play_next": service("PlayNext", {}, {"success": bool}),
    "burst": service("Burst", {"num_messages": uint64}, {"actually_burst": uint64}),
    "seek": service("Seek", {"time": Time}, {"success": bool}),
    "stop": service("Stop", {}, {}),
}
RELIABLE = Policy.Reliability.Reliable(duration(seconds=10))
SERVICE = Qos(RELIABLE, Policy.History.KeepLast(10))


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("not in time")
        time.sleep(0.002)


class Listener:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.readers, self.heard, self.clients = {}, [], {}
        self.number = 0
        self.terminal, self.screen_text = None, ""
        threading.Thread(target=self.listen, daemon=True).start()

    def subscribe(self, topic, latched=False):
        qos = [RELIABLE, Policy.History.KeepAll]
        if latched:
            qos.append(Policy.Durability.TransientLocal)
        self.readers[topic] = DataReader(
            self.participant, Topic(self.participant, f"rt{topic}", String), qos=Qos(*qos)
        )

    def listen_to_clock(self):
        qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(1000))
        topic = Topic(self.participant, "rt/clock", Clock)
        self.readers["/clock"] = DataReader(self.participant, topic, qos=qos)

    def listen(self):
        while True:
            for topic, reader in list(self.readers.items()):
                for sample in reader.take(N=1000):
                    if not isinstance(sample, (String, Clock)):
                        continue  # a publisher that went
                    if topic == "/clock":
                        what = sample.clock.sec * 10**9 + sample.clock.nanosec
                    else:
                        what = sample.serialize().hex()
                    self.heard.append((topic, what))
            time.sleep(0.002)

    def matched(self, topic):
        until(lambda: self.readers[topic].get_matched_publications())

    def count(self, topic):
        return sum(1 for heard, _ in self.heard if heard == topic)

    def wait(self, topic, count):
        until(lambda: self.count(topic) >= count)

    def take(self):
        heard, self.heard = self.heard, []
        return heard

    def sleep(self, seconds):
        time.sleep(seconds)

    def call(self, node, service, **fields):
        request_type, response_type = SERVICES[service]
        key = f"{node}/{service}"
        if key not in self.clients:
            reader = Topic(self.participant, f"rr{key}Reply", response_type)
            writer = Topic(self.participant, f"rq{key}Request", request_type)
            self.clients[key] = (
                DataReader(self.participant, reader, qos=SERVICE),
                DataWriter(self.participant, writer, qos=SERVICE),
            )
        reader, writer = self.clients[key]
        until(lambda: writer.get_matched_subscriptions() and reader.get_matched_publications())
        self.number += 1
        if service == "seek":
            nanos = fields["time"]
            fields = {"time": Time(nanos // 10**9, nanos % 10**9)}
        values = list(fields.values()) or [0]
        writer.write(request_type(ME, self.number, *values))
        replies = []

        def answered():
            came = [reply for reply in reader.take(N=16) if isinstance(reply, response_type)]
            replies.extend(r for r in came if (r.client, r.sequence) == (ME, self.number))
            return replies

        until(answered)
        answer = vars(replies[0])
        return {name: answer[name] for name in response_type.__annotations__ if name in answer}

    def start(self, argv, cwd, env):
        """Runs a program in a terminal."""
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, {**os.environ, **env, "TERM": "xterm"})
        self.pid = pid

        def read():
            try:
                while data := os.read(self.terminal, 4096):
                    self.screen_text += data.decode(errors="replace")
            except OSError:
                pass

        self.reading = threading.Thread(target=read, daemon=True)
        self.reading.start()

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def sees(self, text):
        until(lambda: text in self.screen_text)

    def ended(self):
        """Waits for the end of the program; its exit code."""
        status = []

        def over():
            pid, code = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                status.append(os.waitstatus_to_exitcode(code))
            return pid

        until(over)
        self.reading.join(10)
        return [status[0], self.screen_text]


serve(lambda: Listener(int(sys.argv[1])), 170)
