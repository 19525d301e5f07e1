"""A player and its status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _native
from ._arguments import names
from ._bag import Bag, Time
from ._bag import open as open_bag
from ._errors import NodeError
from ._network import Path, Selection, network, qos_text, selection


@dataclass(frozen=True)
class PlayedTopic:
    """The counts of a topic."""

    name: str
    type: str
    played: int
    bytes: int
    failed: int
    """Messages that the middleware refused."""
    dropped: int
    """Messages that were too late, with ``pace="drop"``."""
    stepped_over: int
    """Messages that a step of ``/clock`` skipped."""


@dataclass(frozen=True)
class SkippedTopic:
    """A topic that cannot be played."""

    name: str
    type: str
    messages: int
    reason: str


@dataclass(frozen=True)
class PlayerStatus:
    """A player at one moment. Times are nanoseconds since the epoch, of the bag."""

    state: str
    """``"idle"``, ``"waiting_for_subscribers"``, ``"waiting_for_start"``, ``"waiting_for_clock"``, ``"playing"``,
    ``"paused"``, ``"finishing"``, ``"ended"`` or ``"stopped"``."""
    time: int
    range: tuple[int, int] | None
    loop_range: tuple[int, int] | None
    rate: float | None
    achieved_rate: float | None
    laps: int
    read_ahead_messages: int
    read_ahead_bytes: int
    starved: int
    """How often no message was read when one was due."""
    latest: float
    """The largest lateness of a message, in seconds."""
    played: int
    lost: int
    """Selected messages that were not published."""
    damage: list[str]
    topics: dict[str, PlayedTopic]
    skipped: list[SkippedTopic]


class Player:
    """Publishes the messages of bags at their times, as ``timeloom play`` does; see :class:`Recorder` for the network.

    ::

        with timeloom.Player("my_bag", rate=2.0, clock=40) as player:
            player.wait()
        print(player.status().played)

    >>> with timeloom.Player(BAG, ["/chatter"], start_paused=True, domain=DOMAIN, localhost=True) as player:
    ...     player.burst(3)
    ...     player.seek("+1")
    ...     (player.status().time - bag.start_time) / 1e9
    3
    1.0
    >>> player.status().topics["/chatter"].played
    3
    """

    def __init__(
        self, paths: Path | Sequence[Path] | Bag, topics: Sequence[str] | Selection | None = None, *,
        rate: float = 1.0, start: Time | None = None, end: Time | None = None, loop: bool | str = False,
        loop_range: tuple[Time, Time] | None = None, start_paused: bool = False, delay: float = 0.0,
        clock: float | None = None, clock_topics: Sequence[str] | None = None, order: str = "log_time",
        pace: str = "catch-up", pace_tolerance: float = 0.1, wait_for_subscribers: int = 0,
        wait_for_acks: float | None = None, use_sim_time: bool = False, max_clock_step: float | None = None,
        read_ahead: int = 128 << 20, qos_overrides: Path | None = None, services: bool = True,
        node_name: str = "rosbag2_player", namespace: str = "", remap: Mapping[str, str] | None = None,
        domain: int | None = None, localhost: bool = False,
    ) -> None:
        """The bag is opened; nothing is published before :meth:`start` or a ``with`` block.

        ``start``, ``end``, ``loop_range``: as in :meth:`Bag.messages`. ``loop``: ``True`` jumps back in time at the
        end, ``"monotonic"`` does not. ``clock``: Hz of ``/clock``; ``clock_topics`` publishes it before each message of
        these topics, of all with ``[]``. ``order``: ``"log_time"`` or ``"publish_time"``. ``pace``: when publishing
        falls behind: ``"catch-up"``, ``"keep-order"``, ``"drop"`` (later than ``pace_tolerance`` seconds) or
        ``"wait-acked"``. ``wait_for_acks``: seconds to wait at the end, ``math.inf`` for as long as it takes.
        ``use_sim_time``: follow the ``/clock`` of another node; messages of larger steps than ``max_clock_step``
        seconds are skipped and counted. ``services``: those of rosbag2's player.
        """
        self.bag = paths if isinstance(paths, Bag) else open_bag(paths)
        time = self.bag.time
        repeat = loop if isinstance(loop, str) else "jump" if loop else "once"
        times = None if loop_range is None else _times(self.bag, loop_range)
        self._options = {
            "paths": self.bag.paths, "selection": selection(topics), "rate": rate, "start": time(start),
            "end": time(end), "repeat": repeat, "loop_range": times, "start_paused": start_paused, "delay": delay,
            "clock": clock, "order": order,
            "clock_topics": None if clock_topics is None else names("clock_topics", clock_topics),
            "pace": pace, "pace_tolerance": pace_tolerance, "wait_for_subscribers": wait_for_subscribers,
            "wait_for_acks": wait_for_acks, "max_clock_step": max_clock_step, "read_ahead": read_ahead,
            "qos_overrides": qos_text(qos_overrides), "services": services,
            "network": network(node_name, namespace, remap, domain, localhost, use_sim_time),
        }
        self._running: _native.NativePlayer | None = None
        self._last: PlayerStatus | None = None

    def start(self) -> Player:
        """Join the domain and play."""
        if self._running is not None:
            msg = "the player is running"
            raise NodeError(msg, "stop() ends it")
        self._running = _native.NativePlayer(self._options)
        try:
            self._running.play()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop and leave the domain. Does nothing the second time."""
        if self._running is not None:
            running, self._running = self._running, None
            running.close()
            self._last = _status(running.status())

    def __enter__(self) -> Player:
        return self if self._running is not None else self.start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _player(self) -> _native.NativePlayer:
        if self._running is None:
            msg = "the player is not running"
            raise NodeError(msg, "start() or a with block starts it")
        return self._running

    def pause(self) -> None:
        """Stop time; no message is published after the call."""
        self._player().pause()

    def resume(self) -> None:
        """Let time go on."""
        self._player().resume()

    def toggle_paused(self) -> None:
        """Pause or resume."""
        self._player().toggle_paused()

    @property
    def rate(self) -> float | None:
        """How fast time passes; it can be set."""
        return self.status().rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._player().set_rate(rate)

    def seek(self, time: Time) -> None:
        """Go to a time of the bag, such as ``"+10"``; the next message is the first one at or after it."""
        moment = self.bag.time(time)
        if moment is not None:
            self._player().seek(moment)

    def seek_by(self, seconds: float) -> None:
        """Go back or forth."""
        self._player().seek_by(round(seconds * 1e9))

    def play_next(self) -> int:
        """Publish the next message, while paused; the number of messages that were published."""
        return self._player().play_next()

    def step_back(self) -> int:
        """Publish the message before the last one, while paused."""
        return self._player().step_back()

    def burst(self, messages: int = 0) -> int:
        """Publish so many messages at once, all with 0, while paused; the number of messages that were published."""
        return self._player().burst(messages)

    def set_loop(self, start: Time | None, end: Time | None = None) -> None:
        """Repeat a range; ``None`` ends it."""
        first, last = self.bag.time(start), self.bag.time(end)
        self._player().set_loop(None if first is None or last is None else (first, last))

    def set_clock_frequency(self, hertz: float) -> None:
        """Publish ``/clock`` so often; 0 turns it off."""
        self._player().set_clock_frequency(hertz)

    def finish(self) -> None:
        """End as after the last message: with the wait for acknowledgements."""
        self._player().finish()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until playing is over; false if that took longer than ``timeout`` seconds."""
        return self._player().wait(timeout)

    def status(self) -> PlayerStatus:
        """The state, and the counts of every topic so far."""
        if self._running is None and self._last is not None:
            return self._last
        return _status(self._player().status())

    def notes(self) -> list[str]:
        """What there is to know since the last call, such as a topic that cannot be played."""
        return self._player().notes()


def _status(values: dict[str, Any]) -> PlayerStatus:
    topics = {topic["name"]: PlayedTopic(**topic) for topic in values.pop("topics")}
    skipped = [SkippedTopic(**topic) for topic in values.pop("skipped")]
    return PlayerStatus(topics=topics, skipped=skipped, **values)


def _times(bag: Bag, given: tuple[Time, Time]) -> tuple[int | None, ...]:
    if not isinstance(given, (tuple, list)) or len(given) != 2 or None in given:
        msg = f"loop_range is a start and an end, not {given!r}"
        raise TypeError(msg)
    return tuple(bag.time(time) for time in given)
