"""Bags both ways: what timeloom records, rosbag2 reads and plays; what rosbag2 records, timeloom reads and plays."""

import json
import time

from trial import Failed, compare

TOPICS = ["/trial/chatter", "/trial/latched", "/trial/keep_all", "/trial/header", "/trial/blob"]

# The flags that both recorders have.
STORAGES = {
    "mcap": ["-s", "mcap"],
    "mcap fastwrite": ["-s", "mcap", "--storage-preset-profile", "fastwrite"],
    "mcap zstd_fast": ["-s", "mcap", "--storage-preset-profile", "zstd_fast"],
    "mcap zstd_small": ["-s", "mcap", "--storage-preset-profile", "zstd_small"],
    "mcap, files compressed": ["-s", "mcap", "--compression-mode", "file", "--compression-format", "zstd"],
    "mcap, messages compressed": ["-s", "mcap", "--compression-mode", "message", "--compression-format", "zstd"],
    "sqlite3": ["-s", "sqlite3"],
    "sqlite3 resilient": ["-s", "sqlite3", "--storage-preset-profile", "resilient"],
    "sqlite3, files compressed": ["-s", "sqlite3", "--compression-mode", "file", "--compression-format", "zstd"],
    "sqlite3, messages compressed": ["-s", "sqlite3", "--compression-mode", "message", "--compression-format", "zstd"],
}

# What the robot does and the recorder is asked for, beyond the storage.
SITUATIONS = {
    "first message 3 s after the topic": (["--delay", "3"], []),
    "first message of 300 kB": (["--bytes", "300000", "--count", "10"], []),
    "first message of 2 MB": (["--bytes", "2000000", "--count", "5"], []),
    "first message of 2 MB, zstd_fast": (
        ["--bytes", "2000000", "--count", "5"],
        ["--storage-preset-profile", "zstd_fast"],
    ),
    "split by size": (["--bytes", "20000"], ["--max-bag-size", "200000"]),
    "split by duration, pauses": (["--period", "0.1", "--count", "30"], ["--max-bag-duration", "1"]),
}


def record_with_timeloom(trial, robot=(), flags=()):
    bag = trial.folder / "bag"
    recorder = trial.timeloom("record", "-o", bag, "--topics", *TOPICS, *flags)
    ledger = trial.robot(*robot)
    code = recorder.stop()
    if code != 0:
        raise Failed(f"timeloom record ended with {code}: {recorder.tail()}")
    return bag, ledger


def record_with_rosbag2(trial, robot=(), flags=()):
    bag = trial.folder / "bag"
    recorder = trial.ros2("bag", "record", "-o", bag, *flags, "--topics", *TOPICS)
    ledger = trial.robot(*robot)
    time.sleep(1)
    recorder.stop()
    return bag, ledger


def read_by_rosbag2(trial, bag, ledger):
    found = trial.read(bag)
    return compare(ledger, found["topics"], "rosbag2 reads")


def read_by_timeloom(trial, bag, ledger):
    info = trial.run(trial.timeloom("info", bag, "--format", "json"))
    counts = {topic["name"]: topic["message_count"] for topic in json.loads(info)["topics"]}
    for topic, messages in ledger.items():
        if counts.get(topic) != len(messages):
            raise Failed(f"timeloom info: {topic} has {counts.get(topic)} of {len(messages)}")
    lines = trial.run(trial.timeloom("cat", bag)).splitlines()
    total = sum(len(messages) for messages in ledger.values())
    if len(lines) != total:
        raise Failed(f"timeloom cat: {len(lines)} of {total} messages")
    return total


def heard(trial, player, listener, ledger, what):
    player.wait(60)
    listener.wait(60)
    return compare(ledger, listener.json()["topics"], what)


def play_with_rosbag2(trial, bag, ledger):
    listener = trial.peer("listener")
    listener.wait_for("READY")
    # On a busy machine, ros2 bag play begins before Fast DDS is discovered and ends before its last messages are sent.
    patience = ["--delay", "4", "--wait-for-all-acked", "5000"]
    player = trial.ros2("bag", "play", bag, "--disable-keyboard-controls", *patience)
    return heard(trial, player, listener, ledger, "played by rosbag2")


