"""Memory stays bounded while a bag is read, however large it is."""

import subprocess
import sys

import numpy as np
import pytest

import timeloom

# Far less than a bag of these tests holds, far more than the chunks that a reader has open.
BOUND_MB = 60

# Prints by how many MB the largest memory of the process grew while all messages were read.
MEASURE = """
import sys, timeloom

def peak():
    with open("/proc/self/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0]) // 1000

bag = timeloom.open(sys.argv[1])

def messages():
    return (message.value.data for message in bag.messages())

def raw():
    with timeloom.AnyReader([sys.argv[1]]) as reader:
        yield from (raw for _connection, _time, raw in reader.messages())

def rows():
    import pyarrow
    yield from pyarrow.RecordBatchReader.from_stream(bag["/data"])

read = {"messages": messages, "raw": raw, "rows": rows}[sys.argv[2]]
next(iter(read()))
before = peak()
kept, count = [], 0
for item in read():
    count += 1
    if sys.argv[3] == "keep":
        kept.append(item)
assert count > 1
print(peak() - before)
"""


def growth(path, way, keep="drop"):
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), way, keep], check=True, capture_output=True, text=True,
    )
    return int(run.stdout)


def write(path, count, size, **options):
    # Bytes that compress to about a half.
    data = np.random.default_rng(7).integers(0, 16, size, dtype=np.uint8)
    with timeloom.Writer(path, **options) as writer:
        writer.add_topic("/data", "std_msgs/msg/UInt8MultiArray")
        payload = timeloom.MessageType("std_msgs/msg/UInt8MultiArray").encode({"data": data})
        for number in range(count):
            writer.write("/data", payload, number * 1000)
    return path


LARGE = {"count": 100, "size": 1_000_000}
STORAGES = {"plain": {}, "chunks": {"preset": "zstd_fast"}, "sqlite3": {"storage": "sqlite3"}}


@pytest.mark.parametrize("options", STORAGES.values(), ids=STORAGES)
def test_large_messages_do_not_stay_in_memory(tmp_path, options):
    assert growth(write(tmp_path / "bag", **LARGE, **options), "messages") < BOUND_MB


def test_payloads_do_not_stay_in_memory(tmp_path):
    assert growth(write(tmp_path / "bag", **LARGE), "raw") < BOUND_MB


def test_rows_of_an_arrow_stream_are_read_when_they_are_asked_for(tmp_path):
    pytest.importorskip("pyarrow")
    assert growth(write(tmp_path / "bag", **LARGE), "rows") < BOUND_MB


def test_small_messages_do_not_stay_in_memory(tmp_path):
    assert growth(write(tmp_path / "bag", count=50_000, size=2000), "messages") < BOUND_MB


def test_messages_that_a_program_keeps_are_seen(tmp_path):
    # The measurement itself: what is kept exceeds the bound. Payloads of a database are copied; others may be views of the file.
    path = write(tmp_path / "bag", **LARGE, storage="sqlite3")
    assert growth(path, "messages", "keep") > BOUND_MB
