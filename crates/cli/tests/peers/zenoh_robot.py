"""A foreign robot for the tests over Zenoh: eclipse-zenoh from PyPI, with the layer of rmw_zenoh by hand.

Reads one JSON command per line, answers with one JSON line. What it publishes are std_msgs/msg/String whose text begins
with the writer's name and the message's number: `name:number:`.
"""

import json
import os
import struct
import sys
import threading
import time
import zlib

import xxhash
import zenoh
from zenoh import ext

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../testkit/peers"))
from json_peer import serve  # noqa: E402

PATIENCE = 60
STRING = "std_msgs::msg::dds_::String_"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def attachment(number, gid):
    return struct.pack("<qqB", number, time.time_ns(), len(gid)) + gid


def string(text):
    text = text.encode() + b"\0"
    return b"\x00\x01\x00\x00" + struct.pack("<I", len(text)) + text


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.005)


class Writer:
    """A publisher and its token."""

    def __init__(self, robot, name, topic, reliable=True, latched=0, block=True):
        self.name = name
        self.sent = 0
        self.stopped = threading.Event()
        # As rmw_zenoh does it: only who is reliable and keeps all waits for the network. The tests ask.
        congestion = zenoh.CongestionControl.BLOCK if block else zenoh.CongestionControl.DROP
        reliability = zenoh.Reliability.RELIABLE if reliable else zenoh.Reliability.BEST_EFFORT
        options = {"congestion_control": congestion, "reliability": reliability}
        key = robot.key(topic, STRING, STRING_HASH)
        if latched:
            self.publisher = ext.declare_advanced_publisher(
                robot.session,
                key,
                cache=ext.CacheConfig(latched),
                sample_miss_detection=ext.MissDetectionConfig(sporadic_heartbeat=0.5),
                publisher_detection=True,
                **options,
            )
        else:
            self.publisher = robot.session.declare_publisher(key, **options)
        qos = f"{'' if reliable else 2}:{1 if latched else ''}:,{latched or 10}:,:,:,,"
        self.token, self.gid = robot.token("MP", topic, STRING, STRING_HASH, qos)

    def publish(self, count, rate=0.0, size=20, lose=0):
        """Each `lose`-th number is used up and never sent: to the receiver, it is lost on the way."""
        begin, done = time.monotonic(), 0
        while done < count and not self.stopped.is_set():
            text = f"{self.name}:{self.sent}:"
            self.sent += 1
            done += 1
            if not lose or self.sent % lose:
                payload = string(text + "x" * (size - len(text)))
                self.publisher.put(payload, attachment=attachment(self.sent, self.gid))
            ahead = begin + done / rate - time.monotonic() if rate else 0
            if ahead > 0:
                time.sleep(ahead)


class Robot:
    def __init__(self, domain, router):
        config = zenoh.Config()
        config.insert_json5("mode", '"peer"')
        config.insert_json5("connect/endpoints", json.dumps([router]))
        config.insert_json5("listen/endpoints", '["tcp/127.0.0.1:0"]')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("timestamping/enabled", "true")
        self.domain = domain
        self.session = zenoh.open(config)
        self.ids = 0
        self.node, _ = self.token("NN")
        self.writers = {}
        self.threads = {}
        self.readers = {}
        self.taken_by = {}

    def key(self, name, type_name, type_hash):
        return f"{self.domain}/{name.strip('/')}/{type_name}/{type_hash}"

    def token(self, kind, *end):
        """Announces a node or an endpoint; returns its identity too."""
        number, self.ids = self.ids, self.ids + 1
        parts = [self.domain, self.session.zid(), 0, number, kind, "%", "%", "robot", *end]
        text = "@ros2_lv/" + "/".join(str(part).replace("/", "%") for part in parts)
        return self.session.liveliness().declare_token(text), xxhash.xxh3_128_intdigest(text.encode()).to_bytes(16, "little")

    # Commands.

    def writer(self, name, **wanted):
        self.writers[name] = Writer(self, name, **wanted)

    def matched(self, name):
        publisher = self.writers[name].publisher
        until(f"a subscription of {name}", lambda: publisher.matching_status.matching)

    def publish(self, name, **how):
        self.writers[name].publish(**how)
        return self.writers[name].sent

    def start(self, name, rate):
        """Publishes on and on."""
        writer = self.writers[name]
        writer.stopped.clear()
        self.threads[name] = threading.Thread(target=writer.publish, args=(1 << 60, rate), daemon=True)
        self.threads[name].start()

    def stop(self, name):
        """Ends that; answers how many were sent."""
        self.writers[name].stopped.set()
        self.threads.pop(name).join()
        return self.writers[name].sent

    def close(self, name):
        writer = self.writers.pop(name)
        writer.token.undeclare()
        writer.publisher.undeclare()

    def reader(self, topic, type_name, type_hash, delay=0.0):
        """A subscription that takes so many seconds for each message."""
        taken = self.taken_by[topic] = []

        def arrived(sample):
            time.sleep(delay)
            number, source_time = struct.unpack_from("<qq", sample.attachment.to_bytes())
            gid = sample.attachment.to_bytes()[17:].hex()
            taken.append([number, source_time, gid, zlib.crc32(sample.payload.to_bytes())])

        # On the thread that reads the network: who is slow keeps the publisher waiting.
        handler = zenoh.handlers.Callback(arrived, indirect=False)
        subscriber = self.session.declare_subscriber(self.key(topic, type_name, type_hash), handler)
        self.readers[topic] = subscriber, self.token("MS", topic, type_name, type_hash, "::,1000:,:,:,,")

    def taken(self, topic, count):
        """What came, at least so many: number, source time, who, and the CRC of the payload."""
        until(f"{count} on {topic}", lambda: len(self.taken_by[topic]) >= count)
        return self.taken_by[topic]

    def call(self, service, type_name, type_hash, request):
        """Calls until a server answers: discovery takes time."""
        client, gid = self.token("SC", service, type_name, type_hash, "::,10:,:,:,,")
        answers = []

        def asked():
            replies = self.session.get(
                self.key(service, type_name, type_hash),
                target=zenoh.QueryTarget.ALL_COMPLETE,
                consolidation=zenoh.ConsolidationMode.NONE,
                payload=bytes.fromhex(request),
                attachment=attachment(1, gid),
                timeout=10,
            )
            answers.extend(reply.ok for reply in replies if reply.ok is not None)
            return bool(answers)

        until(f"an answer of {service}", asked)
        client.undeclare()
        number, _, length = struct.unpack_from("<qqB", answers[0].attachment.to_bytes())
        assert (number, length) == (1, 16) and answers[0].attachment.to_bytes()[17:] == gid
        return answers[0].payload.to_bytes().hex()

    def odd(self, topic):
        """What no ROS node sends, on a topic of one: no attachment, a cut one, no payload."""
        key = self.key(topic, STRING, STRING_HASH)
        whole = attachment(1, bytes(16))
        for payload, attached in [(string("x"), None), (string("x"), whole[:20]), (b"", whole), (b"\0" * 3, whole)]:
            self.session.put(key, payload, attachment=attached, congestion_control=zenoh.CongestionControl.BLOCK)


serve(lambda: Robot(int(sys.argv[1]), sys.argv[2]), 170)
