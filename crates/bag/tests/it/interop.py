"""The other side of the interop test: reads and writes bags with the packages of PyPI."""

import sys
from pathlib import Path


def show(topic, time, data):
    return f"{topic} {time} {bytes(data).hex()}"


def read_rosbags(path):
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([Path(path)], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        assert {c.topic for c in reader.connections} == {"/a", "/b", "/silent"}, reader.connections
        for connection, time, data in reader.messages():
            assert reader.deserialize(data, connection.msgtype).data.startswith("message ")
            assert connection.ext.offered_qos_profiles, "QoS profiles are there"
            print(show(connection.topic, time, data))


def read_mcap(path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=True):
            assert decoded.data.startswith("message ")
            print(show(channel.topic, message.log_time, message.data))


def write_rosbags(root):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    kind = store.types["std_msgs/msg/String"]
    for plugin in (StoragePlugin.MCAP, StoragePlugin.SQLITE3):
        for mode in (None, CompressionMode.FILE, CompressionMode.MESSAGE, CompressionMode.STORAGE):
            if mode is CompressionMode.STORAGE and plugin is StoragePlugin.SQLITE3:
                continue
            path = Path(root) / f"rosbags_{plugin.name}_{mode.name if mode else 'NONE'}"
            writer = Writer(path, version=9, storage_plugin=plugin)
            if mode:
                writer.set_compression(mode, CompressionFormat.ZSTD)
            messages = []
            with writer:
                connection = writer.add_connection("/chatter", kind.__msgtype__, typestore=store)
                for k in range(150):
                    data = store.serialize_cdr(kind(data=f"hello {k} " + "y" * (k % 40)), kind.__msgtype__)
                    writer.write(connection, 1_000_000_000 + k, data)
                    messages.append(show("/chatter", 1_000_000_000 + k, data))
            print(path, ";".join(messages))


def write_mcap(root):
    from mcap.writer import CompressionType
    from mcap_ros2.writer import Writer as Ros2Writer

    for compression in (CompressionType.NONE, CompressionType.ZSTD, CompressionType.LZ4):
        path = Path(root) / f"mcap_{compression.name}.mcap"
        writer = Ros2Writer(str(path), chunk_size=2000, compression=compression)
        schema = writer.register_msgdef("std_msgs/msg/String", "string data\n")
        for k in range(150):
            writer.write_message("/chatter", schema, {"data": f"hi {k}"}, log_time=1000 + k, publish_time=k, sequence=k)
        writer.finish()
        from mcap.reader import make_reader

        with open(path, "rb") as file:
            messages = [show(c.topic, m.log_time, m.data) for _, c, m in make_reader(file).iter_messages()]
        print(path, ";".join(messages))


if __name__ == "__main__":
    action, path = sys.argv[1], sys.argv[2]
    if action == "rosbags":
        read_rosbags(path)
    elif action == "mcap":
        read_mcap(path)
    else:
        write_rosbags(path)
        write_mcap(path)
