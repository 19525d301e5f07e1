"""A foreign ROS 2 participant for the interop tests: eclipse-zenoh from PyPI, with the layer of rmw_zenoh by hand.

Reads one JSON command per line, answers with one JSON line. Payloads are sequences of bytes whose first four say which
sample it is and whose rest follows from that.
"""

import json
import signal
import struct
import sys
import threading
import time

import zenoh
from zenoh import ext

PATIENCE = 30
DOMAIN = 0


def attachment(number, gid):
    return struct.pack("<qqB", number, time.time_ns(), len(gid)) + gid


def read_attachment(payload):
    number, source_time, length = struct.unpack_from("<qqB", payload)
    gid = payload[17:]
    assert length == 16 and len(gid) == 16, f"an attachment of {len(payload)} bytes"
    assert 0 < source_time <= time.time_ns(), f"a source time of {source_time}"
    return number, gid


def blob(mark, size):
    return struct.pack("<4BII", 0, 1, 0, 0, size, mark) + bytes([mark * 31 % 251]) * (size - 4)


def mark_of(payload):
    size, mark = struct.unpack_from("<II", payload, 4)
    return mark if payload == blob(mark, size) else None


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.002)


class Endpoint:
    """Something with a token; what came to it, and what ends with it."""

    def __init__(self, peer, kind, wanted):
        self.key = f"{DOMAIN}/{wanted['topic'].strip('/')}/{wanted['type']}/{wanted['hash']}"
        self.name = "/".join(
            [
                peer.node_token(kind, peer.next_id()),
                wanted["topic"].replace("/", "%"),
                wanted["type"],
                wanted["hash"],
                wanted.get("qos", "::,10:,:,:,,"),
            ]
        )
        self.gid = bytes.fromhex(wanted.get("gid", "07" * 16))
        self.number = 0
        self.got = []
        self.entity = None
        self.token = None

    def tell(self, session, entity):
        self.entity = entity
        self.token = session.liveliness().declare_token(self.name)

    def end(self):
        self.token.undeclare()
        if self.entity is not None:
            self.entity.undeclare()


