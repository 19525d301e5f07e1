"""Runs `timeloom.tilde` on a stand-in of rclpy that lives in memory, and prints what it publishes.

The script comes on the standard input, one step a line; each tag goes out as its CDR in hexadecimal digits.
"""

import importlib.util
import struct
import sys
import types


class Time:
    """`builtin_interfaces/msg/Time`."""

    def __init__(self, sec=0, nanosec=0):
        assert -(2**31) <= sec < 2**31 and 0 <= nanosec < 10**9, (sec, nanosec)
        self.sec, self.nanosec = sec, nanosec


class Header:
    def __init__(self):
        self.stamp, self.frame_id = Time(), ""


class PubTopicTimeInfo:
    def __init__(self):
        self.topic_name, self.node_fqn, self.seq = "", "", 0
        self.pub_time, self.pub_time_steady = Time(), Time()
        self.has_header_stamp, self.header_stamp = False, Time()


class SubTopicTimeInfo:
    def __init__(self):
        self.topic_name, self.sub_time, self.sub_time_steady = "", Time(), Time()
        self.has_header_stamp, self.header_stamp = False, Time()


class MessageTrackingTag:
    def __init__(self):
        self.header, self.output_info, self.input_infos = Header(), PubTopicTimeInfo(), []


class Stamped:
    def __init__(self, nanos):
        self.header = Header()
        self.header.stamp = Time(nanos // 10**9, nanos % 10**9)


class TopLevel:
    def __init__(self, nanos):
        self.stamp = Time(nanos // 10**9, nanos % 10**9)


class Plain:
    data = "no stamp"


class Cdr:
    """Little-endian CDR, as the middleware writes it."""

    def __init__(self):
        self.bytes = bytearray()

    def put(self, letter, value):
        size = struct.calcsize("<" + letter)
        self.bytes += bytes(-len(self.bytes) % size)
        self.bytes += struct.pack("<" + letter, value)

    def text(self, text):
        encoded = text.encode() + b"\0"
        self.put("I", len(encoded))
        self.bytes += encoded

    def time(self, time):
        self.put("i", time.sec)
        self.put("I", time.nanosec)

    def tag(self, tag):
        self.time(tag.header.stamp)
        self.text(tag.header.frame_id)
        output = tag.output_info
        self.text(output.topic_name)
        self.text(output.node_fqn)
        self.put("q", output.seq)
        self.time(output.pub_time)
        self.time(output.pub_time_steady)
        self.put("?", output.has_header_stamp)
        self.time(output.header_stamp)
        self.put("I", len(tag.input_infos))
        for one in tag.input_infos:
            self.text(one.topic_name)
            self.time(one.sub_time)
            self.time(one.sub_time_steady)
            self.put("?", one.has_header_stamp)
            self.time(one.header_stamp)
        return "00010000" + self.bytes.hex()


CLOCKS = {"ros": 0, "steady": 0}


class Clock:
    def __init__(self, clock_type="ros"):
        self.clock_type = clock_type

    def now(self):
        return types.SimpleNamespace(nanoseconds=CLOCKS[self.clock_type])


class Publisher:
    def __init__(self, msg_type, topic_name, qos):
        self.msg_type, self.topic_name, self.qos, self.broken = msg_type, topic_name, qos, False

    def publish(self, message):
        if self.broken:
            raise RuntimeError("the middleware is full")
        tag = isinstance(message, MessageTrackingTag)
        print(f"tag {Cdr().tag(message)}" if tag else f"message {self.topic_name}")


class Parameter:
    def __init__(self, name, value):
        self.name, self.value = name, value


class Node:
    """What `timeloom.tilde` uses of a node of rclpy, with its signatures."""

    def __init__(self, node_name, *, namespace="/"):
        self._fqn = f"{namespace.rstrip('/')}/{node_name}"
        self._namespace, self._parameters, self._on_set = namespace, {}, []
        self.callbacks, self.publishers_of = {}, {}

    def get_fully_qualified_name(self):
        return self._fqn

    def resolve_topic_name(self, topic, *, only_expand=False):
        return topic if topic.startswith("/") else f"{self._namespace.rstrip('/')}/{topic}"

    def create_publisher(self, msg_type, topic, qos_profile, *, callback_group=None):
        publisher = Publisher(msg_type, self.resolve_topic_name(topic), qos_profile)
        self.publishers_of[publisher.topic_name] = publisher
        return publisher

    def create_subscription(self, msg_type, topic, callback, qos_profile, *, callback_group=None, raw=False):
        self.callbacks[self.resolve_topic_name(topic)] = callback
        return types.SimpleNamespace(topic_name=self.resolve_topic_name(topic))

    def get_clock(self):
        return Clock()

    def get_logger(self):
        return types.SimpleNamespace(warning=lambda text: print(f"warning {text}"))

    def has_parameter(self, name):
        return name in self._parameters

    def declare_parameter(self, name, value):
        self._parameters[name] = value

    def get_parameter(self, name):
        return Parameter(name, self._parameters[name])

    def add_post_set_parameters_callback(self, callback):
        self._on_set.append(callback)

    def set_parameters(self, parameters):
        for callback in self._on_set:
            callback(parameters)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(content)


def load(path):
    """The helper alone: the package around it needs the binary."""
    module("rclpy")
    module("rclpy.clock", Clock=Clock, ClockType=types.SimpleNamespace(STEADY_TIME="steady"))
    module("rclpy.node", Node=Node)
    module("rclpy.qos", QoSProfile=lambda depth: f"depth {depth}")
    module("builtin_interfaces")
    module("builtin_interfaces.msg", Time=Time)
    module("tilde_msg")
    module("tilde_msg.msg", MessageTrackingTag=MessageTrackingTag, SubTopicTimeInfo=SubTopicTimeInfo)
    spec = importlib.util.spec_from_file_location("tilde", path)
    helper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helper)
    return helper


def message(word):
    kind, _, stamp = word.partition(":")
    return {"stamped": Stamped, "top": TopLevel}[kind](int(stamp)) if stamp else Plain()


def main():
    helper = load(sys.argv[1])
    node = helper.TildeNode("fusion", namespace="/robot")
    out = node.create_tilde_publisher(Stamped, "out", 10)
    plain = node.create_tilde_publisher(Plain, "/plain", 10)
    tags = node.publishers_of["/robot/out/message_tracking_tag"]
    assert (tags.msg_type, tags.qos) == (MessageTrackingTag, "depth 1")
    for line in sys.stdin:
        step, *words = line.split()
        if step == "clock":
            CLOCKS["ros"], CLOCKS["steady"] = map(int, words)
        elif step == "input":
            seen = []
            if words[0].endswith("info"):
                node.create_tilde_subscription(Stamped, words[0], lambda one, info: seen.append((one, info)), 10)
            else:
                node.create_tilde_subscription(Stamped, words[0], seen.append, 10)
        elif step == "receive":
            callback = node.callbacks[node.resolve_topic_name(words[0])]
            callback(message(words[1]), *(["info"] if words[0].endswith("info") else []))
            assert seen is not None
        elif step == "publish":
            out.publish(message(words[0]))
        elif step == "publish_plain":
            plain.publish(message(words[0]))
        elif step == "explicit":
            stamp = Time(int(words[1]) // 10**9, int(words[1]) % 10**9)
            print("explicit", str(out.add_explicit_input_info(words[0], stamp)).lower())
        elif step == "enable":
            node.set_parameters([Parameter("enable_tilde", words[0] == "true")])
        elif step == "break":
            tags.broken = words[0] == "true"
        else:
            sys.exit(f"what is {line!r}?")
    print("refused", out.refused_tags)


main()
