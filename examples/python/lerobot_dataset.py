#!/usr/bin/env python3
"""Makes a LeRobot dataset of bags with cameras and joints, an episode of each bag.

    python lerobot_dataset.py monday/run_1 monday/run_2 --output pick_cube --fps 30 --task "Pick the cube" \\
        --camera front=/front/image_raw --camera wrist=/wrist/image_raw/compressed \\
        --joints /joint_states --action /leader/joint_states

An image of the first camera makes a frame. The other cameras and the joints are aligned to it with `timeloom.align`; an
image without a partner in every topic makes no frame, and is counted. The dataset is written by LeRobot, read back by
LeRobot, compared with the bags, and then moved to its place. Nothing is read from or sent to the network.

Needs `pip install timeloom pyarrow "lerobot[dataset]"`.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Sequence

import numpy as np

import timeloom

IMAGE = "sensor_msgs/msg/Image"
COMPRESSED = "sensor_msgs/msg/CompressedImage"
JOINTS = "sensor_msgs/msg/JointState"
# Of each encoding: bytes of a pixel, and which of them are red, green and blue.
ENCODINGS = {
    "rgb8": (3, [0, 1, 2]), "bgr8": (3, [2, 1, 0]), "rgba8": (4, [0, 1, 2]), "bgra8": (4, [2, 1, 0]), "mono8": (1, [0, 0, 0]),
}
# The largest mean difference of a frame of a video, of 255: compression loses less, another picture is further away.
VIDEO_LIMIT = 32.0
# The largest share by which the rate of the camera may differ from --fps.
RATE_LIMIT = 0.1


class Problem(Exception):
    """What is wrong with the bags or the arguments, and what to do."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text if hint is None else f"{text}\nhint: {hint}")


@dataclass(frozen=True)
class Camera:
    """A camera: its topic, and its name in the dataset."""

    topic: str
    key: str


@dataclass(frozen=True)
class Layout:
    """What the dataset has, the same for all episodes."""

    sizes: dict[str, tuple[int, ...]]
    """Height, width and channels of each camera, by its topic."""
    joints: dict[str, list[str]]
    """Names of the joints, by their topic."""


@dataclass
class Episode:
    """A bag, aligned to its first camera."""

    bag: timeloom.Bag
    options: argparse.Namespace
    times: np.ndarray
    """Time of each row, in nanoseconds."""
    log_times: dict[str, list[int | None]]
    """Log time of each row's image, by topic; none where there is no partner."""
    states: dict[str, list[dict[str, float] | None]]
    """Positions by joint of each row, by topic."""
    rows: list[int] = field(default_factory=list)
    """The rows that are frames."""

    @property
    def name(self) -> str:
        return self.bag.paths[0]


