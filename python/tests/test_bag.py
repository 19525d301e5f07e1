"""Bags, topics and messages."""

import collections
import copy
import ctypes
import pickle
import threading

import numpy as np
import pytest

import timeloom


def test_a_bag_knows_its_topics(bag):
    imu = bag["/imu/data"]
    assert (imu.type, imu.count, len(imu)) == ("sensor_msgs/msg/Imu", 207, 207)
    assert bag.message_count == sum(topic.count for topic in bag.topics) > 207
    assert bag.duration > 0
    assert "/imu/data" in bag
    assert "float64 x" in imu.definition
    assert imu.message_type.name == imu.type
    assert imu.message_type.hash.startswith("RIHS01_")


def test_an_unknown_topic_is_a_key_error_that_lists_the_topics(bag):
    with pytest.raises(timeloom.UnknownTopic, match="no topic /imu\nhint: the topics are .*/chatter"):
        bag["/imu"]
    assert issubclass(timeloom.UnknownTopic, KeyError)
    assert bag.get("/imu") is None


def test_wrong_arguments_are_errors_of_python(bag, tmp_path):
    with pytest.raises(FileNotFoundError, match="hint: a bag is a directory") as error:
        timeloom.open(tmp_path / "nothing")
    assert isinstance(error.value, timeloom.ReaderError)
    with pytest.raises(TypeError, match="topics is a list of names"):
        bag.messages("/imu/data")
    with pytest.raises(TypeError, match="not 1.5"):
        bag.messages(start=1.5)
    for wrong in ("soon", "+soon", "-1"):
        with pytest.raises(ValueError, match="is no time"):
            bag.time(wrong)


def test_messages_come_in_the_order_of_time(bag):
    every = list(bag.messages())
    assert len(every) == bag.message_count
    times = [message.log_time for message in every]
    assert times == sorted(times)
    assert {message.topic for message in every} == {topic.name for topic in bag.topics if topic.count}


def test_a_slice_has_its_start_and_not_its_end(bag):
    times = [message.log_time for message in bag["/imu/data"]]
    part = [message.log_time for message in bag["/imu/data"].messages(start=times[10], end=times[20])]
    assert part == times[10:20]
    first = [message.log_time for message in bag["/imu/data"].messages(end="+1")]
    assert first == [time for time in times if time < bag.start_time + 10**9]
    stamp = np.datetime64(times[10], "ns")
    assert bag.time(stamp) == times[10]
    assert bag.time("2026-11-15T08:58:54Z") == 1794733134 * 10**9
    with pytest.raises(ValueError, match="no time zone"):
        bag.time("2026-11-15T08:58:54")


def test_several_bags_are_read_as_one(bags):
    one, other = timeloom.open(bags / "mcap_plain"), timeloom.open(bags / "sqlite3_plain")
    both = timeloom.open([bags / "mcap_plain", bags / "sqlite3_plain"])
    assert both.message_count == one.message_count + other.message_count
    assert len(both["/imu/data"].to_numpy([])["log_time"]) == one["/imu/data"].count + other["/imu/data"].count


def test_arrays_are_views_of_the_payload(bag):
    scan = next(iter(bag["/scan"])).value
    assert isinstance(scan.ranges, np.ndarray)
    assert scan.ranges.dtype == np.float32
    assert scan.ranges is scan.ranges
    assert scan.ranges.flags.aligned
    assert not scan.ranges.flags.owndata
    assert not scan.ranges.flags.writeable
    imu = next(iter(bag["/imu/data"])).value
    assert imu.orientation_covariance.flags.aligned


def test_messages_can_be_changed_copied_and_pickled(bag):
    message = next(iter(bag["/imu/data"])).value
    again = pickle.loads(pickle.dumps(message))
    assert again == message
    assert again.header.frame_id == message.header.frame_id
    changed = copy.copy(message)
    changed.header = copy.copy(message.header)
    changed.header.frame_id = "other"
    assert changed != message
    assert changed.header.frame_id == "other"
    with pytest.raises(AttributeError, match="has no field nothing"):
        message.nothing  # noqa: B018
    assert "linear_acceleration" in dir(message)
    assert "frame_id" in repr(message)


