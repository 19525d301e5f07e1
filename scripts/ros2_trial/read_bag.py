"""Reads a bag with rosbag2 and prints fingerprints by topic: what `ros2 bag` finds in it."""

import json
import sys

import rosbag2_py
from rosidl_runtime_py.utilities import get_message

from fingerprint import fingerprint


def main(path):
    info = rosbag2_py.Info().read_metadata(path, "")
    compressed = bool(info.compression_format)
    reader = rosbag2_py.SequentialCompressionReader() if compressed else rosbag2_py.SequentialReader()
    storage = rosbag2_py.StorageOptions(uri=path, storage_id=info.storage_identifier)
    reader.open(storage, rosbag2_py.ConverterOptions("", ""))
    types = {topic.name: get_message(topic.type) for topic in reader.get_all_topics_and_types()}
    found = {name: [] for name in types}
    while reader.has_next():
        name, payload, _time = reader.read_next()
        found[name].append(fingerprint(payload, types[name]))
    print(json.dumps({"topics": found, "counted": info.message_count}))


main(sys.argv[1])
