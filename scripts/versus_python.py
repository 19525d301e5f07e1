#!/usr/bin/env python3
"""Compares reading with Python: timeloom, rosbags and mcap-ros2-support, side by side in one run.

    scripts/versus_python.py [--megabytes 1000] [--rounds 3] [--preset zstd_fast] [--bag FOLDER] [--topics /imu /points]

Writes a synthetic bag (MCAP, without compression unless a preset is given: a fifth /imu, two fifths /points of 1 MB, two
fifths /image of 2.7 MB), reads each topic into arrays with each library in turns, takes the best of the rounds, and
prints how many times faster timeloom is. Each reader touches every page of every large array, so that one that only maps
the file reads it, too. In the first round all values are compared, outside of the measurement; it also warms the cache.
With --bag, the bag is written there once and kept, so that a long comparison can be split. Needs the module (`maturin
develop --release`, or the wheel), rosbags, mcap-ros2-support.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

IMU = [f"orientation.{part}" for part in "xyzw"]
IMU += [f"{vector}.{part}" for vector in ("angular_velocity", "linear_acceleration") for part in "xyz"]


def counts_for(megabytes):
    # 320 bytes of payload and 31 of its record.
    return {"/imu": megabytes * 200_000 // 351, "/points": megabytes * 4 // 10, "/image": megabytes * 4 // 27}


def write(path, counts, preset):
    import timeloom

    random = np.random.default_rng(7)
    points = random.integers(0, 255, 1_000_000, dtype=np.uint8)
    pixels = random.integers(0, 255, 1280 * 720 * 3, dtype=np.uint8)
    end = 60 * 10**9
    with timeloom.Writer(path, preset=preset) as writer:
        writer.add_topic("/imu", "sensor_msgs/msg/Imu")
        writer.add_topic("/points", "sensor_msgs/msg/PointCloud2")
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        imu = {"header": {"frame_id": "imu_link"}, "linear_acceleration": {"z": 9.81}}
        cloud = {"header": {"frame_id": "lidar"}, "height": 1, "width": 62500, "point_step": 16, "data": points}
        image = {"header": {"frame_id": "camera"}, "height": 720, "width": 1280, "step": 3840, "data": pixels}
        stamps = [(end * index // count, topic) for topic, count in counts.items() for index in range(count)]
        payloads = {
            topic: writer._topics[topic][1].encode(message)
            for topic, message in (("/imu", imu), ("/points", cloud), ("/image", image))
        }
        for stamp, topic in sorted(stamps):
            writer.write(topic, payloads[topic], stamp)


def timeloom_arrays(path, topic):
    import timeloom

    fields = IMU if topic == "/imu" else ["data"]
    columns = timeloom.open(path)[topic].to_numpy(fields)
    return [columns[field] for field in fields]


def timeloom_objects(path, topic):
    import timeloom

    return collect(topic, (message.value for message in timeloom.open(path)[topic]))


def rosbags_objects(path, topic):
    from rosbags.highlevel import AnyReader

    def messages():
        with AnyReader([Path(path)]) as reader:
            for connection, _time, raw in reader.messages([it for it in reader.connections if it.topic == topic]):
                yield reader.deserialize(raw, connection.msgtype)

    return collect(topic, messages())


def mcap_objects(path, topic):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    def messages():
        (file,) = Path(path).glob("*.mcap")
        with file.open("rb") as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            for _schema, _channel, _record, message in reader.iter_decoded_messages(topics=[topic]):
                yield message

    return collect(topic, messages())


def collect(topic, messages):
    if topic != "/imu":
        # Some give bytes, some an array.
        return [[np.frombuffer(message.data, np.uint8) for message in messages]]
    rows = []
    for message in messages:
        turn, spin, push = message.orientation, message.angular_velocity, message.linear_acceleration
        rows.append((turn.x, turn.y, turn.z, turn.w, spin.x, spin.y, spin.z, push.x, push.y, push.z))
    return list(np.array(rows).T)


READERS = {
    "timeloom to_numpy": timeloom_arrays,
    "timeloom messages": timeloom_objects,
    "rosbags": rosbags_objects,
    "mcap-ros2-support": mcap_objects,
}


def touch(topic, arrays):
    # A view of a file is read when it is used: a byte of each page.
    return None if topic == "/imu" else sum(int(array[::4096].sum()) for array in arrays[0])


def same(topic, arrays, others):
    if topic == "/imu":
        return all(np.array_equal(*pair) for pair in zip(arrays, others))
    return len(arrays[0]) == len(others[0]) and all(np.array_equal(*pair) for pair in zip(arrays[0], others[0]))


def measure(path, topic, count, rounds):
    best, first = dict.fromkeys(READERS, float("inf")), None
    for number in range(rounds):
        for name, read in READERS.items():
            begun = time.perf_counter()
            arrays = read(path, topic)
            touch(topic, arrays)
            best[name] = min(best[name], time.perf_counter() - begun)
            assert [len(array) for array in arrays] == [count] * len(arrays), name
            if number == 0:
                first = arrays if first is None else first
                assert same(topic, first, arrays), f"{name} has other values"
            del arrays
        first = None
    return best


def memory(path):
    """The largest memory of a process that iterates over everything, in MB beyond that of an empty one."""
    code = (
        "import sys, timeloom\n"
        "def peak():\n"
        "    return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "bag = timeloom.open(sys.argv[1])\n"
        "list(bag.messages(end=1))\n"
        "before = peak()\n"
        "count = sum(message.value.header is not None for message in bag.messages())\n"
        "print((peak() - before) // 1000)\n"
    )
    return int(subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--preset", default="", help="of the storage, such as zstd_fast")
    parser.add_argument("--bag", type=Path, help="write the bag here if it is not there, and keep it")
    parser.add_argument("--topics", nargs="+", default=["/imu", "/points", "/image"])
    parser.add_argument("--memory", action="store_true", help="measure the memory while iterating, too")
    arguments = parser.parse_args()
    counts = counts_for(arguments.megabytes)
    with contextlib.ExitStack() as stack:
        path = arguments.bag or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "bag"
        if not path.exists():
            write(path, counts, arguments.preset)
        size = sum(file.stat().st_size for file in path.iterdir()) // 1_000_000
        load = os.getloadavg()[0]
        print(f"bag of {size} MB, {counts}, best of {arguments.rounds}, load average {load:.1f}")
        ratios = "to_numpy vs rosbags | vs mcap | messages vs rosbags | vs mcap"
        print("| topic | messages | " + " | ".join(f"{name} (s)" for name in READERS) + f" | {ratios} |")
        print("|---|---:|" + "---:|" * (len(READERS) + 4))
        for topic in arguments.topics:
            best = measure(path, topic, counts[topic], arguments.rounds)
            cells = [f"{best[name]:.3f}" for name in READERS]
            cells += [
                f"{best[other] / best[ours]:.1f}x" for ours in ("timeloom to_numpy", "timeloom messages")
                for other in ("rosbags", "mcap-ros2-support")
            ]
            print(f"| `{topic}` | {counts[topic]} | " + " | ".join(cells) + " |", flush=True)
        if arguments.memory:
            print(f"memory while iterating over all messages: {memory(path)} MB")


if __name__ == "__main__":
    main()
