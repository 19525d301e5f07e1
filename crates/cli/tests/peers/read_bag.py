"""Reads a bag with rosbags and another one with mcap; prints how many messages each topic has for each of them, as JSON."""

import json
import sys
from collections import Counter
from pathlib import Path

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

by_rosbags, by_mcap = Counter(), Counter()
with AnyReader([Path(sys.argv[1])]) as reader:
    for connection, _, data in reader.messages():
        if connection.msgtype == "std_msgs/msg/String":
            reader.deserialize(data, connection.msgtype)
        by_rosbags[connection.topic] += 1
for file in sorted(Path(sys.argv[2]).glob("*.mcap")):
    with file.open("rb") as stream:
        for _, channel, _, _ in make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            by_mcap[channel.topic] += 1
print(json.dumps({"rosbags": by_rosbags, "mcap": by_mcap}))
