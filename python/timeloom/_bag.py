"""Bags, their topics and tables."""

from __future__ import annotations

import datetime
import operator
import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, NoReturn, Sequence, Union

from . import _html, _native
from ._account import Account
from ._arguments import duration, in_range, names
from ._errors import DataLost, UnknownTopic
from ._table import pandas_column

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow

Path = Union[str, "os.PathLike[str]"]
# Nanoseconds since the epoch, a number of seconds after the start of the bag with a sign, or a time with a zone.
Time = Union[int, str, "datetime.datetime", "numpy.datetime64"]
_Request = tuple  # (topic, type, fields, start, end)


class RecordedMessage(NamedTuple):
    """A message with the times of its recording, in nanoseconds since the epoch."""

    topic: str
    log_time: int
    publish_time: int
    value: _native.Message

    def __getattr__(self, name: str) -> NoReturn:
        msg = f"a RecordedMessage has no attribute {name!r}: the fields of the message are those of its .value"
        raise AttributeError(msg)


def open(paths: Path | Sequence[Path]) -> Bag:  # noqa: A001
    """Open a bag, or several bags as one: directories, ``.mcap`` and ``.db3`` files, addresses such as ``s3://…``.

    >>> bag = timeloom.open(BAG)
    >>> bag["/imu/data"].type
    'sensor_msgs/msg/Imu'
    """
    return Bag(paths_of(paths))


def paths_of(paths: Path | Sequence[Path]) -> list[Path]:
    """The paths of one or several bags."""
    if isinstance(paths, (str, os.PathLike)):
        return [paths]
    try:
        if not isinstance(paths, bytes):
            return list(paths)
    except TypeError:
        pass
    msg = f"a bag is opened by its path, a str or an os.PathLike, or a list of them, not {type(paths).__name__}"
    raise TypeError(msg)


def checked(bag: Bag) -> Bag:
    """An open bag."""
    if isinstance(bag, Bag):
        return bag
    msg = f"bag is an open bag, as of timeloom.open(path), not {type(bag).__name__}"
    raise TypeError(msg)


