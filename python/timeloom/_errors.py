"""What can go wrong, as exceptions."""

from __future__ import annotations


class _Hinted(Exception):
    """An error with what to do about it in ``hint``."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text if hint is None else f"{text}\nhint: {hint}")
        self.hint = hint


class ReaderError(_Hinted):
    """A bag that cannot be read or written."""


class BagNotFound(ReaderError, FileNotFoundError):
    """There is no bag at a path."""


class BagExists(ReaderError, FileExistsError):
    """There is something already where a bag shall be written."""


class UnknownTopic(ReaderError, KeyError):
    """A topic that the bag does not have."""

    __str__ = Exception.__str__


class UnknownField(ReaderError, KeyError):
    """A field that the type does not have."""

    __str__ = Exception.__str__


class DataLost(ReaderError):
    """The bag was read to its end, but a part of it is damaged: what is missing is in the text."""


class CdrError(_Hinted, ValueError):
    """A payload that is not what its type says, or a type that is not known."""


class NodeError(_Hinted, RuntimeError):
    """A recorder, a player or a clock that cannot do what it is asked for."""


class SyncError(_Hinted, ValueError):
    """A device time that makes no sense."""
