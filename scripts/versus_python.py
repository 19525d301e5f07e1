#!/usr/bin/env python3
"""Compares reading with Python: timeloom, rosbags and mcap-ros2-support, side by side in one run.

    scripts/versus_python.py [--megabytes 1000] [--rounds 3] [--folder /tmp]

Writes a synthetic bag (MCAP without compression: a fifth /imu, two fifths /points of 1 MB, two fifths /image of 2.7 MB),
reads each topic into arrays with each library in turns, takes the best of the rounds, and prints how many times faster
timeloom is. Each reader touches every page of every large array, so that one that only maps the file reads it, too. Needs the module (`maturin develop --release`, or the wheel), rosbags, mcap-ros2-support.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

IMU = [f"orientation.{part}" for part in "xyzw"]
IMU += [f"{vector}.{part}" for vector in ("angular_velocity", "linear_acceleration") for part in "xyz"]


def write(path, megabytes):
    import timeloom

    random = np.random.default_rng(7)
    points = random.integers(0, 255, 1_000_000, dtype=np.uint8)
    pixels = random.integers(0, 255, 1280 * 720 * 3, dtype=np.uint8)
    # 320 bytes of payload and 31 of its record.
    counts = {"/imu": megabytes * 200_000 // 351, "/points": megabytes * 4 // 10, "/image": megabytes * 4 // 27}
    end = 60 * 10**9
    with timeloom.Writer(path) as writer:
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
    return counts


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


def measure(path, topic, count, rounds):
    best, expected = dict.fromkeys(READERS, float("inf")), None
    for _ in range(rounds):
        for name, read in READERS.items():
            begun = time.perf_counter()
            arrays = read(path, topic)
            if topic != "/imu":
                # A view of a file is read when it is used: a byte of each page.
                touched = sum(int(array[::4096].sum()) for array in arrays[0])
            best[name] = min(best[name], time.perf_counter() - begun)
            seen = [len(array) for array in arrays]
            assert seen == [count] * len(arrays), (name, seen)
            total = float(sum(np.sum(array[-1]) for array in arrays))
            if topic != "/imu":
                total += touched
            expected = total if expected is None else expected
            assert total == expected, (name, total, expected)
            del arrays
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
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "bag"
        counts = write(path, arguments.megabytes)
        size = sum(file.stat().st_size for file in path.iterdir()) // 1_000_000
        load = os.getloadavg()[0]
        print(f"bag of {size} MB, {counts}, best of {arguments.rounds}, load average {load:.1f}")
        print("| topic | messages | " + " | ".join(f"{name} (s)" for name in READERS) + " | to_numpy vs rosbags | vs mcap | messages vs rosbags | vs mcap |")
        print("|---|---:|" + "---:|" * (len(READERS) + 4))
        for topic, count in counts.items():
            best = measure(path, topic, count, arguments.rounds)
            cells = [f"{best[name]:.3f}" for name in READERS]
            ratios = [
                f"{best[other] / best[ours]:.1f}x" for ours in ("timeloom to_numpy", "timeloom messages")
                for other in ("rosbags", "mcap-ros2-support")
            ]
            print(f"| `{topic}` | {count} | " + " | ".join(cells + ratios) + " |", flush=True)
        print(f"memory while iterating over all messages: {memory(path)} MB")


if __name__ == "__main__":
    main()
