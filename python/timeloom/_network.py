"""Topics to record or play, and the node that does it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence, Union

from ._arguments import mapping, names

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Selection:
    """Topics, services and actions: those that any list names, without those that an ``exclude`` list names.

    Without any list, everything is taken. For a recorder an expression matches a part of a name, for a player the whole
    name, as in ``ros2 bag``.

    >>> Selection(regex="/camera/.*", exclude_topics=["/camera/image_raw"]).exclude_topics
    ['/camera/image_raw']
    """

    topics: Sequence[str] = ()
    services: Sequence[str] = ()
    actions: Sequence[str] = ()
    topic_types: Sequence[str] = ()
    regex: str | None = None
    exclude_topics: Sequence[str] = ()
    exclude_services: Sequence[str] = ()
    exclude_actions: Sequence[str] = ()
    exclude_topic_types: Sequence[str] = ()
    exclude_regex: str | None = None
    include_hidden_topics: bool = False
    """Also topics with a part that begins with ``_``; a player takes them always."""
    lineage: bool = False
    """Also the tags of message tracking, whatever is chosen."""


def selection(topics: Sequence[str] | Selection | None) -> dict[str, Any]:
    """The selection that a list of topics stands for, for the native module."""
    if isinstance(topics, Selection):
        return vars(topics)
    return vars(Selection(topics=() if topics is None else names("topics", topics)))


def network(
    node_name: str, namespace: str, remap: Mapping[str, str] | None, domain: int | None, localhost: bool,
    use_sim_time: bool,
) -> dict[str, Any]:
    """The node, for the native module."""
    return {
        "node_name": node_name, "namespace": namespace, "domain": domain, "localhost": localhost,
        "remap": [f"{old}:={new}" for old, new in mapping("remap", remap).items()], "use_sim_time": use_sim_time,
    }


def qos_text(path: Path | None) -> str:
    """The file of QoS overrides, empty without one."""
    if path is None:
        return ""
    with open(os.fspath(path), encoding="utf-8") as file:
        return file.read()
