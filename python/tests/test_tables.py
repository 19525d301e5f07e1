"""Tables of topics: numpy, pandas, Arrow, and what others make of them."""

import numpy as np
import pytest

import timeloom

pyarrow = pytest.importorskip("pyarrow")


def test_columns_agree_with_messages(bag):
    for topic in bag.topics:
        if not topic.count:
            continue
        columns = topic.to_numpy()
        messages = list(topic)
        assert columns["log_time"].dtype == "datetime64[ns]"
        assert columns["log_time"].astype("int64").tolist() == [message.log_time for message in messages]
        for name, column in columns.items():
            if name in ("log_time", "publish_time"):
                continue
            assert len(column) == len(messages), (topic.name, name)
            for row, message in zip(column, messages):
                value = message.value
                for part in name.split("."):
                    value = getattr(value, part)
                compare(row, value, f"{topic.name} {name}")


def compare(row, value, where):
    """One cell of a column with the field of a message."""
    if isinstance(value, timeloom.Message):
        kind = "datetime64[ns]" if value.__msgtype__.endswith("Time") else "timedelta64[ns]"
        assert row.astype("int64") == value.sec * 10**9 + value.nanosec, where
        assert row.dtype == kind, where
    elif isinstance(row, dict):
        for index, item in enumerate(value):
            for name, cells in row.items():
                inner = item
                for part in name.split("."):
                    inner = getattr(inner, part)
                compare(cells[index], inner, f"{where} {name}")
    elif isinstance(value, np.ndarray):
        np.testing.assert_array_equal(row, value, where)
    elif isinstance(value, list):
        assert list(row) == value, where
    else:
        assert row == value or row != row, where


def test_only_the_asked_fields_are_decoded(bag):
    columns = bag["/imu/data"].to_numpy(["linear_acceleration.z", "header.stamp"])
    assert list(columns) == ["log_time", "publish_time", "linear_acceleration.z", "header.stamp"]
    assert columns["linear_acceleration.z"].flags.writeable
    with pytest.raises(timeloom.UnknownField, match="no field `acceleration`\nhint: the fields are header"):
        bag["/imu/data"].to_numpy(["acceleration"])
    with pytest.raises(timeloom.ReaderError, match="part of `header`"):
        bag["/imu/data"].to_numpy(["header", "header.stamp"])
    with pytest.raises(TypeError, match="list of names"):
        bag["/imu/data"].to_numpy("header")


def test_arrow_keeps_nested_fields_and_nanoseconds(bag):
    table = bag["/imu/data"].to_arrow()
    assert table.num_rows == 207
    assert table.schema.field("log_time").type == pyarrow.timestamp("ns", "UTC")
    assert table.schema.field("header").type.field("stamp").type == pyarrow.timestamp("ns", "UTC")
    assert table.schema.field("orientation_covariance").type == pyarrow.list_(pyarrow.float64(), 9)
    rows = table.to_pylist()
    message = next(iter(bag["/imu/data"])).value
    assert rows[0]["angular_velocity"]["x"] == message.angular_velocity.x
    assert rows[0]["header"]["frame_id"] == message.header.frame_id


def test_an_empty_topic_has_a_table_with_columns(bag):
    table = bag["/imu/data"].to_arrow(["header.stamp"], start=0, end=1)
    assert table.num_rows == 0
    assert table.column_names == ["log_time", "publish_time", "header.stamp"]
    columns = bag["/imu/data"].to_numpy(["orientation_covariance", "header.frame_id"], end=1)
    assert columns["orientation_covariance"].shape == (0, 9)
    assert columns["header.frame_id"].shape == (0,)


def test_pandas_has_the_log_time_as_index(bag):
    pytest.importorskip("pandas")
    frame = bag["/imu/data"].to_pandas(["linear_acceleration", "orientation_covariance"])
    assert frame.index.name == "log_time"
    assert str(frame.index.tz) == "UTC"
    assert round(frame["linear_acceleration.z"].mean(), 2) == 9.81
    assert len(frame["orientation_covariance"].iloc[0]) == 9


def test_all_times_of_a_data_frame_have_their_zone(bag):
    pandas = pytest.importorskip("pandas")
    frame = bag["/imu/data"].to_pandas(["header.stamp"])
    assert str(frame["publish_time"].dtype) == "datetime64[ns, UTC]"
    age = frame.index - frame["header.stamp"]
    assert pandas.Timedelta(0) < age.min() <= age.max() < pandas.Timedelta("1s")
    assert str(bag["/imu/data"].to_pandas(["header.stamp"], end=1)["header.stamp"].dtype) == "datetime64[ns, UTC]"


def test_polars_and_duckdb_take_a_topic(bag):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    imu = bag["/imu/data"]
    assert polars.DataFrame(imu).height == 207
    rows = imu.to_arrow()  # noqa: F841
    found = duckdb.sql("SELECT count(*), round(avg(linear_acceleration.z), 2) FROM rows").fetchall()
    assert found == [(207, 9.81)]


