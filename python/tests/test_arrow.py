"""Rows for libraries that take Arrow, without pyarrow."""

import subprocess
import sys

import pytest

import timeloom


def without_pyarrow(code, *arguments):
    """Runs code in a process that cannot import pyarrow; its output."""
    head = "import sys\nsys.modules['pyarrow'] = None\nimport timeloom\nbag = timeloom.open(sys.argv[1])\n"
    run = subprocess.run(
        [sys.executable, "-c", head + code, *map(str, arguments)], capture_output=True, text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_polars_takes_a_topic(bags):
    pytest.importorskip("polars")
    code = """
import polars
frame = polars.DataFrame(bag["/imu/data"])
assert frame.height == 207 and frame.columns[:3] == ["log_time", "publish_time", "header"], frame
assert frame.schema["log_time"] == polars.Datetime("ns", "UTC"), frame.schema
z = frame["linear_acceleration"].struct.field("z")
assert z.to_list() == [message.value.linear_acceleration.z for message in bag["/imu/data"]]
"""
    without_pyarrow(code, bags / "mcap_plain")


def test_a_capsule_that_is_not_used_is_released(bag):
    # Both are dropped without a consumer.
    for _ in range(3):
        assert type(bag["/imu/data"].__arrow_c_stream__()).__name__ == "PyCapsule"
        assert type(bag["/imu/data"].__arrow_c_schema__()).__name__ == "PyCapsule"


def test_duckdb_takes_a_topic(bag):
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    imu = bag["/imu/data"]  # noqa: F841
    assert duckdb.sql("select count(*), max(linear_acceleration.z) from imu").fetchall() == [
        (207, max(message.value.linear_acceleration.z for message in bag["/imu/data"])),
    ]


def test_a_stream_and_a_table_have_the_same_rows(bag):
    pyarrow = pytest.importorskip("pyarrow")
    for topic in bag.topics:
        table = topic.to_arrow()
        assert pyarrow.table(topic).equals(table), topic
        assert pyarrow.schema(topic) == table.schema


def test_damage_is_an_error_of_the_stream_after_its_last_row(cut_bag):
    pyarrow = pytest.importorskip("pyarrow")
    topic = timeloom.open(cut_bag)["/imu/data"]
    left = len(topic.to_arrow(strict=False))
    reader = pyarrow.RecordBatchReader.from_stream(topic)
    rows = 0
    with pytest.raises(pyarrow.ArrowException, match="/imu/data cannot be read as a whole"):
        for batch in reader:
            rows += len(batch)
    assert rows == left > 0