def play_with_timeloom(trial, bag, ledger):
    listener = trial.peer("listener")
    listener.wait_for("READY")
    player = trial.timeloom("play", bag, "--disable-keyboard-controls")
    count = heard(trial, player, listener, ledger, "played by timeloom")
    if player.process.returncode != 0:
        raise Failed(f"timeloom play ended with {player.process.returncode}: {player.tail()}")
    return count


def ours_by_storage(flags):
    def case(trial):
        bag, ledger = record_with_timeloom(trial, flags=flags)
        count = read_by_rosbag2(trial, bag, ledger)
        play_with_rosbag2(trial, bag, ledger)
        return f"{count} messages read and played"

    return case


def ours_by_situation(robot, flags):
    def case(trial):
        bag, ledger = record_with_timeloom(trial, robot, flags)
        return f"{read_by_rosbag2(trial, bag, ledger)} messages read"

    return case


def theirs_by_storage(flags):
    def case(trial):
        bag, ledger = record_with_rosbag2(trial, flags=flags)
        # rosbag2 itself may lose messages: what its own reader finds is the truth here.
        found = {name: found for name, found in trial.read(bag)["topics"].items() if name in ledger}
        count = read_by_timeloom(trial, bag, found)
        play_with_timeloom(trial, bag, found)
        return f"{count} messages read and played"

    return case


def snapshot(trial):
    bag = trial.folder / "bag"
    recorder = trial.timeloom("record", "-o", bag, "--snapshot-mode", "--topics", *TOPICS)
    ledger = trial.robot()
    called = trial.ros2("service", "call", "/rosbag2_recorder/snapshot", "rosbag2_interfaces/srv/Snapshot")
    trial.run(called)
    recorder.stop()
    return f"{read_by_rosbag2(trial, bag, ledger)} messages read"


def converted(trial):
    """Our bag converted by timeloom to each storage is read by rosbag2, and converted by rosbag2."""
    bag, ledger = record_with_timeloom(trial)
    for storage in ["mcap", "sqlite3"]:
        out = trial.folder / f"converted_{storage}"
        trial.run(trial.timeloom("convert", bag, "-o", out, "-s", storage, name=f"convert_{storage}"))
        read_by_rosbag2(trial, out, ledger)
    options = trial.folder / "convert.yaml"
    again = trial.folder / "converted_by_rosbag2"
    options.write_text(f"output_bags:\n- uri: {again}\n  storage_id: mcap\n  all_topics: true\n")
    trial.run(trial.ros2("bag", "convert", "-i", str(bag), "-o", str(options)))
    return f"{read_by_rosbag2(trial, again, ledger)} messages in three outputs"


def reindexed(trial):
    bag, ledger = record_with_timeloom(trial)
    (bag / "metadata.yaml").unlink()
    trial.run(trial.ros2("bag", "reindex", str(bag)))
    read_by_timeloom(trial, bag, ledger)
    (bag / "metadata.yaml").unlink()
    trial.run(trial.timeloom("reindex", bag))
    return f"{read_by_rosbag2(trial, bag, ledger)} messages after both"


def recovered(trial):
    """A recorder that is killed: what recover gives back is read by rosbag2."""
    import signal

    bag = trial.folder / "bag"
    recorder = trial.timeloom("record", "-o", bag, "--topics", *TOPICS)
    ledger = trial.robot()
    time.sleep(2)
    recorder.stop(sign=signal.SIGKILL)
    trial.run(trial.timeloom("recover", bag), codes=(0, 3))
    return f"{read_by_rosbag2(trial, bag, ledger)} messages read"


def cases():
    for name, flags in STORAGES.items():
        yield f"ours to rosbag2: {name}", ours_by_storage(flags)
    for name, (robot, flags) in SITUATIONS.items():
        yield f"ours to rosbag2: {name}", ours_by_situation(robot, flags)
    yield "ours to rosbag2: snapshot", snapshot
    yield "ours to rosbag2: convert both ways", converted
    yield "ours to rosbag2: reindex both ways", reindexed
    yield "ours to rosbag2: killed and recovered", recovered
    for name, flags in STORAGES.items():
        yield f"rosbag2 to ours: {name}", theirs_by_storage(flags)