class Peer:
    def __init__(self, router):
        config = zenoh.Config()
        config.insert_json5("mode", '"peer"')
        config.insert_json5("connect/endpoints", json.dumps([router]))
        config.insert_json5("listen/endpoints", '["tcp/127.0.0.1:0"]')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("timestamping/enabled", "true")
        self.session = zenoh.open(config)
        self.ids = 0
        self.ends = {}
        self.tokens_seen = set()
        self.lock = threading.Lock()
        self.raw_tokens = []
        self.watch = self.session.liveliness().declare_subscriber(
            f"@ros2_lv/{DOMAIN}/**", self.token_changed, history=True
        )
        self.node = self.session.liveliness().declare_token(self.node_token("NN", 0))

    def next_id(self):
        self.ids += 1
        return self.ids

    def node_token(self, kind, number):
        return f"@ros2_lv/{DOMAIN}/{self.session.zid()}/0/{number}/{kind}/%/%/peer"

    def token_changed(self, sample):
        with self.lock:
            if sample.kind == zenoh.SampleKind.PUT:
                self.tokens_seen.add(str(sample.key_expr))
            else:
                self.tokens_seen.discard(str(sample.key_expr))

    # Commands.

    def tokens(self, wanted):
        def matching():
            with self.lock:
                return sorted(token for token in self.tokens_seen if wanted["with"] in token)

        until(f"{wanted['count']} tokens with {wanted['with']}", lambda: len(matching()) == wanted["count"])
        return matching()

    def publisher(self, wanted):
        end = Endpoint(self, "MP", wanted)
        reliable = wanted.get("reliable", True)
        options = {
            "reliability": zenoh.Reliability.RELIABLE if reliable else zenoh.Reliability.BEST_EFFORT,
            "congestion_control": zenoh.CongestionControl.BLOCK
            if wanted.get("keep_all", reliable)
            else zenoh.CongestionControl.DROP,
        }
        if "latched" in wanted:
            entity = ext.declare_advanced_publisher(
                self.session,
                end.key,
                cache=ext.CacheConfig(wanted["latched"]),
                sample_miss_detection=ext.MissDetectionConfig(sporadic_heartbeat=0.5),
                publisher_detection=True,
                **options,
            )
        else:
            entity = self.session.declare_publisher(end.key, **options)
        end.tell(self.session, entity)
        self.ends[wanted["name"]] = end
        return end.name

    def matched(self, wanted):
        entity = self.ends[wanted["name"]].entity
        until("the publisher is matched", lambda: entity.matching_status.matching)

    def publish(self, wanted):
        end = self.ends[wanted["name"]]
        if "gid" in wanted:
            end.gid = bytes.fromhex(wanted["gid"])
        for mark in wanted["marks"]:
            # A mark that is left out is a sample that was lost: its number is used up.
            end.number += 1
            if mark is not None:
                end.entity.put(blob(mark, wanted["size"]), attachment=attachment(end.number, end.gid))

    def subscriber(self, wanted):
        end = Endpoint(self, "MS", wanted)

        def arrived(sample):
            number, gid = read_attachment(sample.attachment.to_bytes())
            end.got.append([mark_of(sample.payload.to_bytes()), number, gid.hex()])

        if "latched" in wanted:
            entity = ext.declare_advanced_subscriber(
                self.session,
                end.key,
                arrived,
                history=ext.HistoryConfig(detect_late_publishers=True, max_samples=wanted["latched"]),
                recovery=ext.RecoveryConfig(heartbeat=True),
                subscriber_detection=True,
            )
        else:
            entity = self.session.declare_subscriber(end.key, arrived)
        end.tell(self.session, entity)
        self.ends[wanted["name"]] = end
        return end.name

    def take(self, wanted):
        got = self.ends[wanted["name"]].got
        until(f"{wanted['count']} samples, there are {len(got)}", lambda: len(got) >= wanted["count"])
        return got

    def server(self, wanted):
        end = Endpoint(self, "SS", wanted)

        def asked(query):
            number, gid = read_attachment(query.attachment.to_bytes())
            a, b = struct.unpack("<qq", query.payload.to_bytes()[4:])
            # On request, what a server must not do.
            for odd in wanted.get("before", []):
                odd = None if odd is None else bytes.fromhex(odd)
                query.reply(end.key, b"\x00\x01\x00\x00", attachment=odd)
            if wanted.get("stranger"):
                query.reply(end.key, b"\x00\x01\x00\x00" + bytes(8), attachment=attachment(number + 77, gid))
            answer = b"\x00\x01\x00\x00" + struct.pack("<q", a + b)
            query.reply(end.key, answer, attachment=attachment(number, gid))

        end.tell(self.session, self.session.declare_queryable(end.key, asked, complete=True))
        self.ends[wanted["name"]] = end
        return end.name

    def client(self, wanted):
        end = Endpoint(self, "SC", wanted)
        end.tell(self.session, None)
        self.ends[wanted["name"]] = end
        return end.name

    def call(self, wanted):
        end = self.ends[wanted["name"]]
        end.number += 1
        request = b"\x00\x01\x00\x00" + struct.pack("<qq", wanted["a"], wanted["b"])
        replies = self.session.get(
            end.key,
            target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE,
            payload=request,
            attachment=attachment(end.number, end.gid),
            timeout=PATIENCE,
        )
        sums = []
        for reply in replies:
            assert read_attachment(reply.ok.attachment.to_bytes()) == (end.number, end.gid)
            sums.append(struct.unpack("<q", reply.ok.payload.to_bytes()[4:])[0])
        return sums

    def drop(self, wanted):
        self.ends.pop(wanted["name"]).end()

    def put(self, wanted):
        """A publication that need not be one of ROS."""
        odd = wanted.get("attachment")
        self.session.put(
            wanted["key"],
            bytes.fromhex(wanted["payload"]),
            attachment=None if odd is None else bytes.fromhex(odd),
            congestion_control=zenoh.CongestionControl.BLOCK,
        )

    def get(self, wanted):
        """A query that need not be one of ROS; gives how many replies came."""
        options = {name: bytes.fromhex(wanted[name]) for name in ("payload", "attachment") if name in wanted}
        return sum(1 for _ in self.session.get(wanted["key"], timeout=5, **options))

    def token(self, wanted):
        """Tokens that need not be of ROS."""
        for key in wanted["keys"]:
            self.raw_tokens.append(self.session.liveliness().declare_token(key))

    def zid(self, _):
        return str(self.session.zid())


def main():
    # Ends with the pipe, not with the terminal's Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    peer = Peer(sys.argv[1])
    for line in sys.stdin:
        wanted = json.loads(line)
        try:
            answer = {"ok": getattr(peer, wanted["do"])(wanted)}
        except Exception as error:  # the test that asked says what went wrong
            answer = {"error": f"{wanted}: {error!r}"}
        print(json.dumps(answer), flush=True)


main()
