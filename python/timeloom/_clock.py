"""Clocks that follow ``/clock``."""

from __future__ import annotations

from typing import Mapping, NamedTuple

from . import _native
from ._network import network


class Jump(NamedTuple):
    """A change of time that is not its passing. Times are nanoseconds since the epoch."""

    old: int
    new: int
    change: str
    """``"jump"``, or what happened to the source: ``"activated"``, ``"deactivated"``, ``"started"``."""


class Clock:
    """A clock as nodes have it: with ``use_sim_time``, its time is that of ``/clock``.

    ::

        with timeloom.Clock(use_sim_time=True) as clock:
            clock.wait_until_started()
            clock.sleep_for(1.5)            # 1.5 seconds of simulated time
            print(clock.now(), clock.jumps())

    Without it, the clock shows the time of this machine and joins no domain:

    >>> with timeloom.Clock() as clock:
    ...     clock.sleep_for(0.001), clock.now() > 0, clock.is_simulated
    ('reached', True, False)
    """

    def __init__(
        self, use_sim_time: bool = False, *, jump_threshold: float = 1.0, node_name: str = "timeloom_clock",
        namespace: str = "", remap: Mapping[str, str] | None = None, domain: int | None = None,
        localhost: bool = False,
    ) -> None:
        """Steps forward of more than ``jump_threshold`` seconds are jumps, and all steps back."""
        node = network(node_name, namespace, remap, domain, localhost, use_sim_time) if use_sim_time else None
        self._native = _native.NativeClock(node, jump_threshold)

    def now(self) -> int:
        """Nanoseconds since the epoch; 0 before the first sample of ``/clock``."""
        return self._native.now()

    @property
    def started(self) -> bool:
        """Whether there is a time."""
        return self._native.started()

    @property
    def is_simulated(self) -> bool:
        """Whether ``/clock`` sets the time."""
        return self._native.is_simulated()

    def wait_until_started(self, timeout: float | None = None) -> bool:
        """Block until ``/clock`` shows a time; false if that took longer than ``timeout`` seconds of real time."""
        return self._native.wait_until_started(timeout) == "reached"

    def sleep_until(self, time: int, *, on_jump: str = "return", timeout: float | None = None) -> str:
        """Block until the clock shows a time, in nanoseconds since the epoch.

        Says why it ended: ``"reached"``; ``"jumped"`` or ``"source_changed"``, unless ``on_jump="ignore"``;
        ``"timed_out"`` after ``timeout`` seconds of real time, since a paused clock never gets there; ``"closed"``.
        """
        return self._native.sleep_until(time, on_jump, timeout)

    def sleep_for(self, seconds: float, *, timeout: float | None = None) -> str:
        """Block until so much time has passed on the clock; after a jump, the rest is slept on the new time."""
        return self._native.sleep_for(seconds, timeout)

    def jumps(self) -> list[Jump]:
        """The jumps since the last call, the last thousand at most."""
        return [Jump(*jump) for jump in self._native.take_jumps()]

    def notes(self) -> list[str]:
        """What is wrong with the time since the last call, such as two nodes that publish it."""
        return self._native.notes()

    def close(self) -> None:
        """Leave the domain; waits end."""
        self._native.close()

    def __enter__(self) -> Clock:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
