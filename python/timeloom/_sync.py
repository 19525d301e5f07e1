"""Times of sensors on the clock of the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from . import _native
from ._bag import Bag, Time, checked
from ._errors import DataLost
from ._table import Table


class SensorTime(NamedTuple):
    """A device time on the steady clock of the host, in nanoseconds."""

    time: int
    sigma: int
    """The standard deviation."""
    lower: int | None
    """The truth is not earlier; only requests show it."""
    upper: int | None
    """The truth is not later."""
    health: str
    """``"unsynced"``, ``"converging"``, ``"locked"``, ``"holdover"`` or ``"degraded"``."""
    epoch: int
    """Times of one epoch never go back; a device that restarted begins the next."""


@dataclass(frozen=True)
class SensorReport:
    """The state of a sensor clock."""

    newest: SensorTime
    offset: int
    """Host minus device time, in nanoseconds."""
    drift_ppm: float
    """How fast the offset grows."""
    samples: int
    outliers: int
    duplicates: int
    late: int


class SensorClock:
    """The clock of a device as the host sees it, for drivers: push samples, convert device times.

    The functions are those of the C API. ``ticks`` are values of the device's counter, which may wrap; times of the host
    are nanoseconds of the steady clock (:func:`steady_now`, ``time.monotonic_ns()``).

    >>> clock = SensorClock(ticks_per_second=1_000_000, counter_bits=32)
    >>> clock.convert(0) is None
    True
    >>> for number in range(100):
    ...     clock.push(number * 10_000, 5_000_000_000 + number * 10_000_000)
    >>> round(clock.convert(500_000).time / 1e9, 4)
    5.5
    >>> clock.report().samples
    100
    """

    def __init__(
        self, *, ticks_per_second: int = 1_000_000_000, counter_bits: int = 64, estimator: str = "envelope",
        max_skew_ppm: float = 500.0, max_drift_ppm_per_minute: float = 5.0, stamp_grain_ns: int = 0,
        least_delay_ns: int = 0,
    ) -> None:
        """``estimator`` is ``"envelope"``, ``"psle"``, ``"hull"``, ``"mean"`` or ``"regression"``. The clocks never
        differ by more than ``max_skew_ppm``, and their rate never changes faster than ``max_drift_ppm_per_minute``.
        ``stamp_grain_ns``: a stamp is at most so much too early, 0 for a tick. ``least_delay_ns``: no packet takes less.
        """
        self._native = _native.NativeSensorClock({
            "ticks_per_second": ticks_per_second, "counter_bits": counter_bits, "estimator": estimator,
            "max_skew_ppm": max_skew_ppm, "max_drift_ppm_per_minute": max_drift_ppm_per_minute,
            "stamp_grain_ns": stamp_grain_ns, "least_delay_ns": least_delay_ns,
        })

    def push(self, ticks: int, arrived_ns: int) -> None:
        """A packet that the device sent by itself: the counter value, and when it arrived."""
        self._native.push(ticks, arrived_ns)

    def push_request(self, sent_ns: int, ticks: int, arrived_ns: int) -> None:
        """A request for the device's time and its answer; only requests bound times from below."""
        self._native.push_request(sent_ns, ticks, arrived_ns)

    def convert(self, ticks: int) -> SensorTime | None:
        """The host time of a counter value near the newest one; ``None`` before the first sample."""
        fields = self._native.convert(ticks)
        return None if fields is None else SensorTime(*fields)

    def report(self) -> SensorReport | None:
        """Offset, drift, health and counters; ``None`` before the first sample."""
        report = self._native.report()
        return None if report is None else SensorReport(SensorTime(*report[0]), *report[1:])

    @property
    def health(self) -> str:
        """The health of the newest time."""
        report = self._native.report()
        return "unsynced" if report is None else report[0][4]

    def restart(self) -> None:
        """Forget everything: the device was restarted."""
        self._native.restart()


def steady_now() -> int:
    """Now, in nanoseconds of the steady clock: what samples are stamped with."""
    return _native.steady_now()


def system_from_steady(steady_ns: int) -> int:
    """A steady time in nanoseconds since the epoch, as the system clock is set now: the stamp of a message.

    >>> import time
    >>> abs(system_from_steady(steady_now()) - time.time_ns()) < 10**9
    True
    """
    return _native.system_from_steady(steady_ns)


def sync_fit(
    bag: Bag, topic: str, field: str | None = None, *, host_field: str | None = None,
    ticks_per_second: int | None = None, counter_bits: int | None = None, estimator: str = "envelope",
    causal: bool = False, max_skew_ppm: float = 500.0, max_drift_ppm_per_minute: float = 5.0,
    start: Time | None = None, end: Time | None = None, strict: bool = True,
) -> Table:
    """The true time of every message of a topic, from the device's times in its messages: ``timeloom sync fit``.

    ``field`` has the device's time, ``header.stamp`` by default; a number counts ``ticks_per_second`` (nanoseconds by
    default) in ``counter_bits``. ``host_field`` has the time of arrival, the log time by default. Every row is estimated
    from all rows of its epoch; ``causal=True`` uses only those before it, as live.

    The columns are ``device_ns``, ``arrived``, ``time``, ``sigma``, ``lower``, ``upper`` (``NaT`` where nothing is
    known), ``epoch`` and ``health``. A field that the type does not have is an :class:`UnknownField`, one that is no time
    a :class:`SyncError`. Messages without times raise :class:`DataLost`; ``strict=False`` leaves them out.

    >>> fit = timeloom.sync_fit(bag, "/imu/data")
    >>> fit.rows, bool((fit["time"] <= fit["upper"]).all())
    (207, True)
    """
    bag = checked(bag)
    chosen = bag.topic(topic)
    columns, unread, left_out, reason = _native.sync_fit(bag._native, {
        "topic": chosen._index, "name": chosen.name, "field": field, "host_field": host_field,
        "ticks_per_second": ticks_per_second, "counter_bits": counter_bits, "estimator": estimator, "causal": causal,
        "max_skew_ppm": max_skew_ppm, "max_drift_ppm_per_minute": max_drift_ppm_per_minute,
        "start": bag.time(start), "end": bag.time(end),
    })
    lost = list(unread)
    if left_out:
        lost.append(f"{left_out} messages of {topic} have no times: {reason}")
    if lost and strict:
        raise DataLost("; ".join(lost), "strict=False uses what is left")
    return Table(columns)
