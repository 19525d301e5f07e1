"""Recorders, players and clocks, on 127.0.0.1."""

import math
import time

import pytest

import timeloom
import timeloom._native

RELIABLE = ["/chatter", "/keep_all", "/tf"]


def until(condition):
    """Waits for a condition; the limit is for machines under load."""
    end = time.monotonic() + 40
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.01)


def payloads(bag, topic):
    return [(raw[2], raw[3]) for raw in bag._native.messages([bag[topic]._index], None, None)]


@pytest.fixture
def local(domain):
    return {"domain": domain, "localhost": True}


def test_a_recording_of_a_playback_has_its_messages(bag, tmp_path, local):
    with timeloom.Recorder(tmp_path / "out", RELIABLE, **local) as recorder:
        player = timeloom.Player(
            bag, RELIABLE, rate=20.0, wait_for_subscribers=1, wait_for_acks=math.inf, **local,
        )
        with player:
            assert player.wait(40)
        status = player.status()
        assert (status.state, status.lost, status.skipped) == ("ended", 0, [])
        # Services are chosen apart, as in `ros2 bag play`.
        assert all(status.topics[topic].played == bag[topic].count for topic in RELIABLE)
        until(lambda: not any(topic.in_flight for topic in recorder.status().topics.values()))
    report = recorder.report
    assert report.error is None
    assert report.absent == []
    assert report.total.lost == 0
    copy = timeloom.open(tmp_path / "out")
    assert report.total.recorded == copy.message_count
    for topic in RELIABLE:
        # A reliable volatile reader may join after the first messages; it has all from then on.
        expected = [data for _, data in payloads(bag, topic)]
        recorded = [data for _, data in payloads(copy, topic)]
        assert recorded
        assert recorded == expected[-len(recorded):], topic
        assert copy[topic].losses.recorded == len(recorded)
        assert copy[topic].losses == report.topics[topic].account


def test_a_recorder_is_controlled(tmp_path, local):
    recorder = timeloom.Recorder(tmp_path / "one", ["/a"], **local)
    with pytest.raises(timeloom.NodeError) as error:
        recorder.pause()
    assert "start()" in error.value.hint
    with recorder:
        assert recorder.status().state == "recording"
        recorder.pause()
        assert recorder.status().state == "paused"
        recorder.toggle_paused()
        recorder.split()
        assert recorder.status().files == 2
        recorder.set_discovery(False)
        assert not recorder.status().discovery
        with pytest.raises(timeloom.NodeError):
            recorder.snapshot()
        recorder.close_bag()
        assert recorder.status().state == "stopped"
        with pytest.raises(timeloom.NodeError) as error:
            recorder.pause()
        assert error.value.hint == "record() starts the next bag"
        recorder.record(tmp_path / "two")
    assert [report.directory for report in recorder.reports] == [str(tmp_path / "one"), str(tmp_path / "two")]
    assert len(recorder.reports[0].files) == 2
    assert recorder.status().state == "stopped"
    assert recorder.stop() is recorder.report


def test_a_limit_ends_a_recording(tmp_path, local):
    with timeloom.Recorder(tmp_path / "out", ["/a"], max_duration=0.05, **local) as recorder:
        assert recorder.wait(40)
        assert "duration" in recorder.status().ended
    assert "duration" in recorder.report.reason


def test_options_that_are_wrong_are_refused(tmp_path, local):
    with pytest.raises(ValueError, match="compression is one of"):
        timeloom.Recorder(tmp_path / "a", ["/a"], compression="tar", **local).start()
    with pytest.raises(ValueError, match="regex"):
        timeloom.Recorder(tmp_path / "b", timeloom.Selection(regex="("), **local).start()
    with pytest.raises(timeloom.NodeError, match="drop policy"):
        timeloom.Recorder(tmp_path / "c", ["/a"], drop="all", **local).start()
    with pytest.raises(TypeError, match="list of names"):
        timeloom.Recorder(tmp_path / "d", "/a", **local)
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "file").touch()
    with pytest.raises(timeloom.ReaderError) as error:
        timeloom.Recorder(tmp_path / "e", ["/a"], **local).start()
    assert "never overwritten" in error.value.hint


