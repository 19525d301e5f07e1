"""A bag in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._bag import Bag, Topic

_WIDTH, _HEIGHT = 240, 14


def bag(bag: Bag) -> str:
    """A table of the topics with their losses."""
    rows = "".join(_row(bag, topic) for topic in bag.topics)
    head = "".join(f"<th>{name}</th>" for name in ("topic", "type", "messages", "lost", "left out", "losses in time"))
    title = f"{escape(', '.join(bag.paths))}: {bag.message_count} messages in {bag.duration:.1f} s"
    damage = "".join(f"<li>{escape(text)}</li>" for text in bag.damage)
    damage = f"<p>damaged:</p><ul>{damage}</ul>" if damage else ""
    return f"<div><p><b>{title}</b></p>{damage}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def _row(bag: Bag, topic: Topic) -> str:
    losses = topic.losses
    if losses is None:
        counts = ["not counted", "", ""]
    else:
        shown = ["?" if count is None else str(count) for count in (losses.lost, losses.left_out)]
        counts = [*shown, _timeline(bag, losses["times"])]
    cells = [escape(topic.name), escape(topic.type), str(topic.count), *counts]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _timeline(bag: Bag, times: list[tuple[int, int, str, int]]) -> str:
    """The time of the bag as a line, with a mark where messages are missing."""
    start, end = bag.start_time or 0, bag.end_time or 0
    span = max(end - start, 1)
    marks = ""
    for begin, stop, cause, messages in times:
        left = max(0.0, min(1.0, (begin - start) / span)) * _WIDTH
        width = max(2.0, min(1.0, (stop - begin) / span) * _WIDTH)
        title = f"<title>{messages} {escape(cause)}</title>"
        marks += f'<rect x="{left:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}" fill="#c0392b">{title}</rect>'
    line = f'<rect x="0" y="{_HEIGHT // 2 - 1}" width="{_WIDTH}" height="2" fill="#7f8c8d"/>'
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" xmlns="http://www.w3.org/2000/svg">{line}{marks}</svg>'