def test_what_cannot_be_decoded_is_counted_and_left_out(tmp_path):
    path = tmp_path / "short"
    with timeloom.Writer(path) as writer:
        writer.add_topic("/p", "geometry_msgs/msg/Point")
        writer.write("/p", {"x": 1.0}, 1)
        writer.write("/p", b"\x00\x01\x00\x00\x00\x00", 2)
        writer.write("/p", {"x": 3.0}, 3)
    topic = timeloom.open(path)["/p"]
    with pytest.raises(timeloom.DataLost, match="1 message of /p could not be decoded: payload too short"):
        topic.to_numpy()
    assert topic.to_numpy(strict=False)["x"].tolist() == [1.0, 3.0]
    assert topic.to_arrow(strict=False)["x"].to_pylist() == [1.0, None, 3.0]


def test_aligned_topics_are_one_table(tmp_path):
    path = tmp_path / "bag"
    with timeloom.Writer(path) as writer:
        writer.add_topic("/camera", "sensor_msgs/msg/Image")
        writer.add_topic("/imu", "geometry_msgs/msg/PointStamped")
        for time in (100, 200, 300):
            writer.write("/camera", {"header": {"stamp": {"nanosec": time}}}, time)
        for time in (95, 140, 260):
            value = {"header": {"stamp": {"nanosec": time}}, "point": {"x": float(time)}}
            writer.write("/imu", value, time)
    bag = timeloom.open(path)
    fields = {"/imu": ["point.x"]}
    nearest = timeloom.align(bag, "/camera", fields, tolerance=50e-9)
    assert [row["point.x"] if row else None for row in nearest["/imu"].to_pylist()] == [95.0, None, 260.0]
    assert nearest.schema.metadata == {b"unmatched:/imu": b"1"}
    previous = timeloom.align(bag, "/camera", fields, method="previous", by="header")
    assert [row["point.x"] for row in previous["/imu"].to_pylist()] == [95.0, 140.0, 260.0]
    distances = pyarrow.compute.struct_field(previous["/imu"], "distance").cast("int64").to_pylist()
    assert distances == [-5, -60, -40]
    between = timeloom.align(bag, "/camera", fields, method="interpolate")
    assert [row["point.x"] if row else None for row in between["/imu"].to_pylist()] == [100.0, 200.0, None]
    with pytest.raises(ValueError, match="method is one of nearest, previous, interpolate, not 'best'"):
        timeloom.align(bag, "/camera", fields, method="best")
    listed = timeloom.align(bag, "/camera", ["/imu:point.x"], tolerance=50e-9)
    assert listed.equals(nearest)
    with pytest.raises(ValueError, match="topics has /imu twice"):
        timeloom.align(bag, "/camera", ["/imu:point.x", "/imu"])
    with pytest.raises(TypeError, match="topics: 3 is not a name"):
        timeloom.align(bag, "/camera", [3])
    # A row at the edge has its value from beyond it.
    cut = timeloom.align(bag, "/camera", fields, start=100, end=101, tolerance=50e-9)
    assert [row["point.x"] for row in cut["/imu"].to_pylist()] == [95.0]


def test_sensors_are_aligned_by_their_corrected_clocks(tmp_path):
    path = tmp_path / "bag"
    begin, hours, period = 1_700_000_000_000_000_000, 3 * 3_600_000_000_000, 10_000_000
    with timeloom.Writer(path) as writer:
        for topic in ("/camera", "/imu"):
            writer.add_topic(topic, "geometry_msgs/msg/PointStamped")
        for number in range(2_000):
            time = begin + number * period
            delay = 1_000_000 + number * 7_919 % 2_000_000
            for topic, behind in (("/camera", 0), ("/imu", hours)):
                seconds, nanos = divmod(time - behind, 1_000_000_000)
                stamp = {"sec": seconds, "nanosec": nanos}
                value = {"header": {"stamp": stamp}, "point": {"x": float(number)}}
                writer.write(topic, value, time + delay)
    bag = timeloom.open(path)
    assert all(row is None for row in align_x(bag, "header"))
    assert align_x(bag, "sync") == [float(number) for number in range(2_000)]
    with pytest.raises(ValueError, match="by is one of log_time, publish_time, header, sync, not 'stamp'"):
        align_x(bag, "stamp")


def align_x(bag, by):
    table = timeloom.align(bag, "/camera", ["/imu:point.x"], tolerance=0.004, by=by)
    return [row and row["point.x"] for row in table["/imu"].to_pylist()]


def test_aligning_a_damaged_bag_is_an_error_unless_that_is_wanted(cut_bag):
    bag = timeloom.open(cut_bag)
    with pytest.raises(timeloom.DataLost, match="strict=False"):
        timeloom.align(bag, "/fix", ["/imu/data"])
    assert timeloom.align(bag, "/fix", ["/imu/data"], strict=False).num_rows > 0


def test_a_progress_bar_counts_messages(bag):
    pytest.importorskip("tqdm")
    assert len(bag["/imu/data"].to_numpy([], progress=True)["log_time"]) == 207
