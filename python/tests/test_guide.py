"""The examples of docs/python.md, run as they are written there."""

import re
from pathlib import Path

import numpy as np
import pytest

import timeloom

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"
SECOND = 1_000_000_000


def examples():
    """The code of each section, by its heading."""
    sections = re.split(r"^## ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for section in sections[1:]:
        title, _, text = section.partition("\n")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
        if code:
            found[title] = code
    return found


EXAMPLES = examples()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the bag that the examples read: 30 seconds of a robot."""
    folder = tmp_path_factory.mktemp("guide")
    topics = {
        "/imu/data": "sensor_msgs/msg/Imu", "/odom": "nav_msgs/msg/Odometry", "/scan": "sensor_msgs/msg/LaserScan",
        "/camera/image_raw": "sensor_msgs/msg/Image", "/control/command": "geometry_msgs/msg/TwistStamped",
    }
    with timeloom.Writer(folder / "my_bag") as writer:
        for name, message_type in topics.items():
            writer.add_topic(name, message_type)
        for number in range(300):
            stamp = {"sec": 1_700_000_000 + number // 10, "nanosec": number % 10 * 100_000_000}
            time = (1_700_000_000 + number // 10) * SECOND + number % 10 * 100_000_000
            for place, name in enumerate(topics):
                message = {"header": {"stamp": stamp, "frame_id": "base"}}
                if name == "/scan":
                    message["ranges"] = np.linspace(0, 5, 20, dtype=np.float32)
                writer.write(name, message, time + (place + 1) * 1_000_000)
    return folder


def run(code, folder, monkeypatch, **names):
    """Runs an example in a folder."""
    monkeypatch.chdir(folder)
    names = {"timeloom": timeloom, **names}
    exec(compile(code, str(GUIDE), "exec"), names)  # noqa: S102 - our own text
    return names


def test_the_guide_has_examples():
    titles = {"A bag", "Columns", "Messages", "Align", "Write", "Record and play", "Clocks", "Sensor time and lineage",
              "From rosbags"}
    assert titles == set(EXAMPLES)


@pytest.mark.parametrize("title", ["A bag", "Columns", "Messages", "Align", "Sensor time and lineage", "From rosbags"])
def test_examples_that_read_a_bag(title, folder, monkeypatch):
    for module in ("pyarrow", "pandas", "polars", "duckdb"):
        pytest.importorskip(module)
    import duckdb
    import polars

    bag = timeloom.open(folder / "my_bag")
    found = run(EXAMPLES[title], folder, monkeypatch, bag=bag, polars=polars, duckdb=duckdb)
    if title == "Columns":
        assert found["frame"].height == 300
        assert found["table"].num_rows == 100
    if title == "Align":
        assert found["table"].num_rows == 300


def test_the_example_that_writes_a_bag(tmp_path, monkeypatch):
    run(EXAMPLES["Write"], tmp_path, monkeypatch)
    assert next(iter(timeloom.open(tmp_path / "new_bag")["/own"])).value.speed.tolist() == [1, 2, 3]


@pytest.fixture
def network(domain, monkeypatch):
    """The domain of the tests, on 127.0.0.1, by the variables of ROS."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


@pytest.mark.usefixtures("network")
def test_the_example_that_records_and_plays(folder, tmp_path, monkeypatch, capsys):
    record, play = EXAMPLES["Record and play"].split("\nwith timeloom.Player")
    # Nothing is published: not ten seconds of it.
    run(record.replace("wait(10)", "wait(0.1)"), tmp_path, monkeypatch)
    assert timeloom.open(tmp_path / "my_bag").message_count == 0
    run("with timeloom.Player" + play.replace("rate=2.0", "rate=50.0"), folder, monkeypatch)
    played, lost = map(int, capsys.readouterr().out.splitlines()[-1].split())
    assert played > 500
    assert lost == 0


@pytest.mark.usefixtures("network")
def test_the_example_of_a_clock(folder, tmp_path, monkeypatch, capsys):
    with timeloom.Player(folder / "my_bag", ["/odom"], rate=5.0, clock=100, node_name="simulator"):
        run(EXAMPLES["Clocks"], tmp_path, monkeypatch)
    assert capsys.readouterr().out
