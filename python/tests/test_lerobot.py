"""examples/python/lerobot_dataset.py: from bags to a dataset of LeRobot, and back."""

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import timeloom

EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "lerobot_dataset.py"
START = 1_700_000_000_000_000_000
FPS = 20
PERIOD = 1_000_000_000 // FPS
HEIGHT, WIDTH = 80, 96
COUNT = 12
JOINTS = ["shoulder", "elbow", "gripper"]


def picture(number, episode, kind):
    """A picture with a bright bar that moves, in a colour of its own for each camera and episode."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    pixels[..., 0] = np.linspace(0, 120, WIDTH, dtype=np.uint8)
    pixels[:, 8 * number : 8 * number + 8, 1] = 250
    pixels[: HEIGHT // 2, :, 2] = 60 * (episode + 1) + (100 if kind == "wrist" else 0)
    return pixels


def positions(number):
    return [0.1 * number, -0.25 * number, 1.0 / 3.0 + number]


def image(pixels, encoding):
    """A message of sensor_msgs/Image whose rows are longer than its pixels."""
    order = {"rgb8": [0, 1, 2], "bgr8": [2, 1, 0]}[encoding]
    rows = np.full((HEIGHT, WIDTH * 3 + 8), 77, dtype=np.uint8)
    rows[:, : WIDTH * 3] = pixels[..., order].reshape(HEIGHT, -1)
    return {"height": HEIGHT, "width": WIDTH, "encoding": encoding, "step": rows.shape[1], "data": rows.reshape(-1)}


def png(pixels):
    pillow = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pillow.fromarray(pixels).save(file, "PNG")
    return {"format": "bgr8; png compressed bgr8", "data": file.getvalue()}


def write_bag(path, episode, *, preset="", joints_until=COUNT, without_wrist=()):
    """A robot with two cameras, one of them compressed, joints at five times the rate, and the joints of its leader."""
    with timeloom.Writer(path, preset=preset) as writer:
        writer.add_topic("/front/image_raw", "sensor_msgs/msg/Image")
        writer.add_topic("/wrist/image_raw/compressed", "sensor_msgs/msg/CompressedImage")
        writer.add_topic("/joint_states", "sensor_msgs/msg/JointState")
        writer.add_topic("/leader/joint_states", "sensor_msgs/msg/JointState")
        for number in range(COUNT):
            time = START + episode * 60_000_000_000 + number * PERIOD
            for part in range(5 if number < joints_until else 0):
                # In another order with every message; nearest to the image is part 0.
                names = JOINTS[part % 3 :] + JOINTS[: part % 3]
                values = dict(zip(JOINTS, positions(number + part / 10)))
                joints = {"name": names, "position": [values[name] for name in names]}
                writer.write("/joint_states", joints, time + part * PERIOD // 5 + 1000)
            leader = {"name": JOINTS, "position": [10 + value for value in positions(number)]}
            writer.write("/leader/joint_states", leader, time + 2000)
            writer.write("/front/image_raw", image(picture(number, episode, "front"), "bgr8"), time + 3000)
            if number not in without_wrist:
                wrist = png(picture(number, episode, "wrist"))
                writer.write("/wrist/image_raw/compressed", wrist, time + 4_000_000)
    return path


@pytest.fixture(scope="module")
def bags_of_a_robot(tmp_path_factory):
    """Two episodes; the second is compressed, without joints at its end and without one image of the wrist."""
    folder = tmp_path_factory.mktemp("lerobot")
    first = write_bag(folder / "first", 0)
    return [first, write_bag(folder / "second", 1, preset="zstd_fast", joints_until=9, without_wrist=[4])]


@pytest.fixture(scope="module")
def example():
    """The example as a module."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("PIL")
    spec = importlib.util.spec_from_file_location("lerobot_dataset", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def line(bags, output, *more):
    return [
        *map(str, bags), "--output", str(output), "--fps", str(FPS), "--task", "Pick the cube",
        "--camera", "front=/front/image_raw", "--camera", "wrist=/wrist/image_raw/compressed",
        "--joints", "/joint_states", "--action", "/leader/joint_states", *more,
    ]


def run(arguments, folder):
    """Runs the example as a program that cannot ask the network, with all caches in a folder."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "HF_DATASETS_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, env=environment, check=False,
    )


def frames(example, bags, *more):
    """The frames of all episodes, before LeRobot has them."""
    options = example.arguments(line(bags, "out", *more))
    episodes = [example.aligned(str(bag), options) for bag in bags]
    layout = example.layout_of(episodes[0])
    found = []
    for episode in episodes:
        example.select_rows(episode, layout)
        found.append(list(example.frames(episode, layout)))
    return found


def test_frames_have_the_nearest_joints_and_the_images_of_their_time(example, bags_of_a_robot, capsys):
    first, second = frames(example, bags_of_a_robot)
    assert [len(first), len(second)] == [COUNT, 9]
    for number, frame in enumerate(first):
        assert frame["bag_time"].tolist() == [START + number * PERIOD + 3000]
        np.testing.assert_array_equal(frame["observation.state"], np.float32(positions(number)))
        np.testing.assert_array_equal(frame["action"], np.float32([10 + value for value in positions(number)]))
        np.testing.assert_array_equal(frame["observation.images.front"], picture(number, 0, "front"))
        np.testing.assert_array_equal(frame["observation.images.wrist"], picture(number, 0, "wrist"))
    numbers = [0, 1, 2, 3, 5, 6, 7, 8, 9]
    for number, frame in zip(numbers, second):
        np.testing.assert_array_equal(frame["observation.images.wrist"], picture(number, 1, "wrist"))
    said = capsys.readouterr().out
    assert f"{bags_of_a_robot[0]}: 12 of 12 images of /front/image_raw are frames" in said
    assert f"{bags_of_a_robot[1]}: 9 of 12 images of /front/image_raw are frames" in said
    assert "2 left out: no message of /joint_states within 25 ms" in said
    assert "1 left out: no image of /wrist/image_raw/compressed within 25 ms" in said
    assert "gaps between frames: 1, the longest 0.1 s" in said


def test_the_previous_image_may_be_used_twice(example, bags_of_a_robot):
    (first, _) = frames(example, bags_of_a_robot, "--method", "previous", "--tolerance", "0.2")
    # The image of the wrist is 4 ms later than that of the front: the first has none.
    assert len(first) == COUNT - 1
    np.testing.assert_array_equal(first[0]["observation.images.wrist"], picture(0, 0, "wrist"))
    _, second = frames(example, bags_of_a_robot, "--method", "previous", "--tolerance", "0.2")
    shown = [frame["observation.images.wrist"] for frame in second]
    np.testing.assert_array_equal(shown[3], picture(3, 1, "wrist"))
    np.testing.assert_array_equal(shown[4], picture(3, 1, "wrist"))
    np.testing.assert_array_equal(shown[5], picture(5, 1, "wrist"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--fps", "30"], "/front/image_raw has 20 images per second, --fps is 30\nhint: --fps 20"),
        (["--joints", "/nothing"], "the bag has no topic /nothing"),
        (["--joints", "/front/image_raw"], "is a sensor_msgs/msg/Image, expected sensor_msgs/msg/JointState"),
        (["--camera", "/joint_states"], "is a sensor_msgs/msg/JointState, expected sensor_msgs/msg/Image or"),
        (["--tolerance", "1e-7"], "has no frame"),
    ],
)
def test_what_cannot_be_a_dataset_is_an_error(example, bags_of_a_robot, tmp_path, change, said):
    options = example.arguments(line(bags_of_a_robot, tmp_path / "out", *change))
    with pytest.raises((example.Problem, timeloom.ReaderError)) as caught:
        example.convert(options)
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_images_that_cannot_be_read_are_errors(example):
    types = {name: timeloom.MessageType(f"sensor_msgs/msg/{name}") for name in ("Image", "CompressedImage")}

    def pixels(name, values):
        value = types[name].decode(types[name].encode(values))
        message = timeloom.RecordedMessage("/camera", 5, 5, value)
        return example.pixels(message, f"sensor_msgs/msg/{name}")

    grey = {"height": 2, "width": 2, "encoding": "mono8", "step": 2, "data": [1, 2, 3, 4]}
    assert pixels("Image", grey)[1].tolist() == [[3, 3, 3], [4, 4, 4]]
    for change, said in [
        ({"encoding": "16UC1"}, "the image of /camera at 5 is encoded as '16UC1', expected rgb8"),
        ({"data": [1, 2, 3]}, "has 3 bytes, which does not fit its size: 2×2 mono8, 2 bytes a row"),
        ({"step": 1}, "does not fit"), ({"height": 0, "data": []}, "does not fit"),
    ]:
        with pytest.raises(example.Problem, match=said):
            pixels("Image", {**grey, **change})
    with pytest.raises(example.Problem, match="'jpeg'.*cannot be decompressed"):
        pixels("CompressedImage", {"format": "jpeg", "data": b"no picture"})


def test_arguments_that_make_no_sense_are_refused(example, capsys):
    for wrong in (["--fps", "0"], ["--camera", "a/b=/c"], ["--camera", "front=/other"]):
        with pytest.raises(SystemExit):
            example.arguments(line(["bag"], "out", *wrong))
    assert "two cameras have the name observation.images.front" in capsys.readouterr().err


def test_without_lerobot_the_error_says_what_to_install(example, bags_of_a_robot, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lerobot", None)
    monkeypatch.setitem(sys.modules, "lerobot.datasets.lerobot_dataset", None)
    with pytest.raises(example.Problem, match="pip install"):
        example.convert(example.arguments(line(bags_of_a_robot, tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def lerobot_dataset():
    """The class of LeRobot, where it is installed."""
    return pytest.importorskip("lerobot.datasets.lerobot_dataset", reason="lerobot[dataset] is not installed").LeRobotDataset


def pixels_of(tensor):
    """Height × width × channels, from 0 to 255."""
    return np.rint(tensor.numpy().transpose(1, 2, 0) * 255).astype(int)


def test_images_come_back_from_lerobot_without_a_difference(lerobot_dataset, example, bags_of_a_robot, tmp_path):
    output = tmp_path / "pick_cube"
    done = run(line(bags_of_a_robot, output, "--images"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "episodes 2, frames 21; compared with the bags: all equal\n" in done.stdout
    dataset = lerobot_dataset("local/pick_cube", root=output, video_backend="pyav")
    assert (dataset.num_episodes, len(dataset), dataset.fps) == (2, 21, FPS)
    assert dataset.meta.features["observation.state"]["names"] == JOINTS
    expected = [frame for episode in frames(example, bags_of_a_robot) for frame in episode]
    for frame, found in zip(expected, dataset):
        assert found["task"] == "Pick the cube"
        assert found["bag_time"].item() == frame["bag_time"][0]
        for key in ("observation.state", "action"):
            np.testing.assert_array_equal(found[key].numpy(), frame[key])
        for key in ("observation.images.front", "observation.images.wrist"):
            np.testing.assert_array_equal(pixels_of(found[key]), frame[key])
    assert [frame["episode_index"].item() for frame in dataset] == [0] * 12 + [1] * 9
    assert list(tmp_path.glob(".pick_cube*")) == []


def test_each_frame_of_a_video_is_the_one_of_the_bag(lerobot_dataset, example, bags_of_a_robot, tmp_path):
    output = tmp_path / "videos"
    done = run(line(bags_of_a_robot, output), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    dataset = lerobot_dataset("local/videos", root=output, video_backend="pyav")
    expected = [frame for episode in frames(example, bags_of_a_robot) for frame in episode]
    for key in ("observation.images.front", "observation.images.wrist"):
        shown = [pixels_of(frame[key]) for frame in dataset]
        for number, picture_shown in enumerate(shown):
            distances = [np.abs(picture_shown - frame[key]).mean() for frame in expected]
            assert int(np.argmin(distances)) == number
            assert distances[number] < 12
    again = run(line(bags_of_a_robot, output), tmp_path)
    assert again.returncode == 1
    assert f"error: {output} is there already" in again.stderr


def test_a_dataset_that_differs_from_the_bag_is_not_left_behind(lerobot_dataset, example, bags_of_a_robot, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    real = lerobot_dataset.add_frame

    def broken(self, frame):
        frame["action"] = frame["action"] + np.float32(1)
        real(self, frame)

    monkeypatch.setattr(lerobot_dataset, "add_frame", broken)
    with pytest.raises(example.Problem, match="frame 0 of the dataset: action is"):
        example.convert(example.arguments(line(bags_of_a_robot, tmp_path / "out", "--images")))
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".out*")) == []