def test_damage_is_an_error_after_all_that_can_be_read(cut_bag):
    bag = timeloom.open(cut_bag)
    assert bag.damage
    left = list(bag.messages(strict=False))
    assert left
    seen = []
    with pytest.raises(timeloom.DataLost):
        seen.extend(message.log_time for message in bag.messages())
    with pytest.raises(timeloom.DataLost, match="strict=False"):
        bag["/imu/data"].to_numpy()
    assert len(bag["/imu/data"].to_numpy(strict=False)["log_time"]) > 0


def test_iterators_of_one_bag_run_in_several_threads(bag):
    counts = []

    def read():
        counts.append(sum(1 for _ in bag.messages()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [bag.message_count] * 4


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_read_in_the_middle(bags):
    # More than is read in one go.
    names = ["mcap_plain", "mcap_msg_zstd", "mcap_zstd_fast", "sqlite3_plain"]
    stream = timeloom.open([bags / name for name in names])._native.messages(None, None, None)
    interrupt = ctypes.pythonapi.PyErr_SetInterrupt
    # All of this runs in C, where only the stream itself can notice the signal.
    with pytest.raises(KeyboardInterrupt):
        collections.deque(map(without_python_code(interrupt), stream), maxlen=0)
    assert next(stream)


def without_python_code(function):
    """A function that takes and ignores one argument, without code in Python."""
    function.argtypes = [ctypes.py_object]
    return function


def test_a_notebook_shows_a_table(bag):
    html = bag._repr_html_()
    assert "<td>/imu/data</td>" in html
    assert "sensor_msgs/msg/Imu" in html


def test_bags_on_a_web_server(bags):
    import functools
    import http.server

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments):
            pass

        def send_head(self):
            # Ranges, which the server of the standard library does not have.
            wanted = self.headers.get("Range")
            if not wanted:
                return super().send_head()
            import io
            from pathlib import Path

            data = Path(self.translate_path(self.path)).read_bytes()
            start, _, stop = wanted[len("bytes="):].partition("-")
            begin = int(start) if start else len(data) - int(stop)
            end = min(int(stop), len(data) - 1) if start and stop else len(data) - 1
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end}/{len(data)}")
            self.send_header("Content-Length", str(end - begin + 1))
            self.end_headers()
            return io.BytesIO(data[begin:end + 1])

    handler = functools.partial(Quiet, directory=str(bags))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (file,) = (bags / "mcap_plain").glob("*.mcap")
        address = f"http://127.0.0.1:{server.server_port}/mcap_plain/{file.name}"
        remote = timeloom.open(address)
        assert remote["/imu/data"].count == 207
        assert len(remote["/imu/data"].to_numpy()["log_time"]) == 207
        server.shutdown()


def test_fields_are_found_by_names_that_are_put_together(bag):
    message = next(iter(bag["/imu/data"])).value
    name = "".join(["linear_", "acceleration"])
    assert getattr(message, name) is message.linear_acceleration
    setattr(message, name, 5)
    assert message.linear_acceleration == 5
    with pytest.raises(AttributeError, match="has no field speed"):
        message.speed
    with pytest.raises(AttributeError, match="has no field speed"):
        message.speed = 1
    assert message.to_dict()["linear_acceleration"] == 5


def test_a_message_is_a_named_tuple(bag):
    message = next(bag.messages(["/imu/data"]))
    topic, log_time, _publish_time, value = message
    assert isinstance(message, timeloom.RecordedMessage)
    assert (topic, log_time) == (message.topic, message.log_time) == ("/imu/data", message[1])
    assert value is message.value
