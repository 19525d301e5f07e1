"""Wrong arguments: the class of the error, and a text that names what is wrong."""

import datetime
import math

import numpy as np
import pytest

import timeloom

POINT = "geometry_msgs/msg/Point"
ALL = """bool flag
uint8 small
byte raw
float32 single
int32[] numbers
float32[] singles
float64[] doubles
bool[] flags
uint64[] large
string[] names
geometry_msgs/Point point
geometry_msgs/Point[] points
"""


@pytest.fixture(scope="module")
def kind():
    return timeloom.MessageType("demo/msg/All", ALL)


@pytest.mark.parametrize("message", [None, 5, "x", [], [1, 2, 3], object(), np.zeros(3)], ids=repr)
def test_a_message_that_is_none_is_a_type_error(tmp_path, message):
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/p", POINT)
        writer.add_topic("/empty", "std_msgs/msg/Empty")
        with pytest.raises(TypeError, match="expected a dict or an object with the fields of geometry_msgs/msg/Point, not"):
            writer.write("/p", message, 1)
    if not isinstance(message, np.ndarray) and type(message) is not object:
        with pytest.raises(TypeError, match="fields of std_msgs/msg/Empty"):
            timeloom.MessageType("std_msgs/msg/Empty").encode(message)


@pytest.mark.parametrize(("field", "value", "error"), [
    # What numpy and Python would make a number of.
    ("flag", None, TypeError), ("flag", "false", TypeError), ("flag", 2, TypeError), ("flag", [], TypeError),
    ("raw", b"", ValueError), ("raw", b"ab", ValueError), ("small", 256, ValueError), ("small", 1.0, TypeError),
    ("single", 1e300, ValueError), ("single", None, TypeError),
    ("numbers", [1.5], ValueError), ("numbers", ["1"], TypeError), ("numbers", [2**31], ValueError),
    ("numbers", [None], TypeError), ("numbers", 5, TypeError), ("numbers", None, TypeError),
    ("numbers", np.array([2**40]), ValueError),
    ("singles", [None], TypeError), ("singles", None, TypeError), ("singles", ["1"], TypeError),
    ("singles", [1e300], ValueError), ("doubles", [1j], TypeError), ("doubles", 1.5, TypeError),
    ("doubles", np.array(["2026"], "M8[ns]"), TypeError),
    ("flags", [None], TypeError), ("flags", [2], ValueError), ("flags", {}, TypeError), ("large", [-1], ValueError),
    # Texts are no lists, although Python iterates over their letters.
    ("names", "abc", TypeError), ("names", b"abc", TypeError), ("names", {"a": 1}, TypeError), ("names", [5], TypeError),
    ("point", None, TypeError), ("point", [1, 2, 3], TypeError),
    ("points", [None], TypeError), ("points", {"x": 1}, TypeError), ("points", "", TypeError),
], ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_value_that_does_not_fit_is_an_error_that_names_its_field(kind, field, value, error):
    with pytest.raises(error, match=f"^{field}"):
        kind.encode({field: value})


def test_values_that_fit_are_taken_as_they_are(kind):
    message = {
        "flag": np.bool_(True), "raw": b"\xff", "single": 0.5, "numbers": (1, -2), "singles": [1, 2.5],
        "doubles": range(3), "flags": [True, 0], "large": [2**63 + 1, 1], "names": np.array(["x"]),
        "points": [{"x": 1}, timeloom.Message(POINT, {"x": 2.0, "y": 0.0, "z": 0.0})],
    }
    again = kind.decode(kind.encode(message))
    assert (again.flag, again.raw, again.single) == (True, 255, 0.5)
    assert (again.numbers.tolist(), again.singles.tolist()) == ([1, -2], [1.0, 2.5])
    assert (again.doubles.tolist(), again.flags.tolist()) == ([0, 1, 2], [True, False])
    assert (again.large.tolist(), again.names) == ([2**63 + 1, 1], ["x"])
    assert [point.x for point in again.points] == [1.0, 2.0]
    assert math.isinf(kind.decode(kind.encode({"single": math.inf})).single)
    assert kind.decode(bytearray(kind.encode({"small": 7}))).small == 7
    with pytest.raises(TypeError, match="a payload is bytes"):
        kind.decode("x")


@pytest.mark.parametrize(("field", "error", "text"), [
    ("speed", timeloom.UnknownField, "has no field speed\nhint: the fields are header, orientation,"),
    ("header.x", timeloom.UnknownField, "hint: the fields are stamp, frame_id"),
    ("header.frame_id", timeloom.SyncError, "neither a stamp nor a number"),
    ("orientation_covariance", timeloom.SyncError, "neither a stamp nor a number"),
])
@pytest.mark.parametrize("argument", ["field", "host_field"])
def test_a_field_that_is_no_time_is_an_error_of_the_argument(bag, argument, field, error, text):
    for strict in (True, False):
        with pytest.raises(error, match=text) as raised:
            timeloom.sync_fit(bag, "/imu/data", **{argument: field}, strict=strict)
        assert isinstance(raised.value, (KeyError, ValueError))


def test_a_counter_that_cannot_be_is_an_error_of_the_argument(bag):
    for wrong in ({"ticks_per_second": 0}, {"counter_bits": 0}, {"counter_bits": 65}):
        with pytest.raises(timeloom.SyncError, match="invalid clock"):
            timeloom.sync_fit(bag, "/imu/data", "header.stamp.nanosec", **wrong)
    with pytest.raises(ValueError, match="counter_bits: -1 is out of range"):
        timeloom.sync_fit(bag, "/imu/data", counter_bits=-1)


@pytest.mark.parametrize("time", [
    2**63, -(2**63) - 1, "+inf", "+1e300", "9999-01-01T00:00:00Z", np.datetime64("9999"), np.datetime64("NaT"),
    datetime.datetime(9999, 1, 1, tzinfo=datetime.timezone.utc),
], ids=repr)
def test_a_time_out_of_range_is_a_value_error(bag, time):
    with pytest.raises(ValueError, match="is no time|is out of range"):
        bag.messages(start=time)
    with pytest.raises(ValueError, match="is no time|is out of range"):
        bag["/imu/data"].to_numpy(end=time)


@pytest.mark.parametrize("time", [True, 1.5, np.float64(1.5), b"x", [], object()], ids=repr)
def test_a_time_of_another_type_is_a_type_error(bag, time):
    with pytest.raises(TypeError, match="a time is nanoseconds"):
        bag.time(time)


def test_times_keep_their_nanoseconds(bag):
    nanos = 1794733134_123456789
    assert bag.time("2026-11-15T08:58:54.123456789Z") == nanos
    assert bag.time("2026-11-15T09:58:54.123456789+01:00") == nanos
    assert bag.time("2026-11-15T08:58:54.5Z") == 1794733134_500000000
    assert bag.time(np.datetime64(nanos, "ns")) == bag.time(np.int64(nanos)) == nanos
    pandas = pytest.importorskip("pandas")
    assert bag.time(pandas.Timestamp(nanos, tz="UTC")) == nanos


def test_a_name_is_no_list_of_names(bag):
    for wrong in (
        lambda: timeloom.align(bag, "/fix", "/imu/data"), lambda: timeloom.trace(bag, "/imu/data"),
        lambda: timeloom.trace(bag, from_="/imu/data"), lambda: timeloom.trace(bag, ignore="/imu/data"),
        lambda: timeloom.Player(bag, "/chatter"), lambda: timeloom.Player(bag, clock_topics="/chatter"),
        lambda: bag.messages("/imu/data"), lambda: bag["/imu/data"].to_numpy("header"),
    ):
        with pytest.raises(TypeError, match="is a list of names"):
            wrong()


def test_something_else_than_a_bag_is_a_type_error():
    for wrong in (None, 5, b"x", object()):
        with pytest.raises(TypeError, match="a bag is opened by its path"):
            timeloom.open(wrong)
        with pytest.raises(TypeError, match="a bag is opened by its path"):
            timeloom.AnyReader(wrong)
    for call in (lambda bag: timeloom.align(bag, "/a", []), lambda bag: timeloom.sync_fit(bag, "/a"), timeloom.trace):
        with pytest.raises(TypeError, match="bag is an open bag, as of timeloom.open"):
            call("my_bag")


def test_a_tolerance_is_a_duration(bag):
    for wrong in (-1, math.nan, math.inf, 1e300, datetime.timedelta(seconds=-1), datetime.timedelta.max):
        with pytest.raises(ValueError, match="tolerance is .* must be a number of seconds from 0"):
            timeloom.align(bag, "/fix", ["/imu/data"], tolerance=wrong)
    with pytest.raises(TypeError, match="tolerance is a number of seconds"):
        timeloom.align(bag, "/fix", ["/imu/data"], tolerance="1")


def test_connections_of_another_reader_are_refused(bags):
    with timeloom.AnyReader(bags / "mcap_plain") as reader, timeloom.AnyReader(bags / "mcap_plain") as same:
        first = same.connections[0]
        assert len(list(reader.messages([first]))) == first.msgcount
        foreign = timeloom.Connection(id=999, topic="/x", msgtype="y", msgdef="", digest="", msgcount=5)
        with pytest.raises(timeloom.ReaderError, match="no connection 999 of topic /x"):
            next(reader.messages([foreign]))
        with pytest.raises(TypeError, match="connections are those of the attribute"):
            next(reader.messages(["/imu/data"]))
        with pytest.raises(ValueError, match="out of range for a time"):
            next(reader.messages(start=2**63))


def test_a_bag_is_written_to_a_folder_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for make in (timeloom.Writer, timeloom.Recorder):
        with pytest.raises(ValueError, match="is empty"):
            make("")
        with pytest.raises(ValueError, match="timeloom upload"):
            make("s3://bucket/bag")
    assert not list(tmp_path.iterdir())


def test_arguments_of_a_writer_are_checked(tmp_path):
    for wrong, error, text in [
        ({"max_file_duration": -1}, ValueError, "max_file_duration is -1"),
        ({"max_file_duration": math.inf}, ValueError, "max_file_duration is inf"),
        ({"max_file_duration": "1"}, TypeError, "max_file_duration is a number of seconds"),
        ({"custom_data": 5}, TypeError, "custom_data is a dict"),
    ]:
        with pytest.raises(error, match=text):
            timeloom.Writer(tmp_path / "none", **wrong)
    assert not (tmp_path / "none").exists()
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/p", POINT)
        for depth in (-1, "many", None, 1.5):
            with pytest.raises(ValueError, match="depth of qos is a number"):
                writer.add_topic("/q", POINT, qos={"depth": depth})
        with pytest.raises(TypeError, match="qos is a dict"):
            writer.add_topic("/q", POINT, qos=5)
        with pytest.raises(ValueError, match="name of a topic is empty"):
            writer.add_topic("", POINT)
        with pytest.raises(TypeError, match="definition is the text of a type"):
            writer.add_topic("/q", timeloom.MessageType(POINT), definition="int8 a")
        with pytest.raises(ValueError, match="9223372036854775808 is out of range for a time"):
            writer.write("/p", {}, 2**63)
        with pytest.raises(ValueError, match="-1 is out of range for a sequence number"):
            writer.write("/p", {}, 1, 1, -1)
    assert timeloom.open(tmp_path / "bag").message_count == 0
    with pytest.raises(ValueError, match="encoding is one of ros2msg, ros2idl"):
        timeloom.MessageType("demo/msg/Own", "int8 a", "text")


@pytest.mark.parametrize(("wrong", "error", "text"), [
    ({"max_file_size": -1}, ValueError, "max_file_size: -1 is out of range"),
    ({"storage": None}, TypeError, "storage: "), ({"throttle": {"/x": "a"}}, TypeError, "throttle: "),
    ({"throttle": 5}, TypeError, "throttle is a dict"), ({"remap": "x"}, TypeError, "remap is a dict"),
    ({"domain": -1}, ValueError, "domain: -1 is out of range"), ({"node_name": 5}, TypeError, "node_name: "),
    ({"topics": [5]}, TypeError, "topics: "), ({"snapshot_mode": None}, TypeError, "snapshot_mode: "),
], ids=repr)
def test_errors_of_a_recorder_name_the_argument(tmp_path, domain, wrong, error, text):
    with pytest.raises(error, match=text):
        timeloom.Recorder(tmp_path / "bag", **{"domain": domain, "localhost": True, **wrong}).start()
    assert not (tmp_path / "bag").exists()


def test_errors_of_a_player_name_the_argument(bag, domain):
    for wrong, error, text in [
        ({"rate": "x"}, TypeError, "rate: "), ({"read_ahead": -1}, ValueError, "read_ahead: -1 is out of range"),
        ({"pace_tolerance": -1}, ValueError, "pace_tolerance is -1"),
        ({"max_clock_step": math.nan}, ValueError, "max_clock_step is NaN"),
        ({"loop_range": (1,)}, TypeError, "loop_range is a start and an end"),
        ({"loop_range": ("+1", None)}, TypeError, "loop_range is a start and an end"),
    ]:
        with pytest.raises(error, match=text):
            timeloom.Player(bag, **{"domain": domain, "localhost": True, **wrong}).start()


def test_counters_and_times_of_a_sensor_are_checked():
    clock = timeloom.SensorClock()
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match="is out of range for a counter"):
            clock.push(wrong, 0)
        with pytest.raises(ValueError, match="is out of range for a counter"):
            clock.convert(wrong)
    with pytest.raises(ValueError, match="is out of range for a time"):
        clock.push(0, 2**63)
    with pytest.raises(ValueError, match="is out of range for a time"):
        timeloom.system_from_steady(2**63)
    with pytest.raises(ValueError, match="ticks_per_second: -1 is out of range"):
        timeloom.SensorClock(ticks_per_second=-1)
    with timeloom.Clock() as real, pytest.raises(ValueError, match="is out of range for a time"):
        real.sleep_until(2**63)