def main() -> int:
    options = arguments()
    # Before LeRobot is imported: all is on this machine.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        convert(options)
    except (Problem, timeloom.ReaderError, timeloom.CdrError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def arguments(line: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A LeRobot dataset of bags with cameras and joints, an episode of each bag.")
    parser.add_argument("bags", nargs="+", metavar="BAG", help="a bag; each is an episode")
    parser.add_argument("--output", required=True, type=Path, help="the folder of the dataset; it must not exist")
    parser.add_argument("--fps", required=True, type=positive, help="frames per second: the rate of the first camera")
    parser.add_argument(
        "--camera", required=True, action="append", type=camera, dest="cameras", metavar="[NAME=]TOPIC",
        help="Image or CompressedImage; the first camera makes the frames",
    )
    parser.add_argument("--joints", required=True, action="append", metavar="TOPIC", help="JointState, for observation.state")
    parser.add_argument("--action", action="append", default=[], metavar="TOPIC", help="JointState, for action")
    parser.add_argument("--task", required=True, help="what the robot does, in words")
    parser.add_argument("--method", choices=["nearest", "previous"], default="nearest", help="which message is the partner")
    parser.add_argument(
        "--tolerance", type=float, metavar="SECONDS", help="the largest distance of a partner; default: half a frame",
    )
    parser.add_argument("--by", choices=["log_time", "publish_time", "header"], default="log_time", help="the time that counts")
    parser.add_argument("--images", action="store_true", help="store images without loss instead of videos")
    parser.add_argument("--repo-id", help="the name of the dataset; default: local/ and the name of the folder")
    parser.add_argument("--robot-type", help="the kind of robot, for the metadata")
    options = parser.parse_args(line)
    if options.tolerance is None:
        options.tolerance = 0.5 / options.fps
    keys = [camera.key for camera in options.cameras]
    if len(set(keys)) < len(keys):
        parser.error(f"two cameras have the name {Counter(keys).most_common(1)[0][0]}: give them names, --camera NAME=TOPIC")
    return options


def positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise ValueError
    return number


def camera(text: str) -> Camera:
    """A camera from `front=/front/image_raw`, or from its topic alone."""
    name, _, topic = text.rpartition("=")
    name = name or topic.strip("/").replace("/", "_")
    if not topic or "/" in name:
        raise ValueError
    return Camera(topic, f"observation.images.{name}")


def convert(options: argparse.Namespace) -> None:
    """Aligns all bags, then writes, checks and moves the dataset: a mistake in the last bag costs no hour."""
    if options.output.exists():
        raise Problem(f"{options.output} is there already", "choose another --output")
    episodes = [aligned(path, options) for path in options.bags]
    layout = layout_of(episodes[0])
    for episode in episodes:
        select_rows(episode, layout)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{options.output.name}-", dir=options.output.parent) as folder:
        root = Path(folder) / "dataset"
        write(root, episodes, layout)
        result = compare(root, episodes, layout)
        root.rename(options.output)
    count = sum(len(episode.rows) for episode in episodes)
    print(f"wrote {options.output}: episodes {len(episodes)}, frames {count}; compared with the bags: {result}")


def aligned(path: str, options: argparse.Namespace) -> Episode:
    """Opens a bag and aligns its topics to the first camera."""
    bag = timeloom.open(path)
    for camera in options.cameras:
        check_topic(bag, camera.topic, (IMAGE, COMPRESSED))
    for topic in joint_topics(options):
        check_topic(bag, topic, (JOINTS,))
    wanted: dict[str, list[str]] = {camera.topic: [] for camera in options.cameras}
    wanted.update({topic: ["name", "position"] for topic in joint_topics(options)})
    table = timeloom.align(
        bag, options.cameras[0].topic, wanted, method=options.method, tolerance=options.tolerance, by=options.by,
    )
    log_times = {camera.topic: log_times_of(table[camera.topic]) for camera in options.cameras}
    states = {topic: joints_of(table[topic]) for topic in joint_topics(options)}
    return Episode(bag, options, table["time"].to_numpy().astype("int64"), log_times, states)


def check_topic(bag: timeloom.Bag, name: str, types: Sequence[str]) -> None:
    """A topic that can be used."""
    topic = bag.topic(name)
    if topic.type not in types:
        raise Problem(f"{bag.paths[0]}: {name} is a {topic.type}, expected {' or '.join(types)}")
    times = topic.to_numpy([])["log_time"]
    if not times.size:
        raise Problem(f"{bag.paths[0]}: {name} has no messages")
    # Images are found by their log times.
    if np.unique(times).size < times.size:
        raise Problem(f"{bag.paths[0]}: {name} has two messages of one log time", "timeloom.Writer can write other times")


def joint_topics(options: argparse.Namespace) -> list[str]:
    return list(dict.fromkeys(options.joints + options.action))


def log_times_of(column: Any) -> list[int | None]:
    """The log times of a column of partners, in nanoseconds; none where there is no partner."""
    import pyarrow.compute

    return pyarrow.compute.struct_field(column, "log_time").cast("int64").to_pylist()


def joints_of(column: Any) -> list[dict[str, float] | None]:
    """Positions by name of a column of partners; none where there is no partner, or a joint without a position."""
    import pyarrow.compute

    names = pyarrow.compute.struct_field(column, "name").to_pylist()
    positions = pyarrow.compute.struct_field(column, "position").to_pylist()
    return [
        None if name is None else dict(zip(name, position)) if len(name) == len(position) else {}
        for name, position in zip(names, positions)
    ]


def layout_of(episode: Episode) -> Layout:
    """The sizes of the images and the names of the joints, from the first messages of the first episode."""
    sizes = {}
    for camera in episode.options.cameras:
        message = next(iter(episode.bag[camera.topic]))
        sizes[camera.topic] = pixels(message, episode.bag[camera.topic].type).shape
    joints = {}
    for topic in episode.states:
        names = list(next(iter(episode.bag[topic])).value.name)
        if not names or len(set(names)) < len(names):
            raise Problem(f"{episode.name}: the first message of {topic} has no joints, or one of them twice: {names}")
        joints[topic] = names
    return Layout(sizes, joints)


def select_rows(episode: Episode, layout: Layout) -> None:
    """Takes the rows that have all partners as frames, and prints what became of the others."""
    first = episode.options.cameras[0].topic
    check_rate(episode, first)
    left_out: Counter[str] = Counter()
    latest = None
    for row, time in enumerate(episode.times.tolist()):
        reasons = missing(episode, layout, row)
        if latest is not None and time <= latest:
            reasons.append(f"at the time of the image before ({episode.options.by})")
        latest = time
        left_out.update(reasons)
        if not reasons:
            episode.rows.append(row)
    print(f"{episode.name}: {len(episode.rows)} of {len(episode.times)} images of {first} are frames")
    for reason, count in left_out.items():
        print(f"  {count} left out: {reason}")
    for topic in (*episode.log_times, *episode.states):
        print_losses(episode.bag[topic])
    if not episode.rows:
        raise Problem(f"{episode.name} has no frame", "see the reasons above; --tolerance and --by may be wrong")
    print_gaps(episode)


def missing(episode: Episode, layout: Layout, row: int) -> list[str]:
    """Why a row is no frame."""
    limit = f"within {episode.options.tolerance * 1e3:.3g} ms"
    reasons = [f"no image of {topic} {limit}" for topic, times in episode.log_times.items() if times[row] is None]
    for topic, states in episode.states.items():
        state = states[row]
        if state is None:
            reasons.append(f"no message of {topic} {limit}")
        elif not all(np.isfinite(state.get(joint, np.nan)) for joint in layout.joints[topic]):
            reasons.append(f"not a position of every joint in {topic}")
    return reasons


def check_rate(episode: Episode, topic: str) -> None:
    """The rate of the camera is the one of the dataset, whose times are the numbers of the frames divided by it."""
    fps = episode.options.fps
    if len(episode.times) < 2:
        return
    rate = 1e9 / max(float(np.median(np.diff(episode.times))), 1.0)
    if abs(rate / fps - 1) > RATE_LIMIT:
        text = f"{episode.name}: {topic} has {rate:.4g} images per second, --fps is {fps}"
        raise Problem(text, f"--fps {max(round(rate), 1)}")


def print_losses(topic: timeloom.Topic) -> None:
    """What the recorder of the bag has lost of a topic."""
    for place in ("lost_in_transport", "lost_in_recorder"):
        count = topic.losses and getattr(topic.losses, place)
        if count:
            print(f"  the bag says of {topic.name}: {count} {place.replace('_', ' ')}")


def print_gaps(episode: Episode) -> None:
    """Where time passed without a frame: the dataset does not show it, except in `bag_time`."""
    distances = np.diff(episode.times[episode.rows]) / 1e9
    gaps = distances[distances > 1.5 / episode.options.fps]
    if gaps.size:
        print(f"  gaps between frames: {gaps.size}, the longest {gaps.max():.3g} s; LeRobot counts on without them")


def frames(episode: Episode, layout: Layout) -> Iterator[dict[str, Any]]:
    """The frames of an episode as LeRobot takes them; one is in memory at a time."""
    options = episode.options
    streams = {camera: images(episode, camera.topic) for camera in options.cameras}
    for row in episode.rows:
        frame: dict[str, Any] = {"task": options.task, "bag_time": episode.times[[row]]}
        for camera, stream in streams.items():
            frame[camera.key] = next(stream)
            if frame[camera.key].shape != layout.sizes[camera.topic]:
                text = f"{episode.name}: an image of {camera.topic} is {frame[camera.key].shape}"
                raise Problem(f"{text}, the first one {layout.sizes[camera.topic]} (height, width, channels)")
        for key, topics in vectors(options).items():
            values = [episode.states[topic][row][joint] for topic in topics for joint in layout.joints[topic]]
            frame[key] = np.array(values, dtype=np.float32)
        yield frame


def vectors(options: argparse.Namespace) -> dict[str, list[str]]:
    """The topics of each vector of the dataset."""
    return {"observation.state": options.joints, **({"action": options.action} if options.action else {})}


def images(episode: Episode, topic: str) -> Iterator[np.ndarray]:
    """The images of all frames, read once, in the order of the bag; stamps may be out of order, and an image used twice."""
    wanted = [episode.log_times[topic][row] for row in episode.rows]
    last_use = {time: place for place, time in enumerate(wanted)}
    messages = iter(episode.bag[topic])
    held: dict[int, Any] = {}
    for place, time in enumerate(wanted):
        while time not in held:
            message = next(messages)
            if message.log_time in last_use:
                held[message.log_time] = message
        yield pixels(held[time], episode.bag[topic].type)
        if last_use[time] == place:
            held.pop(time)


def pixels(message: timeloom.RecordedMessage, type_name: str) -> np.ndarray:
    """Height × width × red, green, blue."""
    where = f"the image of {message.topic} at {message.log_time}"
    return (decompressed if type_name == COMPRESSED else unpacked)(message.value, where)


def unpacked(image: Any, where: str) -> np.ndarray:
    """The pixels of a sensor_msgs/Image."""
    if image.encoding not in ENCODINGS:
        raise Problem(f"{where} is encoded as {image.encoding!r}, expected {', '.join(ENCODINGS)}")
    channels, order = ENCODINGS[image.encoding]
    data = np.frombuffer(image.data, dtype=np.uint8)
    row = image.width * channels
    if image.step < row or data.size != image.step * image.height or not row or not image.height:
        size = f"{image.width}×{image.height} {image.encoding}, {image.step} bytes a row"
        raise Problem(f"{where} has {data.size} bytes, which does not fit its size: {size}")
    return data.reshape(image.height, image.step)[:, :row].reshape(image.height, image.width, channels)[..., order]


def decompressed(image: Any, where: str) -> np.ndarray:
    """The pixels of a sensor_msgs/CompressedImage."""
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(image.data.tobytes())) as picture:
            if picture.mode not in ("RGB", "RGBA", "L"):
                raise Problem(f"{where} ({image.format!r}) has pixels of {picture.mode}, expected colours or grey of 8 bits")
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:
        raise Problem(f"{where} ({image.format!r}) cannot be decompressed: {error}") from error


def lerobot_dataset() -> Any:
    """The class of LeRobot."""
    try:
        from lerobot.datasets.lerobot_dataset import LeRobotDataset
    except ImportError as error:
        raise Problem(f"LeRobot cannot be imported: {error}", 'pip install "lerobot[dataset]", with Python 3.12') from error
    return LeRobotDataset


def repo_id(options: argparse.Namespace) -> str:
    return options.repo_id or f"local/{options.output.name}"


def features(options: argparse.Namespace, layout: Layout) -> dict[str, dict[str, Any]]:
    """The columns of the dataset."""
    # The time of the image in the bag: LeRobot's own timestamp is the number of the frame divided by the rate.
    columns: dict[str, dict[str, Any]] = {"bag_time": {"dtype": "int64", "shape": (1,), "names": None}}
    for camera in options.cameras:
        kind = "image" if options.images else "video"
        columns[camera.key] = {
            "dtype": kind, "shape": layout.sizes[camera.topic], "names": ["height", "width", "channels"],
        }
    for key, topics in vectors(options).items():
        names = [joint if len(topics) == 1 else f"{topic}.{joint}" for topic in topics for joint in layout.joints[topic]]
        columns[key] = {"dtype": "float32", "shape": (len(names),), "names": names}
    return columns


def write(root: Path, episodes: Sequence[Episode], layout: Layout) -> None:
    """Writes the dataset with LeRobot's own functions."""
    options = episodes[0].options
    dataset = lerobot_dataset().create(
        repo_id(options), options.fps, features(options, layout), root=root, robot_type=options.robot_type,
        use_videos=not options.images, video_backend="pyav",
    )
    for episode in episodes:
        for frame in frames(episode, layout):
            dataset.add_frame(frame)
        dataset.save_episode()
    dataset.finalize()


def compare(root: Path, episodes: Sequence[Episode], layout: Layout) -> str:
    """Reads the dataset with LeRobot and compares every frame with the bags; returns how far videos differ."""
    options = episodes[0].options
    dataset = lerobot_dataset()(repo_id(options), root=root, video_backend="pyav")
    expected = sum(len(episode.rows) for episode in episodes)
    if (dataset.num_episodes, len(dataset), dataset.fps) != (len(episodes), expected, options.fps):
        raise Problem(f"the dataset has {dataset.num_episodes} episodes and {len(dataset)} frames, expected {expected}")
    largest, index = 0.0, 0
    for number, episode in enumerate(episodes):
        for frame in frames(episode, layout):
            where = f"frame {index} of the dataset"
            found = dataset[index]
            if int(found["episode_index"]) != number or found["task"] != frame.pop("task"):
                raise Problem(f"{where} is of episode {int(found['episode_index'])} and task {found['task']!r}")
            for key, value in frame.items():
                largest = max(largest, difference(key, value, found[key].numpy(), where, options.images))
            index += 1
    return "all equal" if options.images else f"all equal, images within {largest:.2g} of 255 on average"


def difference(key: str, value: np.ndarray, found: np.ndarray, where: str, exact: bool) -> float:
    """How far an image is from that of the bag on average; all other values must be equal."""
    if not key.startswith("observation.images."):
        if not np.array_equal(value.reshape(-1), found.reshape(-1)):
            raise Problem(f"{where}: {key} is {found}, in the bag {value}")
        return 0.0
    # LeRobot has the channels first, from 0 to 1.
    distance = np.abs(value - np.rint(found.transpose(1, 2, 0) * 255)).mean()
    if distance > (0.0 if exact else VIDEO_LIMIT):
        raise Problem(f"{where}: {key} differs from the image in the bag, by {distance:.3g} of 255 on average")
    return float(distance)


if __name__ == "__main__":
    sys.exit(main())
