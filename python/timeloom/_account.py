"""The account of a topic: what was recorded, what is missing and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Account:
    """published = recorded + lost in transport + lost in the recorder + left out, and what is unknown.

    A count is ``None`` if the recorder did not count it, as most versions of ``ros2 bag record``.

    >>> account = Account(published=5, recorded=4, lost_in_transport=1, causes={"transport": 1})
    >>> account.lost, account["recorded"]
    (1, 4)
    """

    published: int | None = 0
    """Messages that were published."""
    recorded: int = 0
    """Messages in the bag."""
    lost_in_transport: int | None = 0
    lost_in_recorder: int | None = 0
    left_out: int | None = 0
    """Messages that are not in the bag on purpose, such as those during a pause."""
    unknown_at_most: int | None = 0
    """Messages that may have been published besides."""
    unknown_open: bool = False
    """Whether there may be any number of them."""
    bytes: int = 0
    causes: dict[str, int] = field(default_factory=dict)
    """Missing messages by their cause."""
    times: list[tuple[int, int, str, int]] = field(default_factory=list)
    """When messages are missing: start, end, cause, messages. Only in bags."""

    @property
    def lost(self) -> int | None:
        """Messages that were lost anywhere; ``None`` if they were not counted."""
        counts = [count for count in (self.lost_in_transport, self.lost_in_recorder) if count is not None]
        return sum(counts) if counts else None

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)
