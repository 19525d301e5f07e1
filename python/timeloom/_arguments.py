"""Checks of arguments that Python itself would take for something else."""

from __future__ import annotations

import datetime
import numbers
import os
from typing import Any, Mapping, Sequence

_TIMES = 2**63


def names(argument: str, given: Sequence[str]) -> list[str]:
    """A list of names. A single name is refused: it would be read letter by letter."""
    if isinstance(given, (str, bytes)):
        msg = f"{argument} is a list of names: [{given!r}]"
        raise TypeError(msg)
    try:
        listed = list(given)
    except TypeError:
        msg = f"{argument} is a list of names, not {type(given).__name__}"
        raise TypeError(msg) from None
    for name in listed:
        if not isinstance(name, str):
            msg = f"{argument}: {name!r} is not a name"
            raise TypeError(msg)
    return listed


def mapping(argument: str, given: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """A dict; empty without one."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"{argument} is a dict, not {type(given).__name__}"
        raise TypeError(msg)
    return dict(given)


def in_range(nanos: int, given: object) -> int:
    """A time in nanoseconds that fits 64 bits, as those of bags do."""
    if not -_TIMES <= nanos < _TIMES:
        msg = f"{given!r} is out of range: times are nanoseconds since the epoch in 64 bits, from 1677 to 2262"
        raise ValueError(msg)
    return nanos


def duration(argument: str, given: float | datetime.timedelta) -> int:
    """The nanoseconds of a duration in seconds, which is not negative."""
    if isinstance(given, datetime.timedelta):
        nanos = given // datetime.timedelta(microseconds=1) * 1000
    elif isinstance(given, numbers.Real):
        try:
            nanos = round(float(given) * 1e9)
        except (OverflowError, ValueError):
            nanos = -1
    else:
        msg = f"{argument} is a number of seconds, not {type(given).__name__}"
        raise TypeError(msg)
    if not 0 <= nanos < _TIMES:
        msg = f"{argument} is {given}, and must be a number of seconds from 0"
        raise ValueError(msg)
    return nanos


def folder(argument: str, given: os.PathLike[str] | str) -> str:
    """A path of this machine at which a bag can be written."""
    path = os.fsdecode(given)
    if not path:
        msg = f"{argument} is empty: it is the folder of the bag"
        raise ValueError(msg)
    if "://" in path:
        msg = f"{argument} is {path}: bags are written to a folder of this machine, `timeloom upload` sends them"
        raise ValueError(msg)
    return path
