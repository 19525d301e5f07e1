"""One job by a library from PyPI: prints what it cost and the answer that all must agree on.

usage: peer.py LIBRARY JOB INPUT OUTPUT COUNT BYTES
"""

import json
import sys
import time
from pathlib import Path

BEGIN, STEP, TOPICS = 1_700_000_000_000_000_000, 1_000_000, 10
BYTES = "std_msgs/msg/ByteMultiArray"


def done(cpu, items, answer):
    print(json.dumps({"value": cpu / max(items, 1), "answer": answer}))


def file_of(bag):
    return next(Path(bag).glob("*.mcap"))


def window(count):
    return BEGIN + count // 2 * STEP, BEGIN + (count // 2 + count // 100) * STEP


def with_mcap(job, source, target, count, size):
    from mcap.reader import make_reader
    from mcap.writer import CompressionType, Writer
    from mcap_ros2.decoder import DecoderFactory

    begin = time.process_time()
    if job == "write-mcap":
        message = b"\x07" * size
        with open(target, "wb") as file:
            writer = Writer(file, compression=CompressionType.NONE)
            writer.start(profile="ros2", library="peer")
            schema = writer.register_schema(name=BYTES, encoding="ros2msg", data=b"")
            channels = [
                writer.register_channel(topic=f"/load_{n + 1}", message_encoding="cdr", schema_id=schema)
                for n in range(TOPICS)
            ]
            for number in range(count):
                stamp = BEGIN + number * STEP
                writer.add_message(channels[number % TOPICS], log_time=stamp, data=message, publish_time=stamp)
            writer.finish()
        return done(time.process_time() - begin, count, count)
    if job == "info":
        for _ in range(count):
            with open(file_of(source), "rb") as file:
                answer = make_reader(file).get_summary().statistics.message_count
        return done(time.process_time() - begin, count, answer)
    with open(file_of(source), "rb") as file:
        if job == "read":
            items = answer = 0
            for _, _, message in make_reader(file).iter_messages():
                items, answer = items + 1, answer + len(message.data)
        elif job == "slice":
            start, end = window(count)
            found = make_reader(file).iter_messages(topics=["/load_1"], start_time=start, end_time=end)
            items, answer = 1, sum(1 for _ in found)
        else:
            items = answer = 0
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            for _, _, _, message in reader.iter_decoded_messages():
                items, answer = items + 1, answer + message.header.stamp.nanosec
    done(time.process_time() - begin, items, answer)


def with_rosbags(job, source, target, count, size):
    from rosbags.convert.converter import convert
    from rosbags.rosbag2 import Reader, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    begin = time.process_time()
    if job in ("write-mcap", "write-sqlite3"):
        message = b"\x07" * size
        plugin = StoragePlugin.MCAP if job == "write-mcap" else StoragePlugin.SQLITE3
        with Writer(Path(target), version=9, storage_plugin=plugin) as writer:
            topics = [writer.add_connection(f"/load_{n + 1}", BYTES, typestore=store) for n in range(TOPICS)]
            for number in range(count):
                writer.write(topics[number % TOPICS], BEGIN + number * STEP, message)
        return done(time.process_time() - begin, count, count)
    if job == "convert":
        convert([Path(source)], Path(target), "sqlite3", 9, None, "none", store, None, (), (), (), ())
        with Reader(Path(target)) as reader:
            answer = reader.message_count
        return done(time.process_time() - begin, answer, answer)
    if job == "info":
        for _ in range(count):
            with Reader(Path(source)) as reader:
                answer = reader.message_count
        return done(time.process_time() - begin, count, answer)
    with Reader(Path(source)) as reader:
        if job == "read":
            items = answer = 0
            for _, _, data in reader.messages():
                items, answer = items + 1, answer + len(data)
        elif job == "slice":
            start, stop = window(count)
            topics = [one for one in reader.connections if one.topic == "/load_1"]
            items, answer = 1, sum(1 for _ in reader.messages(topics, start=start, stop=stop))
        else:
            items = answer = 0
            for topic, _, data in reader.messages():
                message = store.deserialize_cdr(data, topic.msgtype)
                items, answer = items + 1, answer + message.header.stamp.nanosec
    done(time.process_time() - begin, items, answer)


def with_python(job, source, target, count, size):
    due, late = time.monotonic(), []
    for _ in range(count):
        due += 0.001
        left = due - time.monotonic()
        if left > 0:
            time.sleep(left)
        late.append(max(time.monotonic() - due, 0.0))
    done(sorted(late)[len(late) // 2], 1, count)


def main():
    library, job, source, target, count, size = sys.argv[1:]
    sides = {"mcap": with_mcap, "rosbags": with_rosbags, "python": with_python}
    try:
        sides[library](job, source, target, int(count), int(size))
    except ModuleNotFoundError as missing:
        print(json.dumps({"missing": missing.name}))


main()
