"""Lineage: which messages an output was made of, how long that took, and what was lost on the way."""

from __future__ import annotations

import json
import os
from typing import Any, Sequence

from . import _native
from ._arguments import names
from ._bag import Bag, Time, checked
from ._errors import DataLost
from ._network import Path
from ._table import Table, from_rows

_CASES = ("best", "worst", "reaction", "all", "data_age", "data_age_at_end")
# What becomes of a message of a source.
_OUTCOMES = (
    "completed", "partial", "lost_in_transport", "superseded", "lost_in_recorder", "no_tag", "expired", "in_flight",
)
_DEADLINES = (
    "name", "source", "via", "target", "limit", "checked", "missed", "missed_by_late_link", "missed_by_timer",
)
_QUANTILES = ("min", "p50", "p90", "p99", "p999", "max", "mean")


class Trace:
    """The lineage of a bag as tables; durations are ``timedelta64[ns]``."""

    def __init__(self, report: dict[str, Any], flows: dict[str, Any]) -> None:
        self.report = report
        """All of it, as in ``timeloom trace report --format json``; times are nanoseconds."""
        self._flows = flows

    @property
    def notes(self) -> list[str]:
        """What else there is to know, such as how links were found."""
        return list(self.report["notes"])

    @property
    def paths(self) -> Table:
        """A row for each path to a target: ``target``, ``path``, ``count``, and the quantiles of each latency.

        ``best_p99`` is from a message of the source to the first target that was made of it; ``worst``, ``reaction``,
        ``data_age`` are explained in the documentation of ``timeloom trace report``. ``suspicious`` latencies were
        negative, and are in no other number.
        """
        rows = []
        for target in self.report["targets"]:
            for path in target["paths"] + target["segments"]:
                row = {"target": target["topic"], "source": path["topics"][0], "path": path["topics"]}
                row["count"] = path["best"]["count"]
                for case in _CASES:
                    row.update(_summary(case, path[case]))
                rows.append({**row, "suspicious": path["suspicious"], "unbounded": path["unbounded"]})
        durations = tuple(f"{case}_{name}" for case in _CASES for name in _QUANTILES)
        return from_rows(rows, ("target", "source", "path", "count", *durations, "suspicious", "unbounded"), durations)

    @property
    def hops(self) -> Table:
        """A row for each link between two topics: ``from``, ``to``, ``nodes``, and what transport and node take."""
        parts = ("total", "transport", "queue", "node")
        rows = []
        for hop in self.report["hops"]:
            row = {"from": hop["from"], "to": hop["to"], "nodes": hop["nodes"], "count": hop["total"]["count"]}
            for part in parts:
                row.update(_summary(part, hop[part]))
            rows.append({**row, "negative": hop["negative"], "unresolved": hop["unresolved"]})
        durations = tuple(f"{part}_{name}" for part in parts for name in _QUANTILES)
        return from_rows(rows, ("from", "to", "nodes", "count", *durations, "negative", "unresolved"), durations)

    @property
    def losses(self) -> Table:
        """A row for each source of a target: how many messages were published, and what became of them.

        The columns after ``published`` add up to it.
        """
        rows = []
        for target in self.report["targets"]:
            for source in target["sources"] + target["segment_sources"]:
                counts = {name: count for name, count in source["outcomes"].items() if isinstance(count, int)}
                rows.append({"target": target["topic"], "source": source["topic"],
                             "published": source["published"], **counts})
        return from_rows(rows, ("target", "source", "published", *_OUTCOMES))

    @property
    def deadlines(self) -> Table:
        """A row for each deadline of the plan: how often it was checked and missed."""
        rows = [{name: value for name, value in deadline.items() if name != "ended_before"}
                for deadline in self.report["deadlines"]]
        rows = [{"limit" if name == "limit_ns" else name: value for name, value in row.items()} for row in rows]
        return from_rows(rows, _DEADLINES, ("limit",))

    @property
    def flows(self) -> Table:
        """A row for each message of a target and path to it: ``path``, ``published``, stamps and ``latency``."""
        paths = self._flows["paths"]
        columns = {name: column for name, column in self._flows.items() if name != "paths"}
        columns["path"] = [paths[number] for number in columns["path"]]
        columns["is_first"] = columns["is_first"].astype(bool)
        columns["from_reception"] = columns["from_reception"].astype(bool)
        return Table(columns)

    def __repr__(self) -> str:
        targets = ", ".join(target["topic"] for target in self.report["targets"])
        return f"<Trace of {self.report['messages']} messages to {targets or 'no target'}>"


def _summary(name: str, summary: dict[str, int]) -> dict[str, int | None]:
    known = summary["count"] > 0
    return {f"{name}_{quantile}": summary[f"{quantile}_ns"] if known else None for quantile in _QUANTILES}


def trace(
    bag: Bag, to: Sequence[str] = (), *, from_: Sequence[str] = (), ignore: Sequence[str] = (), links: str = "auto",
    plan: Path | None = None, keep: float = 10.0, flows: bool = True, start: Time | None = None,
    end: Time | None = None, strict: bool = True,
) -> Trace:
    """The paths of messages through a robot, with latencies and losses: ``timeloom trace report`` as tables.

    ``to`` and ``from_`` are the topics at which paths end and begin, by default those without outputs and inputs.
    ``links`` says how links are found: ``"auto"``, ``"tags"``, ``"stamp"``, ``"model"`` or ``"graph"``. ``plan`` is a
    file with node models and budgets. ``keep``: seconds for which a message is remembered. ``flows=False`` keeps no
    single flows, for long bags.

    >>> trace = timeloom.trace(bag, links="stamp")
    >>> list(trace.losses)[:3] if trace.losses.rows else "no links"
    'no links'
    """
    bag = checked(bag)
    text = ""
    if plan is not None:
        with open(os.fspath(plan), encoding="utf-8") as file:
            text = file.read()
    report, found, lost = _native.trace(bag._native, {
        "targets": names("to", to), "sources": names("from_", from_), "ignore": names("ignore", ignore),
        "links": links, "plan": text,
        "keep": keep, "flows": flows, "start": bag.time(start), "end": bag.time(end),
    })
    if lost and strict:
        raise DataLost("; ".join(lost), "strict=False uses what is left")
    return Trace(json.loads(report), found)
