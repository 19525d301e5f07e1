"""Side by side with ROS 2 in one domain: recorders, players, services, simulated time, actions, listings."""

import json
import time

from cases_bags import TOPICS, play_with_timeloom, record_with_timeloom
from trial import Failed, compare


def beside(first):
    """Both recorders with -a in one domain: neither disturbs the other."""

    def case(trial):
        ours, theirs = trial.folder / "ours", trial.folder / "theirs"

        def start_ours():
            return trial.timeloom("record", "-a", "-o", ours)

        def start_theirs():
            return trial.ros2("bag", "record", "-a", "-o", str(theirs))

        starts = [start_ours, start_theirs] if first == "ours" else [start_theirs, start_ours]
        recorders = []
        for start in starts:
            recorders.append(start())
            time.sleep(3)
        ledger = trial.robot("--subscribers", "2")
        time.sleep(1)
        alive = [recorder.process.poll() is None for recorder in recorders]
        codes = [recorder.stop() for recorder in recorders]
        if not all(alive) or any(code not in (0, -2, 130) for code in codes):
            raise Failed(f"{'; '.join(recorder.tail() for recorder in recorders)} (exit codes {codes})")
        for recorder in recorders:
            if "Failure in topics discovery" in recorder.errors() + recorder.output():
                raise Failed("rosbag2: failure in topics discovery")
        compare(ledger, trial.read(theirs, "read_theirs")["topics"], "recorded by rosbag2")
        return f"{compare(ledger, trial.read(ours, 'read_ours')['topics'], 'recorded by timeloom')} messages in both"

    return case


def playback(runs):
    def case(trial):
        bag, ledger = record_with_timeloom(trial)
        for _ in range(runs):
            play_with_timeloom(trial, bag, ledger)
        return f"{runs} of {runs} runs complete"

    return case


def late_joiner(trial):
    """A latched message reaches a listener that comes while the player still runs."""
    bag, ledger = record_with_timeloom(trial, ["--period", "0.1", "--count", "60"])
    player = trial.timeloom("play", bag, "--disable-keyboard-controls")
    time.sleep(3)
    listener = trial.peer("listener")
    listener.wait_for("READY")
    player.wait(60)
    listener.wait(60)
    latched = listener.json()["topics"]["/trial/latched"]
    if latched != ledger["/trial/latched"]:
        raise Failed(f"/trial/latched has {len(latched)} of 1 messages")
    return "1 of 1"


def call(trial, service, kind, request="{}", expect=""):
    called = trial.ros2("service", "call", service, f"rosbag2_interfaces/srv/{kind}", request, name=f"call_{kind}")
    answer = trial.run(called, 30)
    if expect not in answer:
        raise Failed(f"{service}: expected {expect!r}, got {answer.strip().splitlines()[-1:]}")


PLAYER_CALLS = [
    ("is_paused", "IsPaused", "{}", "paused=True"),
    ("play_next", "PlayNext", "{}", "success=True"),
    ("burst", "Burst", "{num_messages: 3}", "actually_burst=3"),
    ("set_rate", "SetRate", "{rate: 0.25}", "success=True"),
    ("get_rate", "GetRate", "{}", "rate=0.25"),
    ("toggle_paused", "TogglePaused", "{}", ""),
    ("pause", "Pause", "{}", ""),
    ("seek", "Seek", "{time: {sec: 0, nanosec: 0}}", "success=True"),
    ("resume", "Resume", "{}", ""),
    ("stop", "Stop", "{}", ""),
]

RECORDER_CALLS = [
    ("is_paused", "IsPaused", "{}", "paused=False"),
    ("pause", "Pause", "{}", ""),
    ("is_paused", "IsPaused", "{}", "paused=True"),
    ("resume", "Resume", "{}", ""),
    ("split_bagfile", "SplitBagfile", "{}", ""),
]


def player_services(trial):
    bag, _ledger = record_with_timeloom(trial, ["--period", "0.1", "--count", "60"])
    player = trial.timeloom("play", bag, "--start-paused", "--disable-keyboard-controls")
    time.sleep(2)
    for service, kind, request, expect in PLAYER_CALLS:
        call(trial, f"/rosbag2_player/{service}", kind, request, expect)
    player.wait(20)
    return f"{len(PLAYER_CALLS)} of {len(PLAYER_CALLS)} answered"


def recorder_services(trial):
    recorder = trial.timeloom("record", "-o", trial.folder / "bag", "--topics", *TOPICS)
    time.sleep(2)
    for service, kind, request, expect in RECORDER_CALLS:
        call(trial, f"/rosbag2_recorder/{service}", kind, request, expect)
    recorder.stop()
    return f"{len(RECORDER_CALLS)} of {len(RECORDER_CALLS)} answered"


def sim_time_out(trial):
    """A node with use_sim_time follows the /clock of our player."""
    bag, ledger = record_with_timeloom(trial, ["--period", "0.05"])
    info = json.loads(trial.run(trial.timeloom("info", bag, "--format", "json")))
    listener = trial.peer("listener", "--sim-time")
    listener.wait_for("READY")
    player = trial.timeloom("play", bag, "--clock", "100", "--disable-keyboard-controls")
    player.wait(60)
    listener.wait(60)
    result = listener.json()
    compare(ledger, result["topics"], "heard")
    start = info["start_time_ns"]
    end = start + info["duration_ns"]
    late = 500_000_000
    for moment in result["first_time"][:1] + result["last_time"][:1]:
        if not start - late <= moment <= end + late:
            raise Failed(f"the node's time is {moment}, the bag goes from {start} to {end}")
    return "the node's time is the bag's"


