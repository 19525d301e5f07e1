"""Plays a bag through `timeloom view` as Foxglove does and compares every message with the bag, byte for byte.

usage: view_bag.py <url> <bag.mcap> <sub-protocol>
"""

import json
import struct
import sys

from mcap.reader import make_reader
from websockets.sync.client import connect

URL, BAG, NAME = sys.argv[1:4]
PATIENCE = 60
ENDED = 3


def bag():
    with open(BAG, "rb") as file:
        return sorted((channel.topic, message.log_time, message.data) for _, channel, message in make_reader(file).iter_messages())


class Client:
    def __init__(self, socket):
        self.socket, self.topics, self.got, self.state = socket, {}, [], None

    def hear(self):
        message = self.socket.recv(timeout=PATIENCE)
        if isinstance(message, str):
            self.hear_text(json.loads(message))
        elif message[0] == 1:
            subscription, time = struct.unpack_from("<IQ", message, 1)
            self.got.append((self.topics[subscription], time, bytes(message[13:])))
        elif message[0] == 5:
            status, time, speed, did_seek, length = struct.unpack_from("<BQfBI", message, 1)
            self.state = (status, time, speed, did_seek, message[19 : 19 + length].decode())

    def hear_text(self, message):
        if message["op"] == "serverInfo":
            assert {"time", "playbackControl", "services"} <= set(message["capabilities"]), message
        for channel in message["channels"] if message["op"] == "advertise" else ():
            if NAME != "foxglove.sdk.v1.1":
                assert channel["encoding"] == "cdr" and channel["schemaEncoding"] == "ros2msg" and channel["schema"]
            self.topics[channel["id"]] = channel["topic"]
            subscription = {"id": channel["id"], "channelId": channel["id"]}
            self.socket.send(json.dumps({"op": "subscribe", "subscriptions": [subscription]}))

    def steer(self, command, speed, seek, request):
        self.socket.send(struct.pack("<BBfBQI", 3, command, speed, seek is not None, seek or 0, len(request)) + request.encode())
        while self.state is None or self.state[4] != request:
            self.hear()
        return self.state


def main():
    wanted = bag()
    topics = {topic for topic, _, _ in wanted}
    with connect(URL.replace("http", "ws", 1), subprotocols=[NAME], max_size=None) as socket:
        assert socket.subprotocol == NAME
        client = Client(socket)
        while not topics <= set(client.topics.values()):
            client.hear()
        # What was subscribed to before is known when this is answered.
        status, time, _, _, _ = client.steer(1, 1.0, None, "ready")
        assert (status, time) == (1, min(message[1] for message in wanted)), (status, time)
        assert not client.got, client.got
        client.steer(0, 8.0, None, "go")
        while client.state[0] != ENDED or len(client.got) < len(wanted):
            client.hear()
    got = sorted(client.got)
    assert got == wanted, [pair for pair in zip(got, wanted) if pair[0] != pair[1]][:3]
    print(f"{len(got)} messages of {len(topics)} topics are those of the bag")


main()
