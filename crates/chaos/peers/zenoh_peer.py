"""A foreign publisher over Zenoh: eclipse-zenoh from PyPI, with the layer of rmw_zenoh by hand.

usage: zenoh_peer.py <domain> <directory of the ledger> <endpoint to listen at>
"""

import hashlib
import json
import signal
import struct
import sys
import time

import ledger
import zenoh

STRING = "std_msgs::msg::dds_::String_"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


class Texts(ledger.Source):
    def __init__(self, peer, directory, name, topic, reliable=True):
        super().__init__(directory, name, topic)
        key = f"{peer.domain}/{topic.strip('/')}/{STRING}/{STRING_HASH}"
        block, drop = zenoh.CongestionControl.BLOCK, zenoh.CongestionControl.DROP
        strength = zenoh.Reliability.RELIABLE if reliable else zenoh.Reliability.BEST_EFFORT
        self.publisher = peer.session.declare_publisher(
            key, congestion_control=block if reliable else drop, reliability=strength
        )
        qos = "::,1000:,:,:,," if reliable else "2::,10:,:,:,,"
        self.token, self.gid = peer.token("MP", topic, STRING, STRING_HASH, qos)

    def put(self, number, data):
        payload = b"\x00\x01\x00\x00" + struct.pack("<I", len(data) + 1) + data + b"\0"
        attachment = struct.pack("<qqB", number + 1, time.time_ns(), len(self.gid)) + self.gid
        self.publisher.put(payload, attachment=attachment)

    def is_matched(self):
        return self.publisher.matching_status.matching


class Peer(ledger.Peer):
    def __init__(self, domain, directory, endpoint):
        super().__init__(directory)
        config = zenoh.Config()
        config.insert_json5("mode", '"peer"')
        config.insert_json5("listen/endpoints", json.dumps([endpoint]))
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("timestamping/enabled", "true")
        self.domain, self.ids = domain, 0
        self.session = zenoh.open(config)
        self.node, _ = self.token("NN")

    def token(self, kind, *end):
        """Announces a node or an endpoint; returns its identity too."""
        number, self.ids = self.ids, self.ids + 1
        parts = [self.domain, self.session.zid(), 0, number, kind, "%", "%", "robot", *end]
        text = "@ros2_lv/" + "/".join(str(part).replace("/", "%") for part in parts)
        return self.session.liveliness().declare_token(text), hashlib.md5(text.encode()).digest()

    def writer(self, name, topic, **wanted):
        self.writers[name] = Texts(self, self.directory, name, topic, **wanted)


# A campaign that dies leaves no peer behind.
signal.alarm(120)
Peer(int(sys.argv[1]), *sys.argv[2:4]).obey()
