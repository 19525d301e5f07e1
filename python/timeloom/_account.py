"""The account of a topic: what was recorded, what is missing and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Account:
    """published = recorded + lost in transport + lost in the recorder + left out, and what is unknown.

    >>> account = Account(published=5, recorded=4, lost_in_transport=1, causes={"transport": 1})
    >>> account.lost, account["recorded"]
    (1, 4)
    """

    published: int = 0
    """Messages that were published, as far as it is known."""
    recorded: int = 0
    """Messages in the bag."""
    lost_in_transport: int = 0
    lost_in_recorder: int = 0
    left_out: int = 0
    """Messages that are not in the bag on purpose, such as those during a pause."""
    unknown_at_most: int = 0
    """Messages that may have been published besides."""
    unknown_open: bool = False
    """Whether there may be any number of them."""
    bytes: int = 0
    causes: dict[str, int] = field(default_factory=dict)
    """Missing messages by their cause."""
    times: list[tuple[int, int, str, int]] = field(default_factory=list)
    """When messages are missing: start, end, cause, messages. Only in bags."""

    @property
    def lost(self) -> int:
        """Messages that were lost anywhere."""
        return self.lost_in_transport + self.lost_in_recorder

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)