class Bag(Mapping[str, "Topic"]):
    """One or several bags, read as one: a mapping from the names of topics to topics."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = [os.fspath(path) for path in paths]
        if not self.paths:
            msg = "a bag needs one path at least"
            raise ValueError(msg)
        self._native = _native.NativeBag(self.paths)
        info = self._native.info()
        self.start_time: int | None = info["start_time"]
        """Log time of the first message, in nanoseconds since the epoch."""
        self.end_time: int | None = info["end_time"]
        """Log time of the last message."""
        self.ros_distro: str = info["ros_distro"]
        self.size: int = info["size"]
        """Bytes of all files."""
        self.damage: list[str] = info["damage"]
        """What is wrong with the bag, in words; empty when it is whole."""
        self.interrupted: bool = info["interrupted"]
        """Whether the recorder was killed, so that messages at the end may be missing."""
        self._topics = [_topic(self, index, topic) for index, topic in enumerate(info["topics"])]
        self._by_name: dict[str, Topic] = {}
        for topic in self._topics:
            self._by_name.setdefault(topic.name, topic)

    @property
    def topics(self) -> list[Topic]:
        """All topics; one that was recorded with two types is there twice."""
        return list(self._topics)

    @property
    def message_count(self) -> int:
        """Messages of all topics."""
        return sum(topic.count for topic in self._topics)

    @property
    def duration(self) -> float:
        """Seconds from the first to the last message."""
        if self.start_time is None or self.end_time is None:
            return 0.0
        return (self.end_time - self.start_time) / 1e9

    def topic(self, name: str, type_name: str | None = None) -> Topic:
        """A topic by its name, and by its type where it was recorded with several."""
        for topic in self._topics:
            if topic.name == name and type_name in (None, topic.type):
                return topic
        known = ", ".join(sorted(self._by_name)[:12])
        msg = f"the bag has no topic {name}" + (f" of type {type_name}" if type_name else "")
        raise UnknownTopic(msg, f"the topics are {known}")

    def __getitem__(self, name: str) -> Topic:
        return self.topic(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def messages(
        self, topics: Sequence[str] | None = None, *, start: Time | None = None, end: Time | None = None,
        strict: bool = True,
    ) -> Iterator[RecordedMessage]:
        """Messages in the order of their log times, ``start`` included, ``end`` not; each is decoded when it is used.

        Damage raises :class:`DataLost` at the end, after all that can be read; ``strict=False`` reads on silently.

        >>> message = next(bag.messages(["/imu/data"]))
        >>> round(message.value.linear_acceleration.z, 2)
        9.81
        """
        chosen = None if topics is None else [self.topic(name) for name in names("topics", topics)]
        return self._messages(chosen, self.time(start), self.time(end), strict)

    def _messages(
        self, topics: Sequence[Topic] | None, start: int | None, end: int | None, strict: bool,
    ) -> Iterator[RecordedMessage]:
        wanted = None if topics is None else [topic._index for topic in topics]
        return self._native.records(wanted, start, end, RecordedMessage, strict)

    def time(self, time: Time | None) -> int | None:
        """Nanoseconds since the epoch of a time in any form: ``"+1.5"`` is 1.5 seconds after the start.

        >>> bag.time("+1.5") - bag.start_time
        1500000000
        """
        return None if time is None else in_range(_nanos(time, self.start_time or 0), time)

    def __repr__(self) -> str:
        return f"<Bag {', '.join(self.paths)}: {self.message_count} messages of {len(self._topics)} topics>"

    def _repr_html_(self) -> str:
        return _html.bag(self)


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FRACTION = re.compile(r"(:\d\d)[.,](\d+)")


def _nanos(time: Time, start: int) -> int:
    """Nanoseconds since the epoch; ``start`` is the start of the bag."""
    if isinstance(time, str):
        try:
            return start + round(float(time[1:]) * 1e9) if time.startswith("+") else _of_text(time)
        except _NoZone:
            raise
        except (ValueError, OverflowError):
            msg = f"{time!r} is no time: '+1.5' is 1.5 s after the start, '2026-11-15T08:58:54Z' a date with its zone"
            raise ValueError(msg) from None
    if isinstance(time, datetime.datetime):
        return _of_datetime(time)
    if getattr(getattr(time, "dtype", None), "kind", "") == "M":
        return _of_datetime64(time)
    if not isinstance(time, bool):
        try:
            return operator.index(time)  # type: ignore[arg-type]
        except TypeError:
            pass
    msg = f"a time is nanoseconds as an int, a str such as '+1.5', a datetime or a numpy.datetime64, not {time!r}"
    raise TypeError(msg)


def _of_text(text: str) -> int:
    # A datetime has microseconds only.
    fraction = _FRACTION.search(text)
    whole = _FRACTION.sub(r"\1", text)
    nanos = int(fraction.group(2)[:9].ljust(9, "0")) if fraction else 0
    return _of_datetime(datetime.datetime.fromisoformat(whole.replace("Z", "+00:00"))) + nanos


def _of_datetime(time: datetime.datetime) -> int:
    if time.tzinfo is None:
        msg = f"{time} has no time zone"
        raise _NoZone(msg)
    # A timestamp of pandas is a datetime with nanoseconds.
    return (time - _EPOCH) // datetime.timedelta(microseconds=1) * 1000 + getattr(time, "nanosecond", 0)


class _NoZone(ValueError):
    pass


def _of_datetime64(time: Any) -> int:
    seconds, nanos = time.astype("datetime64[s]"), time.astype("datetime64[ns]")
    if time != time:  # noqa: PLR0124 - not a time is not equal to itself
        msg = "NaT is no time"
        raise ValueError(msg)
    # numpy wraps what does not fit.
    if abs(int(nanos.astype("int64")) // 10**9 - int(seconds.astype("int64"))) > 1:
        return int(seconds.astype("int64")) * 10**9
    return int(nanos.astype("int64"))


@dataclass(frozen=True)
class Topic:
    """A topic of a bag."""

    bag: Bag = field(repr=False, compare=False)
    _index: int = field(repr=False)
    name: str
    type: str
    count: int
    """Messages in the bag."""
    definition: str = field(repr=False)
    definition_format: str = field(repr=False)
    type_hash: str = field(repr=False)
    offered_qos_profiles: str = field(repr=False)
    losses: Account | None = field(repr=False)
    """The account of the recorder, or ``None`` where it kept none."""

    @property
    def message_type(self) -> _native.MessageType:
        """The type, to decode and encode payloads."""
        return self.bag._native.message_type(self._index)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[RecordedMessage]:
        return self.messages()

    def messages(
        self, *, start: Time | None = None, end: Time | None = None, strict: bool = True,
    ) -> Iterator[RecordedMessage]:
        """The messages of this topic; see :meth:`Bag.messages`."""
        return self.bag._messages([self], self.bag.time(start), self.bag.time(end), strict)

    def to_numpy(
        self, fields: Sequence[str] | None = None, *, start: Time | None = None, end: Time | None = None,
        strict: bool = True, progress: bool | None = None,
    ) -> Dict[str, numpy.ndarray]:
        """Columns by name: ``log_time``, ``publish_time`` and the fields, nested ones with dots.

        ``fields`` decodes only these, such as ``["header.stamp", "linear_acceleration.x"]``; a nested message stands
        for all of its fields. Arrays of a fixed size are a table with a row for each message; sequences and strings
        are an array of objects. ``strict=False`` leaves out what is damaged or cannot be decoded, instead of raising
        :class:`DataLost`. ``progress`` shows a bar of ``tqdm``; without it, one appears in terminals and notebooks when
        reading takes long.

        >>> imu = bag["/imu/data"].to_numpy(["linear_acceleration", "orientation_covariance"])
        >>> imu["linear_acceleration.z"].shape, imu["orientation_covariance"].shape
        ((207,), (207, 9))
        """
        return self._read(self.bag._native.to_numpy, fields, start, end, strict, progress)

    def to_arrow(
        self, fields: Sequence[str] | None = None, *, start: Time | None = None, end: Time | None = None,
        strict: bool = True, progress: bool | None = None,
    ) -> pyarrow.Table:
        """A table of ``pyarrow`` with nested fields as structs; see :meth:`to_numpy` for the arguments.

        With ``strict=False``, the fields of a message that cannot be decoded are null.

        >>> bag["/imu/data"].to_arrow(["angular_velocity.z"]).column_names
        ['log_time', 'publish_time', 'angular_velocity.z']
        """
        import pyarrow

        return pyarrow.table(self._read(self.bag._native.to_arrow, fields, start, end, strict, progress))

    def to_pandas(
        self, fields: Sequence[str] | None = None, *, start: Time | None = None, end: Time | None = None,
        strict: bool = True, progress: bool | None = None,
    ) -> pandas.DataFrame:
        """A data frame with the log time as index; see :meth:`to_numpy` for the arguments.

        All times are of UTC, so that they can be subtracted:

        >>> frame = bag["/imu/data"].to_pandas(["header.stamp"])
        >>> (frame.index - frame["header.stamp"]).max().total_seconds() < 1
        True
        """
        import pandas

        columns = self.to_numpy(fields, start=start, end=end, strict=strict, progress=progress)
        index = pandas.DatetimeIndex(columns.pop("log_time"), tz="UTC", name="log_time")
        return pandas.DataFrame({name: pandas_column(column) for name, column in columns.items()}, index=index)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Gives the rows to any library that takes Arrow streams, such as polars and DuckDB; pyarrow is not needed.

        They are read while the library asks for them, so that it decides how many are in memory. Damage is an error of
        the stream, behind its last row. ``requested_schema`` is not looked at, as the interface allows.
        """
        return self.bag._native.arrow_stream(self._request(None, None, None))

    def __arrow_c_schema__(self) -> object:
        """The types of the columns."""
        return self.bag._native.arrow_schema(self._request(None, None, None))

    def _read(
        self, read: Callable[..., Any], fields: Sequence[str] | None, start: Time | None, end: Time | None,
        strict: bool, progress: bool | None,
    ) -> Any:
        request = self._request(fields, start, end)
        with _bar(progress, self) as advance:
            result, lost = read(request, advance)
        if lost and strict:
            raise DataLost("; ".join(lost), "strict=False reads what is left")
        return result

    def _request(self, fields: Sequence[str] | None, start: Time | None, end: Time | None) -> _Request:
        chosen = None if fields is None else names("fields", fields)
        return (self.name, self.type, chosen, self.bag.time(start), self.bag.time(end))


