"""Tables of results."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Iterator, Mapping

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow


class Table(Mapping[str, Any]):
    """Columns by name, as numpy arrays.

    >>> import numpy
    >>> table = Table({"topic": ["/a", "/b"], "count": numpy.array([1, 2])})
    >>> len(table), table.rows, table["topic"][1]
    (2, 2, '/b')
    >>> table.to_pandas().shape, table.to_arrow().column_names
    ((2, 2), ['topic', 'count'])
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        import numpy

        self._columns: dict[str, numpy.ndarray] = {}
        for name, values in columns.items():
            if not isinstance(values, numpy.ndarray):
                array = numpy.empty(len(values), dtype=object)
                array[:] = values
                values = array
            self._columns[name] = values

    @property
    def rows(self) -> int:
        """How many rows."""
        return next((len(column) for column in self._columns.values()), 0)

    def __getitem__(self, name: str) -> numpy.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_numpy(self) -> dict[str, numpy.ndarray]:
        """The columns by name."""
        return dict(self._columns)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame."""
        import pandas

        return pandas.DataFrame({name: pandas_column(column) for name, column in self._columns.items()})

    def to_arrow(self) -> pyarrow.Table:
        """A table of ``pyarrow``."""
        import pyarrow

        utc = pyarrow.timestamp("ns", "UTC")
        types = {name: utc if column.dtype.kind == "M" else None for name, column in self._columns.items()}
        return pyarrow.table({name: pyarrow.array(column, types[name]) for name, column in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table of {self.rows} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        try:
            return self.to_pandas()._repr_html_()
        except ImportError:
            return escape(repr(self))


def pandas_column(column: numpy.ndarray) -> Any:
    """A column of a data frame: times are of UTC, arrays are a list of them."""
    import pandas

    if column.ndim > 1:
        return list(column)
    return pandas.DatetimeIndex(column, tz="UTC") if column.dtype.kind == "M" else column


def from_rows(rows: list[dict[str, Any]], names: tuple[str, ...], durations: tuple[str, ...] = ()) -> Table:
    """A table of dicts with the same keys; ``durations`` are columns of nanoseconds.

    ``names`` are the columns of a table without rows.
    """
    import numpy

    columns: dict[str, Any] = {}
    for name in rows[0] if rows else names:
        values = [row[name] for row in rows]
        if name in durations:
            columns[name] = numpy.array([numpy.iinfo("i8").min if it is None else it for it in values], "m8[ns]")
        elif values and isinstance(values[0], (bool, int, float)):
            columns[name] = numpy.array(values)
        else:
            columns[name] = values
    return Table(columns)
