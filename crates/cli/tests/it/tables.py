"""Reads tables of timeloom with pyarrow, pandas, DuckDB and polars.

tables.py same PARQUET_DIRECTORY ARROW_DIRECTORY NDJSON   all tools read the messages of the lines of JSON
tables.py show FILE                                       metadata and rows as JSON
tables.py aligned NDJSON TO METHOD,TOLERANCE,BY …         tables of `align` hold what a search in all messages finds
"""

import base64
import json
import math
import pathlib
import sys

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

SECOND = 1_000_000_000


def messages(path):
    """The messages of each topic, as our own decoder prints them."""
    topics = {}
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            topics.setdefault(line["topic"], []).append(line)
    return topics


def expected(value, kind):
    """A value of our JSON as a column of this type has it."""
    if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_duration(kind):
        assert kind.unit == "ns", kind
        return value["sec"] * SECOND + value["nanosec"]
    if pyarrow.types.is_struct(kind):
        names = {field.name for field in kind}
        for name, content in value.items():
            assert name in names or content in ({}, []), name
        return {field.name: expected(value[field.name], field.type) for field in kind}
    if pyarrow.types.is_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        return [expected(item, kind.value_type) for item in value]
    if pyarrow.types.is_binary(kind):
        return base64.b64decode(value)
    if pyarrow.types.is_float32(kind):
        return float(numpy.float32(value))
    if pyarrow.types.is_floating(kind):
        return float(value)
    return value


def plain(value):
    """A value without the types of pandas."""
    if isinstance(value, (pandas.Timestamp, pandas.Timedelta)):
        return value.value
    if isinstance(value, dict):
        return {name: plain(content) for name, content in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def same(first, second):
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first):
        return math.isnan(second)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def check(first, second, *where):
    assert same(first, second), (where, first, second)


def rows(table):
    return [plain(row) for row in table.to_pylist()]


def read_arrow(path):
    return pyarrow.ipc.open_file(pyarrow.OSFile(str(path))).read_all()


def metadata(path):
    if path.suffix == ".parquet":
        pairs = pyarrow.parquet.ParquetFile(path).metadata.metadata
    else:
        file = pyarrow.ipc.open_file(pyarrow.OSFile(str(path)))
        pairs = {**(file.schema.metadata or {}), **(getattr(file, "metadata", None) or {})}
    return {key.decode(): text.decode() for key, text in pairs.items() if key != b"ARROW:schema"}


def leaves(schema):
    """The paths of single values, through nested messages."""

    def below(path, kind):
        if pyarrow.types.is_struct(kind):
            for field in kind:
                yield from below([*path, field.name], field.type)
        elif not pyarrow.types.is_list(kind) and not pyarrow.types.is_fixed_size_list(kind):
            yield path, kind

    for field in schema:
        yield from below([field.name], field.type)


def column(table_rows, path):
    values = table_rows
    for name in path:
        values = [value[name] for value in values]
    return values


def check_tools(path, table, table_rows):
    """pandas, DuckDB and polars read what pyarrow reads."""
    feather = path.suffix == ".arrow"
    frame = pandas.read_feather(path) if feather else pandas.read_parquet(path)
    lazy = polars.read_ipc(path) if feather else polars.read_parquet(path)
    assert len(frame) == lazy.height == len(table_rows), path
    times = column(table_rows, ["log_time"])
    assert frame["log_time"].astype("int64").tolist() == times, path
    assert lazy["log_time"].to_physical().to_list() == times, path
    # DuckDB reads Arrow files through pyarrow.
    in_memory = table
    source = "in_memory" if feather else f"'{path}'"
    for steps, kind in leaves(table.schema):
        values = column(table_rows, steps)
        where = (str(path), steps)
        series = lazy[steps[0]]
        nested = frame[steps[0]]
        for name in steps[1:]:
            series = series.struct.field(name)
            nested = [value[name] for value in nested]
        name = ".".join(f'"{step}"' for step in steps)
        if pyarrow.types.is_timestamp(kind):
            name = f"epoch_ns({name})"
            series = series.to_physical()
            nested = [pandas.Timestamp(value).value for value in nested]
        elif pyarrow.types.is_duration(kind):
            # DuckDB has no duration of nanoseconds, nor has Parquet: DuckDB reads a number.
            if feather:
                continue
            series = series.to_physical()
            nested = [pandas.Timedelta(value).value for value in nested]
        check(series.to_list(), values, "polars", *where)
        check([plain(value) for value in nested], values, "pandas", *where)
        found = duckdb.sql(f"SELECT {name} FROM {source}").fetchall()
        check([row[0] for row in found], values, "duckdb", *where)


