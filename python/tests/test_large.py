"""Large arrays of bytes: views of the file, or copied once."""

import numpy as np
import pytest

import timeloom

SIZE = 300_000


def image(number):
    # Numbers that compress, so that a preset has something to do.
    return np.full(SIZE + number, number, dtype=np.uint8)


def write(path, **options):
    with timeloom.Writer(path, **options) as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        writer.add_topic("/small", "std_msgs/msg/String")
        for number in range(20):
            message = {"header": {"frame_id": f"camera{number}"}, "width": number, "data": image(number)}
            writer.write("/image", message, number * 10)
            writer.write("/small", {"data": "x"}, number * 10 + 1)
    return timeloom.open(path)


STORAGES = {
    "plain": {}, "chunks": {"preset": "zstd_fast"}, "messages": {"compression": "message"},
    "file": {"compression": "file"}, "sqlite3": {"storage": "sqlite3"}, "splits": {"max_file_size": 1_000_000},
}


@pytest.mark.parametrize("options", STORAGES.values(), ids=STORAGES)
def test_arrays_are_those_that_were_written(tmp_path, options):
    bag = write(tmp_path / "bag", **options)
    columns = bag["/image"].to_numpy()
    assert list(columns)[:3] == ["log_time", "publish_time", "header.stamp"]
    assert list(columns)[-1] == "data"
    assert list(columns["width"]) == list(range(20))
    assert columns["header.frame_id"][7] == "camera7"
    for number, data in enumerate(columns["data"]):
        assert np.array_equal(data, image(number))
    only = bag["/image"].to_numpy(["data"], start=50, end=100)
    assert [len(data) for data in only["data"]] == [SIZE + number for number in range(5, 10)]
    messages = [message.value.data for message in bag["/image"]]
    assert all(np.array_equal(*pair) for pair in zip(messages, columns["data"]))


def test_views_of_a_file_share_its_memory_and_cannot_be_changed(tmp_path):
    columns = write(tmp_path / "bag")["/image"].to_numpy(["data"])
    first, second = columns["data"][:2]
    assert first.base is not None
    assert not first.flags.writeable
    # One mapping of the file: the second image lies behind the first.
    distance = second.__array_interface__["data"][0] - first.__array_interface__["data"][0]
    assert SIZE < distance < 2 * SIZE
    # The views keep the mapping, also when the file is gone.
    for file in (tmp_path / "bag").iterdir():
        file.unlink()
    assert second.sum() == SIZE + 1


def test_damage_is_reported_for_large_messages(tmp_path):
    bag = write(tmp_path / "bag")
    (file,) = (tmp_path / "bag").glob("*.mcap")
    data = bytearray(file.read_bytes())
    # In the middle of an image: only its checksum shows it.
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(timeloom.DataLost, match="crc"):
        bag["/image"].to_numpy(["data"])
    left = bag["/image"].to_numpy(["data"], strict=False)["data"]
    assert 0 < len(left) < 20


def test_messages_that_cannot_be_decoded_are_left_out(tmp_path):
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        payload = timeloom.MessageType("sensor_msgs/msg/Image").encode({"data": image(3)})
        writer.write("/image", payload, 0)
        writer.write("/image", payload[:-1000], 1)
        writer.write("/image", payload, 2)
    topic = timeloom.open(tmp_path / "bag")["/image"]
    with pytest.raises(timeloom.DataLost, match="1 message of /image could not be decoded"):
        topic.to_numpy()
    columns = topic.to_numpy(strict=False)
    assert [len(column) for column in columns.values()] == [2] * len(columns)
    assert list(columns["log_time"].astype("i8")) == [0, 2]


def test_a_large_bag_is_read_in_slices_and_comes_back_in_order(tmp_path):
    # Larger than what one thread reads alone. Many messages have the same time, where slices begin as well.
    count, size = 50, 800_000
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        writer.add_topic("/number", "std_msgs/msg/Int64")
        for number in range(count):
            writer.write("/image", {"data": np.full(size, number, dtype=np.uint8)}, number // 3 * 1000)
            for part in range(20):
                writer.write("/number", {"data": number * 20 + part}, number // 3 * 1000)
    bag = timeloom.open(tmp_path / "bag")
    assert bag.size > 32 << 20
    columns = bag["/image"].to_numpy(["data", "width"])
    assert [int(data[0]) for data in columns["data"]] == list(range(count))
    assert all(len(data) == size for data in columns["data"])
    assert list(columns["log_time"].astype("i8")) == [number // 3 * 1000 for number in range(count)]
    assert list(bag["/number"].to_numpy()["data"]) == list(range(20 * count))
    part = bag["/number"].to_numpy(start=3000, end=9000)
    assert list(part["data"]) == list(range(20 * 9, 20 * 27))
    # Damage that two slices meet is reported once.
    (file,) = (tmp_path / "bag").glob("*.mcap")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(timeloom.DataLost) as error:
        bag["/image"].to_numpy(["data"])
    assert str(error.value).count("crc") == 1
    left = bag["/image"].to_numpy(["data"], strict=False)["data"]
    assert count - 4 < len(left) < count