def _topic(bag: Bag, index: int, topic: dict[str, Any]) -> Topic:
    losses = None if topic["losses"] is None else Account(**topic["losses"])
    return Topic(
        bag, index, topic["name"], topic["type"], topic["count"] or 0, topic["definition"],
        topic["definition_format"], topic["type_hash"], topic["offered_qos_profiles"], losses,
    )


# Seconds after which a bar appears that was not asked for.
_PATIENCE = 2.0


class _bar:  # noqa: N801
    """A progress bar of ``tqdm``, or nothing.

    ``None`` shows one where a person may see it, ``tqdm`` is installed, and the work takes long.
    """

    def __init__(self, wanted: bool | None, topic: Topic) -> None:
        self._bar = None
        if wanted is False or (wanted is None and not _is_watched()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if wanted:
                raise
            return
        delay = 0.0 if wanted else _PATIENCE
        self._bar = tqdm(total=topic.count, desc=topic.name, unit="msg", delay=delay)

    def __enter__(self) -> Callable[[int], Any] | None:
        return None if self._bar is None else self._bar.update

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Whether stderr is a terminal, or this is a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def _fields_of(topics: Sequence[str]) -> dict[str, list[str] | None]:
    """The fields of each topic, as `timeloom align` takes them: ``/topic`` or ``/topic:field,field``."""
    fields: dict[str, list[str] | None] = {}
    for given in topics:
        topic, separator, chosen = given.partition(":")
        if topic in fields:
            msg = f"topics has {topic} twice: name all of its fields at once"
            raise ValueError(msg)
        fields[topic] = chosen.split(",") if separator else None
    return fields


def align(
    bag: Bag, to: str, topics: Sequence[str] | Mapping[str, Sequence[str] | None], *, method: str = "nearest",
    tolerance: float | datetime.timedelta | None = None, by: str = "log_time", start: Time | None = None,
    end: Time | None = None, strict: bool = True,
) -> pyarrow.Table:
    """One table with a row for each message of the topic ``to``, and the values of other topics at its time.

    ``topics`` is a list of names, with fields if wanted (``"/imu/data:linear_acceleration,header.stamp"``), or a dict
    with the fields of each. ``method`` is ``"nearest"``, ``"previous"`` or ``"interpolate"``. ``tolerance`` is the
    largest distance in time, in seconds. ``by`` is ``"log_time"``, ``"publish_time"``, ``"header"`` or ``"sync"``: the
    stamp of the header as the time of the sensor's own clock, corrected as by ``timeloom sync retime``.

    The table has the column ``time`` and a struct for each topic: ``time``, ``distance`` and its fields. Where no
    message is near enough, the struct is null; the metadata of the table has the count, as ``unmatched:/topic``.
    ``start`` and ``end`` choose the rows; their values may be from before and after. ``strict=False`` leaves out what
    is damaged, cannot be decoded or has no time, instead of raising :class:`DataLost`.

    >>> table = timeloom.align(bag, "/fix", {"/imu/data": ["linear_acceleration.z"]}, tolerance=0.05)
    >>> table.num_rows, table.column_names
    (4, ['time', '/imu/data'])
    """
    import pyarrow

    limit = None if tolerance is None else duration("tolerance", tolerance)
    fields = topics if isinstance(topics, Mapping) else _fields_of(names("topics", topics))
    bag = checked(bag)
    requests: List[_Request] = [bag.topic(name)._request(chosen, start, end) for name, chosen in fields.items()]
    reference = bag.topic(to)._request(None, start, end)
    rows, unmatched, lost = _native.align(bag._native, reference, requests, method, limit, by)
    if lost and strict:
        raise DataLost("; ".join(lost), "strict=False aligns what is left")
    return pyarrow.table(rows).replace_schema_metadata({f"unmatched:{topic}": str(count) for topic, count in unmatched})