def test_a_domain_that_does_not_exist_is_an_error(bag):
    with pytest.raises(timeloom.NodeError):
        timeloom.Player(bag, domain=1000, localhost=True).start()


@pytest.mark.skipif(timeloom._native.has_zenoh, reason="this build speaks Zenoh")
def test_a_build_without_zenoh_says_so(bag, local, monkeypatch):
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")
    with pytest.raises(timeloom.NodeError, match="selects Zenoh") as error:
        timeloom.Player(bag, ["/chatter"], **local).start()
    assert "unset RMW_IMPLEMENTATION" in error.value.hint


def test_a_player_is_controlled(bag, local):
    with timeloom.Player(bag, ["/chatter"], start_paused=True, **local) as player:
        until(lambda: player.status().state == "paused")
        first = bag.start_time
        assert player.play_next() == 1
        assert player.burst(4) == 4
        assert player.step_back() == 1
        player.seek("+2")
        assert player.status().time == first + 2 * 10**9
        player.seek_by(-1)
        assert player.status().time == first + 10**9
        player.rate = 3
        assert player.rate == 3.0
        player.set_loop("+1", "+2")
        assert player.status().loop_range == (first + 10**9, first + 2 * 10**9)
        player.set_loop(None)
        player.set_clock_frequency(20)
        player.resume()
        with pytest.raises(timeloom.NodeError, match="not paused") as error:
            player.play_next()
        assert error.value.hint == "call pause() before"
        with pytest.raises(timeloom.NodeError, match="rate"):
            player.rate = -1
        player.toggle_paused()
        assert player.status().state == "paused"
    assert player.status().state == "stopped"
    assert player.status().played >= 6


def test_a_player_chooses_topics(bag, local):
    chosen = timeloom.Selection(regex="/(chatter|tf)", exclude_topics=["/tf"])
    with timeloom.Player(bag, chosen, start_paused=True, **local) as player:
        until(lambda: player.status().state == "paused")
        player.burst()
    played = {name for name, topic in player.status().topics.items() if topic.played}
    assert played == {"/chatter"}


def test_a_clock_follows_a_player(bag, local):
    with timeloom.Clock(use_sim_time=True, **local) as clock:
        assert clock.is_simulated
        assert clock.now() == 0
        assert clock.sleep_until(1, timeout=0.01) == "timed_out"
        with timeloom.Player(bag, ["/chatter"], start_paused=True, clock=50, **local) as player:
            assert clock.wait_until_started(40)
            until(lambda: clock.now() == bag.start_time)
            clock.jumps()
            player.resume()
            assert clock.sleep_for(0.2, timeout=40) == "reached"
            player.pause()
            now = clock.now()
            assert now >= bag.start_time + 200_000_000
            assert clock.sleep_until(now + 10**12, timeout=0.05) == "timed_out"
            player.seek("+0")
            until(lambda: clock.now() == bag.start_time)
            until(lambda: any(jump.new < jump.old for jump in clock.jumps()))
    assert clock.sleep_until(2**62) == "closed"


def test_a_sleep_of_a_clock_ends_with_a_jump(bag, local):
    import threading

    with timeloom.Clock(use_sim_time=True, **local) as clock:
        with timeloom.Player(bag, ["/chatter"], start_paused=True, clock=50, start="+2", **local) as player:
            assert clock.wait_until_started(40)
            until(lambda: clock.now() >= bag.start_time + 2 * 10**9)
            ended = []
            sleeper = threading.Thread(target=lambda: ended.append(clock.sleep_until(bag.end_time, timeout=40)))
            sleeper.start()
            # The wait may begin after a jump: jump until it has seen one.
            until(lambda: player.seek("+2.5") or player.seek("+1") or ended)
            sleeper.join()
    assert ended == ["jumped"]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_wait(tmp_path, local):
    import _thread
    import threading

    with timeloom.Recorder(tmp_path / "out", ["/a"], **local) as recorder:
        interrupter = threading.Timer(0.1, _thread.interrupt_main)
        interrupter.start()
        with pytest.raises(KeyboardInterrupt):
            recorder.wait(40)
    assert recorder.report.total.recorded == 0