def sim_time_in(trial):
    """Our recorder with --use-sim-time stamps with the /clock of ros2 bag play."""
    bag, ledger = record_with_timeloom(trial, ["--period", "0.05"])
    info = json.loads(trial.run(trial.timeloom("info", bag, "--format", "json")))
    again = trial.folder / "again"
    recorder = trial.timeloom("record", "--use-sim-time", "-o", again, "--topics", *TOPICS, name="record_sim")
    time.sleep(1)
    player = trial.ros2("bag", "play", str(bag), "--clock", "100", "--delay", "3", "--disable-keyboard-controls")
    player.wait(60)
    time.sleep(1)
    recorder.stop()
    found = json.loads(trial.run(trial.timeloom("info", again, "--format", "json", name="info_again")))
    late = 500_000_000
    if abs(found["start_time_ns"] - info["start_time_ns"]) > late:
        raise Failed(f"recorded from {found['start_time_ns']}, the bag begins at {info['start_time_ns']}")
    # ros2 bag play publishes its first messages before its first /clock: they have no time to be recorded at.
    recorded = trial.read(again)["topics"]
    later = {name: messages[1:] for name, messages in ledger.items() if len(messages) > 1}
    count = compare(later, {name: recorded.get(name, [])[-len(m) :] for name, m in later.items()}, "recorded")
    return f"{count} messages at the bag's time"


def services_and_actions(trial):
    """Requests are recorded by introspection and sent again to a real server; an action is recorded.

    Goals are not sent again: that needs introspection of actions, which rclpy of Jazzy does not have.
    """
    server = trial.peer("robot", "--serve", name="server")
    server.wait_for("READY")
    bag = trial.folder / "bag"
    recorder = trial.timeloom("record", "-a", "-o", bag)
    time.sleep(3)
    for number in range(3):
        called = trial.ros2(
            "service", "call", "/trial/add", "example_interfaces/srv/AddTwoInts", f"{{a: {number}, b: 1}}",
            name=f"call_{number}",
        )
        trial.run(called, 30)
    goal = trial.ros2(
        "action", "send_goal", "/trial/fibonacci", "example_interfaces/action/Fibonacci", "{order: 3}", name="goal"
    )
    trial.run(goal, 30)
    time.sleep(1)
    recorder.stop()
    server.stop()
    info = json.loads(trial.run(trial.timeloom("info", bag, "--format", "json")))
    counts = {topic["name"]: topic["message_count"] for topic in info["topics"]}
    for topic in ["/trial/fibonacci/_action/feedback", "/trial/fibonacci/_action/status"]:
        if not counts.get(topic):
            raise Failed(f"{topic} has no message")
    again = trial.peer("robot", "--serve", name="server_again")
    again.wait_for("READY")
    player = trial.timeloom("play", bag, "--publish-service-requests", "--disable-keyboard-controls")
    player.wait(60)
    time.sleep(1)
    again.stop()
    calls = again.json()
    if calls["requests"] != 3:
        raise Failed(f"{calls['requests']} of 3 requests were sent again (exit {player.process.returncode})")
    return "3 of 3 requests sent again, feedback and status recorded"


def listings(trial):
    """Nodes, topics, types and services look the same to ros2 and to timeloom."""
    server = trial.peer("robot", "--serve", name="server")
    server.wait_for("READY")
    time.sleep(1)

    def lines(running):
        return {line.strip() for line in trial.run(running, 30).splitlines() if line.strip().startswith("/")}

    for kind, flags in [("topic", ["-t"]), ("service", ["-t"]), ("node", [])]:
        theirs = lines(trial.start(f"ros2_{kind}", "ros2", kind, "list", "--no-daemon", "--spin-time", "3", *flags))
        ours = lines(trial.timeloom(kind, "list", *flags, name=f"timeloom_{kind}"))
        own = {line for line in theirs ^ ours if "ros2cli" in line or "timeloom" in line}
        if theirs ^ ours != own:
            raise Failed(f"{kind} list differs: {sorted(theirs ^ ours - own)}")
    server.stop()
    return "topics, services and nodes equal"


def echo(trial):
    """timeloom topic echo of a real publisher, ros2 topic echo of ours."""
    echoed = trial.timeloom("topic", "echo", "/trial/chatter", "--once", name="echo_ours")
    trial.robot("--topics", "/trial/chatter")
    if "message" not in trial.run(echoed):
        raise Failed("timeloom topic echo printed no message")
    echoed = trial.ros2("topic", "echo", "--once", "/trial/words", "std_msgs/msg/String", name="echo_theirs")
    published = trial.timeloom(
        "topic", "pub", "/trial/words", "std_msgs/msg/String", "{data: hello}", "-r", "5", name="pub"
    )
    if "hello" not in trial.run(echoed):
        raise Failed("ros2 topic echo printed no message")
    published.stop()
    return "both ways"


def cases(runs):
    yield "recorders side by side, ours first", beside("ours")
    yield "recorders side by side, rosbag2 first", beside("theirs")
    yield f"play to listeners, {runs} runs", playback(runs)
    yield "play: a late joiner gets the latched message", late_joiner
    yield "player's services", player_services
    yield "recorder's services", recorder_services
    yield "sim time: our /clock", sim_time_out
    yield "sim time: their /clock", sim_time_in
    yield "services and actions", services_and_actions
    yield "listings", listings
    yield "echo and pub", echo
