"""What is sealed in a recording that was cut off, as foreign libraries see it: `mcap` of PyPI, and sqlite3.

Each line on stdin names a bag's directory; the answer has one `[topic, CRC-32 of the payload]` per message.
"""

import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import zlib

import zstandard
from mcap.exceptions import McapError
from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader


def crc(data):
    """Of the message itself, also where each one was compressed."""
    if data[:4] == b"\x28\xb5\x2f\xfd":
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return zlib.crc32(data)


def of_mcap(path):
    topics, found = {}, []
    with open(path, "rb") as stream:
        try:
            for record in StreamReader(stream).records:
                if isinstance(record, Channel):
                    topics[record.id] = record.topic
                elif isinstance(record, Message):
                    found.append([topics[record.channel_id], crc(record.data)])
        except (McapError, EOFError, ValueError, IndexError, KeyError, struct.error):
            # From here on it is not sealed.
            pass
    return found


def of_sqlite(path):
    # Opening one repairs it: only a copy is touched.
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "copy.db3")
        for end in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(path + end):
                shutil.copyfile(path + end, copy + end)
        connection = sqlite3.connect(copy)
        try:
            rows = connection.execute("SELECT name, data FROM messages JOIN topics ON topic_id = topics.id")
            return [[topic, crc(data)] for topic, data in rows]
        except sqlite3.Error:
            return []
        finally:
            connection.close()


def main():
    print(json.dumps({"ok": "there"}), flush=True)
    for line in sys.stdin:
        directory = json.loads(line)["bag"]
        found = []
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            path = os.path.join(directory, name)
            if name.endswith(".mcap"):
                found += of_mcap(path)
            elif name.endswith(".db3"):
                found += of_sqlite(path)
        print(json.dumps({"ok": found}), flush=True)


main()
