#!/usr/bin/env python3
"""Measures `timeloom query --cluster` with 0, 1, 2 and 4 workers on this machine, over bags on a local S3 server (moto).

    scripts/measure_cluster.py target/release/timeloom [--bags 16] [--seconds 60]

Prints, for each query and number of workers: seconds, CPU seconds of asker and workers, requests to the server and bytes
from it, and the largest memory of a process. Needs scripts/requirements-test.txt.
"""

import argparse
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from mcap.writer import CompressionType, Writer
from rosbags.typesys import Stores, get_typestore

QUERIES = {
    "mean of a field, by bag": 'SELECT bag, avg(linear_acceleration.z) AS z FROM "/imu" GROUP BY bag ORDER BY bag',
    "extreme of all bags": 'SELECT max(angular_velocity.x) AS most FROM "/imu"',
    "rows of a condition": 'SELECT bag, log_time, linear_acceleration.z FROM "/imu" WHERE linear_acceleration.z > 10.99',
    "sizes of all messages": "SELECT topic, sum(size) AS bytes FROM messages GROUP BY topic ORDER BY topic",
}


class Proxy:
    """Passes connections on to the server, and counts."""

    def __init__(self, server):
        self.server, self.requests, self.bytes = server, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server))
            threading.Thread(target=self.copy, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, False), daemon=True).start()

    def copy(self, source, target, asks):
        try:
            while data := source.recv(1 << 16):
                if asks:
                    self.requests += len(re.findall(rb"(?:^|\r\n\r\n)(?:GET|HEAD) /", data))
                else:
                    self.bytes += len(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def write_bag(path, seconds):
    """A minute of an IMU at 200 Hz and of a camera at 10 Hz with frames of 20 kB."""
    types = get_typestore(Stores.ROS2_JAZZY)
    imu_text = types.generate_msgdef("sensor_msgs/msg/Imu", ros_version=2)[0]
    image_text = types.generate_msgdef("sensor_msgs/msg/CompressedImage", ros_version=2)[0]
    with open(path, "wb") as file:
        writer = Writer(file, compression=CompressionType.NONE, chunk_size=1 << 20)
        writer.start(profile="ros2", library="measure_cluster")
        channels = {}
        for topic, name, text in [
            ("/imu", "sensor_msgs/msg/Imu", imu_text),
            ("/camera", "sensor_msgs/msg/CompressedImage", image_text),
        ]:
            schema = writer.register_schema(name=name, encoding="ros2msg", data=text.encode())
            channels[topic] = writer.register_channel(topic=topic, message_encoding="cdr", schema_id=schema)
        frame = b"\x00\x01\x00\x00" + struct.pack("<iI", 0, 0) + struct.pack("<I", 4) + b"cam\x00"
        frame += struct.pack("<I", 5) + b"jpeg\x00" + b"\0" * 3 + struct.pack("<I", 20000) + os.urandom(20000)
        for tick in range(seconds * 200):
            stamp = 1_700_000_000_000_000_000 + tick * 5_000_000
            head = struct.pack("<iI", stamp // 10**9, stamp % 10**9) + struct.pack("<I", 4) + b"imu\x00"
            values = [0.0] * 37
            values[3], values[13], values[27] = 1.0, (tick % 977) / 977, 9.0 + (tick % 2003) / 1000
            imu = b"\x00\x01\x00\x00" + head + struct.pack("<37d", *values)
            writer.add_message(channels["/imu"], log_time=stamp, data=imu, publish_time=stamp)
            if tick % 20 == 0:
                writer.add_message(channels["/camera"], log_time=stamp, data=frame, publish_time=stamp)
        writer.finish()


def put(port, name, data):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("PUT", f"/{name}", body=data)
    assert connection.getresponse().read() is not None


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("timeloom")
    parser.add_argument("--bags", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2, 4])
    options = parser.parse_args()
    moto = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True
    )
    port = next(int(line.rsplit(":", 1)[1]) for line in moto.stderr if "http://" in line)
    threading.Thread(target=lambda: [None for _ in moto.stderr], daemon=True).start()
    try:
        put(port, "robots", b"")
        with tempfile.TemporaryDirectory() as folder:
            bag = pathlib.Path(folder) / "bag.mcap"
            write_bag(bag, options.seconds)
            data = bag.read_bytes()
        for number in range(options.bags):
            put(port, f"robots/run_{number}.mcap", data)
        bags = [f"s3://robots/run_{number}.mcap" for number in range(options.bags)]
        print(f"{options.bags} bags of {len(data)} bytes")
        for title, sql in QUERIES.items():
            print(f"\n{title}")
            print("workers  seconds  CPU asker  CPU workers  requests asker  workers  MB asker  workers  peak MiB asker  worker")
            expected = None
            for count in options.workers:
                answer, line = measure(options.timeloom, port, sql, bags, count)
                print(line, flush=True)
                if expected is not None and answer != expected:
                    sys.exit("the answer is another one")
                expected = answer
    finally:
        moto.kill()


def environment(port):
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    return {**os.environ, **settings}


def measure(timeloom, port, sql, bags, count):
    proxies = [Proxy(port) for _ in range(count)]
    workers = []
    for proxy in proxies:
        command = [timeloom, "worker", "--listen", "127.0.0.1:0"]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(proxy.port))
        workers.append((worker, re.search(r"worker on ([\d.:]+)", worker.stdout.readline())[1]))
    own = Proxy(port)
    command = [timeloom, "query", sql, *bags, "--format", "csv"]
    if workers:
        command += ["--cluster", ",".join(address for _, address in workers)]
    before = [cpu(worker.pid) for worker, _ in workers]
    begun = time.monotonic()
    asker = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(own.port))
    answer = asker.stdout.read()
    _, status, usage = os.wait4(asker.pid, 0)
    asker.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    assert asker.returncode == 0, asker.returncode
    spent = sum(cpu(worker.pid) for worker, _ in workers) - sum(before)
    most = max([peak(worker.pid) for worker, _ in workers], default=0)
    for worker, _ in workers:
        worker.kill()
        worker.wait()
    line = (
        f"{count:7}  {seconds:7.2f}  {usage.ru_utime + usage.ru_stime:9.2f}  {spent:11.2f}  {own.requests:14}"
        f"  {sum(it.requests for it in proxies):7}  {own.bytes / 1e6:8.1f}  {sum(it.bytes for it in proxies) / 1e6:7.1f}"
        f"  {usage.ru_maxrss / 1024:14.0f}  {most:6.0f}"
    )
    return answer, line


if __name__ == "__main__":
    main()