def check_row_groups(path):
    """Row groups follow each other in time and say so."""
    meta = pyarrow.parquet.ParquetFile(path).metadata
    end = None
    for index in range(meta.num_row_groups):
        group = meta.row_group(index)
        assert group.sorting_columns[0].column_index == 0, path
        statistics = group.column(0).statistics
        assert end is None or statistics.min >= end, path
        end = statistics.max


def compare(parquet, arrow, lines):
    topics = messages(lines)
    seen = 0
    for path in sorted(pathlib.Path(parquet).iterdir()):
        if path.stem in ("losses", "loss_times"):
            pyarrow.parquet.read_table(path)
            continue
        table = pyarrow.parquet.read_table(path)
        pairs = metadata(path)
        found = rows(table)
        wanted = topics.pop(pairs["timeloom.topic"], [])
        assert int(pairs["timeloom.messages"]) == len(wanted) == len(found), path
        assert pairs["timeloom.undecoded"] == "0", path
        for message, row in zip(wanted, found):
            names = set(row) - {"log_time", "publish_time"}
            times = {name: message[name] for name in ("log_time", "publish_time")}
            kind = pyarrow.struct([field for field in table.schema if field.name in names])
            check({**times, **expected(message["message"], kind)}, row, str(path))
        other = pathlib.Path(arrow) / f"{path.stem}.arrow"
        again = read_arrow(other)
        assert again.schema.equals(table.schema, check_metadata=False), path
        check(rows(again), found, str(other))
        assert metadata(other).items() >= {("timeloom.topic", pairs["timeloom.topic"])}
        check_row_groups(path)
        check_tools(path, table, found)
        check_tools(other, again, found)
        seen += 1
    assert not topics, topics.keys()
    print(seen)


def show(path):
    path = pathlib.Path(path)
    table = pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else read_arrow(path)
    text = {"metadata": metadata(path), "rows": rows(table)}
    text["types"] = {field.name: str(field.type) for field in table.schema}
    print(json.dumps(text, default=lambda value: list(value)))


def time_of(message, by):
    if by == "header":
        stamp = message["message"]["header"]["stamp"]
        return stamp["sec"] * SECOND + stamp["nanosec"]
    return message[f"{by}_time"]


def partner(frame, samples, method, tolerance):
    """The message for a time, or the two around it, by looking at all of them."""
    near = [it for it in samples if tolerance is None or abs(it[0] - frame) <= tolerance]
    before = [it for it in near if it[0] <= frame]
    after = [it for it in near if it[0] > frame]
    if method == "previous":
        return before[-1:]
    if method == "nearest":
        return sorted(near, key=lambda it: (abs(it[0] - frame), it[0]))[:1]
    if before and before[-1][0] == frame:
        return before[-1:]
    return [before[-1], after[0]] if before and after else []


def aligned(lines, to, *names):
    topics = messages(lines)
    for name in names:
        print(check_aligned(topics, to, name))


def check_aligned(topics, to, name):
    """The number of rows without a partner."""
    path = pathlib.Path(f"{name}.parquet")
    method, tolerance, by = name.split(",")
    table = rows(pyarrow.parquet.read_table(path))
    tolerance = None if tolerance == "any" else int(tolerance)
    frames = sorted(time_of(message, by) for message in topics[to])
    assert [row["time"] for row in table] == frames
    names = [name for name in table[0] if name != "time"]
    unmatched = {}
    for name in names:
        samples = [(time_of(message, by), message["message"]) for message in topics[name]]
        samples.sort(key=lambda it: it[0])
        unmatched[name] = 0
        for row in table:
            found = partner(row["time"], samples, method, tolerance)
            value = row[name]
            if not found:
                assert value is None, (name, row)
                unmatched[name] += 1
                continue
            nearest = min(found, key=lambda it: (abs(it[0] - row["time"]), it[0]))
            assert value["time"] == nearest[0], (name, row)
            assert value["distance"] == nearest[0] - row["time"], (name, row)
            got = value["linear_acceleration"]["z"]
            wanted = [float(it[1]["linear_acceleration"]["z"]) for it in found]
            if len(found) == 2:
                span = found[1][0] - found[0][0]
                share = (row["time"] - found[0][0]) / span
                wanted = [wanted[0] + (wanted[1] - wanted[0]) * share]
            assert math.isclose(got, wanted[0], rel_tol=1e-9, abs_tol=1e-12), (got, wanted)
            covariance = nearest[1]["orientation_covariance"]
            if len(found) == 1:
                check(value["orientation_covariance"], [float(it) for it in covariance])
    pairs = metadata(path)
    assert json.loads(pairs["timeloom.unmatched"]) == unmatched, (pairs, unmatched)
    assert (pairs["timeloom.method"], pairs["timeloom.by"]) == (method, by), pairs
    return sum(unmatched.values())


if __name__ == "__main__":
    {"same": compare, "show": show, "aligned": aligned}[sys.argv[1]](*sys.argv[2:])
