"""Talks to the server as Foxglove, Lichtblick and PlotJuggler do; fails on anything that they would stumble over.

usage: foxglove_client.py <address>
"""

import contextlib
import json
import struct
import sys

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

ADDRESS = sys.argv[1]
START = 1_700_000_000_000_000_000
PATIENCE = 30


class Client:
    def __init__(self, names, **options):
        self.open = contextlib.ExitStack()
        connection = connect(f"ws://{ADDRESS}", subprotocols=names, max_size=None, **options)
        self.socket = self.open.enter_context(connection)

    def next(self, want):
        """The first message that `want` makes something of."""
        while True:
            message = self.socket.recv(timeout=PATIENCE)
            found = want(message)
            if found is not None:
                return found

    def json(self, op):
        def want(message):
            if isinstance(message, str):
                value = json.loads(message)
                return value if value["op"] == op else None

        return self.next(want)

    def binary(self, opcode):
        return self.next(lambda message: message[1:] if isinstance(message, bytes) and message[0] == opcode else None)

    def playback(self, command, speed, seek, request):
        self.socket.send(
            struct.pack("<BBfBQI", 3, command, speed, seek is not None, seek or 0, len(request)) + request.encode()
        )
        while True:
            data = self.binary(5)
            status, time, rate, did_seek, length = struct.unpack_from("<BQfBI", data)
            if data[18 : 18 + length].decode() == request:
                return status, time, rate, did_seek


def names():
    """Each client's offer, and what it must get."""
    offers = {
        "PlotJuggler": (["foxglove.sdk.v1"], "foxglove.sdk.v1"),
        "old Lichtblick": (["foxglove.websocket.v1"], "foxglove.websocket.v1"),
        "Lichtblick": (["foxglove.websocket.v1", "foxglove.sdk.v1"], "foxglove.sdk.v1"),
        "Foxglove": (["foxglove.sdk.v1.1", "foxglove.sdk.v1"], "foxglove.sdk.v1"),
    }
    for who, (offered, chosen) in offers.items():
        client = Client(offered)
        assert client.socket.subprotocol == chosen, who
        client.open.close()
    for options in ({"names": ["foxglove.sdk.v9"]}, {"names": ["foxglove.sdk.v1"], "origin": "https://evil.example"}):
        try:
            Client(**options)
        except InvalidStatus as error:
            print("refused:", error.response.status_code)
        else:
            raise AssertionError(options)


def main():
    names()
    client = Client(["foxglove.sdk.v1"])
    info = client.json("serverInfo")
    assert {"time", "playbackControl", "services"} <= set(info["capabilities"]), info
    assert info["dataStartTime"] == {"sec": START // 10**9, "nsec": 0}
    channels = client.json("advertise")["channels"]
    # What PlotJuggler asks of a channel before it takes it.
    assert all(c["encoding"] == "cdr" and c["schemaEncoding"] == "ros2msg" and c["schema"] for c in channels)
    imu = next(c for c in channels if c["topic"] == "/imu/data")
    assert "geometry_msgs/Quaternion orientation" in imu["schema"]
    client.socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 5, "channelId": imu["id"]}]}))

    status, time, rate, did_seek = client.playback(0, 2.0, START + 3 * 10**9, "one")
    assert (status, rate, did_seek) == (0, 2.0, 1), (status, rate, did_seek)
    assert time >= START + 3 * 10**9
    data = client.binary(1)
    subscription, log_time = struct.unpack_from("<IQ", data)
    assert subscription == 5 and log_time >= START + 3 * 10**9
    assert data[12:16] == b"\0\x01\0\0", "CDR, little endian"
    assert struct.unpack("<Q", client.binary(2))[0] >= START

    status, time, rate, did_seek = client.playback(1, 1.0, None, "two")
    assert (status, rate, did_seek) == (1, 1.0, 0), (status, rate, did_seek)
    # A pong from the server proves that pings do not disturb its messages.
    assert client.socket.ping().wait(PATIENCE)
    client.open.close()
    print("all is well")


main()
