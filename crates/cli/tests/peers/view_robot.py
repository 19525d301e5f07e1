"""Reads ten strings of a live topic through `timeloom view`.

usage: view_robot.py <url> <topic> <text>
"""

import json
import struct
import sys

from websockets.sync.client import connect

URL, TOPIC, TEXT = sys.argv[1:4]

with connect(URL.replace("http", "ws", 1), subprotocols=["foxglove.sdk.v1"], max_size=None) as socket:
    got = 0
    while got < 10:
        message = socket.recv(timeout=60)
        if isinstance(message, bytes):
            if message[0] == 1:
                assert message[13:17] == b"\0\x01\0\0", message
                (length,) = struct.unpack_from("<I", message, 17)
                assert message[21 : 21 + length] == TEXT.encode() + b"\0", message
                got += 1
            continue
        for channel in json.loads(message).get("channels", ()):
            if channel["topic"] == TOPIC:
                assert channel["schema"].startswith("string data"), channel
                socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": channel["id"]}]}))
print(f"{got} messages")
