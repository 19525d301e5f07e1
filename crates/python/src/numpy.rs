//! Columns as numpy arrays.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PySlice, PyString};
use timeloom_columns::{Batch, Column, Lists, Strings};
use timeloom_msg::definition::ArrayShape;

use crate::value::numpy;

/// The rows of byte arrays, handed to Python batch by batch: they are large, and in the cache only then.
pub(crate) struct ByteRows<'py> {
    columns: Vec<Option<Bound<'py, PyList>>>,
}

impl<'py> ByteRows<'py> {
    pub(crate) fn new(py: Python<'py>, empty: &Batch) -> Self {
        let rows = |column: &Column| match column {
            Column::Bytes(strings) if strings.fixed_size().is_none() => Some(PyList::empty(py)),
            _ => None,
        };
        Self {
            columns: empty.columns.iter().map(rows).collect(),
        }
    }

    /// Rows that are there already, for the columns that are arrays of bytes.
    pub(crate) fn of(columns: Vec<Option<Bound<'py, PyList>>>) -> Self {
        Self { columns }
    }

    /// Takes the byte arrays out of a batch.
    pub(crate) fn take(&mut self, py: Python<'py>, batch: &mut Batch) -> PyResult<()> {
        for (rows, column) in self.columns.iter().zip(&mut batch.columns) {
            if let (Some(rows), Column::Bytes(strings)) = (rows, &*column) {
                slices(&flat_bytes(py, strings)?, &strings.offsets, rows)?;
                *column = Column::Nothing;
            }
        }
        Ok(())
    }
}

/// All columns of all batches by name: the fields of nested messages have a name with dots.
pub(crate) fn arrays<'py>(
    py: Python<'py>,
    batches: Vec<Batch>,
    bytes: &ByteRows<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let mut log_times = Vec::new();
    let mut publish_times = Vec::new();
    let mut names = None;
    let mut columns: Vec<Vec<Column>> = Vec::new();
    for batch in batches {
        log_times.push(batch.log_times);
        publish_times.push(batch.publish_times);
        names = Some(batch.names);
        columns.resize_with(batch.columns.len(), Vec::new);
        for (parts, column) in columns.iter_mut().zip(batch.columns) {
            parts.push(column);
        }
    }
    dict.set_item(
        "log_time",
        numbers(py, &log_times, "<M8[ns]", i64::to_le_bytes)?,
    )?;
    dict.set_item(
        "publish_time",
        numbers(py, &publish_times, "<M8[ns]", i64::to_le_bytes)?,
    )?;
    let taken = ["log_time", "publish_time"];
    let names = names.unwrap_or_default();
    for ((name, parts), rows) in names.iter().zip(columns).zip(&bytes.columns) {
        let end = if taken.contains(&name.as_str()) {
            "_"
        } else {
            ""
        };
        let name = format!("{name}{end}");
        match rows {
            Some(rows) => dict.set_item(name, objects(py, rows)?)?,
            None => add(py, &dict, name, parts)?,
        }
    }
    Ok(dict)
}

/// Adds a column that comes in parts; there is one part at least.
fn add(py: Python<'_>, dict: &Bound<'_, PyDict>, name: String, parts: Vec<Column>) -> PyResult<()> {
    if let Some(Column::Struct(first)) = parts.first() {
        let ty = std::sync::Arc::clone(&first.ty);
        let mut children: Vec<Vec<Column>> = ty.fields().iter().map(|_| Vec::new()).collect();
        for part in parts {
            if let Column::Struct(part) = part {
                for (parts, column) in children.iter_mut().zip(part.children) {
                    parts.push(column);
                }
            }
        }
        for (field, parts) in ty.fields().iter().zip(children) {
            add(py, dict, format!("{name}.{}", field.name()), parts)?;
        }
        return Ok(());
    }
    if let Some(array) = array(py, &parts)? {
        dict.set_item(name, array)?;
    }
    Ok(())
}

/// The array of a column that is no message; `None` when it holds nothing.
fn array<'py>(py: Python<'py>, parts: &[Column]) -> PyResult<Option<Bound<'py, PyAny>>> {
    macro_rules! join {
        ($variant:ident, $dtype:literal, $bytes:expr) => {{
            let parts = parts.iter().filter_map(|part| match part {
                Column::$variant(values) => Some(values),
                _ => None,
            });
            numbers(py, &parts.collect::<Vec<_>>(), $dtype, $bytes).map(Some)
        }};
    }
    match parts.first() {
        None | Some(Column::Nothing | Column::Struct(_)) => Ok(None),
        Some(Column::Bool(_)) => join!(Bool, "?", u8::to_le_bytes),
        Some(Column::Int8(_)) => join!(Int8, "i1", i8::to_le_bytes),
        Some(Column::Uint8(_)) => join!(Uint8, "u1", u8::to_le_bytes),
        Some(Column::Int16(_)) => join!(Int16, "<i2", i16::to_le_bytes),
        Some(Column::Uint16(_)) => join!(Uint16, "<u2", u16::to_le_bytes),
        Some(Column::Int32(_)) => join!(Int32, "<i4", i32::to_le_bytes),
        Some(Column::Uint32(_)) => join!(Uint32, "<u4", u32::to_le_bytes),
        Some(Column::Int64(_)) => join!(Int64, "<i8", i64::to_le_bytes),
        Some(Column::Uint64(_)) => join!(Uint64, "<u8", u64::to_le_bytes),
        Some(Column::Float32(_)) => join!(Float32, "<f4", f32::to_le_bytes),
        Some(Column::Float64(_)) => join!(Float64, "<f8", f64::to_le_bytes),
        Some(Column::Time(_)) => join!(Time, "<M8[ns]", i64::to_le_bytes),
        Some(Column::Duration(_)) => join!(Duration, "<m8[ns]", i64::to_le_bytes),
        Some(Column::Text(_)) => {
            let texts = PyList::empty(py);
            for part in parts {
                if let Column::Text(strings) = part {
                    for text in strings.rows() {
                        texts.append(PyString::new(py, &String::from_utf8_lossy(text)))?;
                    }
                }
            }
            objects(py, &texts).map(Some)
        }
        Some(Column::Bytes(first)) => bytes(py, first.fixed_size(), parts).map(Some),
        Some(Column::List(first)) => lists(py, first.shape, parts).map(Some),
    }
}

/// One array of numbers from several vectors.
pub(crate) fn numbers<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    parts: &[impl AsRef<[T]>],
    dtype: &str,
    to_bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyAny>> {
    let count: usize = parts.iter().map(|part| part.as_ref().len()).sum();
    if count == 0 {
        return numpy(py)?.call_method1(intern!(py, "empty"), (0, dtype));
    }
    let buffer = PyByteArray::new_with(py, count * N, |buffer| {
        let (places, _) = buffer.as_chunks_mut::<N>();
        let values = parts.iter().flat_map(AsRef::as_ref);
        for (place, value) in places.iter_mut().zip(values) {
            *place = to_bytes(*value);
        }
        Ok(())
    })?;
    numpy(py)?.call_method1(intern!(py, "frombuffer"), (buffer, dtype))
}

/// An array of Python objects.
fn objects<'py>(py: Python<'py>, items: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    let array = numpy(py)?.call_method1(intern!(py, "empty"), (items.len(), "O"))?;
    for (index, item) in items.iter().enumerate() {
        array.set_item(index, item)?;
    }
    Ok(array)
}

/// Arrays of bytes: of a fixed size a table of numbers, else one array for each row.
fn bytes<'py>(
    py: Python<'py>,
    fixed: Option<u32>,
    parts: &[Column],
) -> PyResult<Bound<'py, PyAny>> {
    let rows = PyList::empty(py);
    let mut count = 0;
    for part in parts {
        if let Column::Bytes(strings) = part {
            count += strings.offsets.len().saturating_sub(1);
            if fixed.is_none() {
                slices(&flat_bytes(py, strings)?, &strings.offsets, &rows)?;
            }
        }
    }
    let Some(size) = fixed else {
        return objects(py, &rows);
    };
    let data = parts.iter().filter_map(|part| match part {
        Column::Bytes(strings) => Some(&strings.data),
        _ => None,
    });
    let flat = numbers(py, &data.collect::<Vec<_>>(), "u1", u8::to_le_bytes)?;
    flat.call_method1(intern!(py, "reshape"), (count, size))
}

fn flat_bytes<'py>(py: Python<'py>, strings: &Strings) -> PyResult<Bound<'py, PyAny>> {
    let buffer = PyByteArray::new(py, &strings.data);
    if strings.data.is_empty() {
        return numpy(py)?.call_method1(intern!(py, "empty"), (0, "u1"));
    }
    numpy(py)?.call_method1(intern!(py, "frombuffer"), (buffer, "u1"))
}

/// Arrays of anything: of a fixed size a table, else one array for each row.
fn lists<'py>(py: Python<'py>, shape: ArrayShape, parts: &[Column]) -> PyResult<Bound<'py, PyAny>> {
    let lists = || {
        parts.iter().filter_map(|part| match part {
            Column::List(lists) => Some(lists),
            _ => None,
        })
    };
    let is_message = lists().any(|it| matches!(*it.items, Column::Struct(_) | Column::Nothing));
    if let (ArrayShape::Fixed(size), false) = (shape, is_message) {
        let count: usize = lists().map(|it| it.offsets.len().saturating_sub(1)).sum();
        let items: Vec<Column> = lists().map(|it| (*it.items).clone()).collect();
        if let Some(flat) = array(py, &items)? {
            return flat.call_method1(intern!(py, "reshape"), (count, size));
        }
    }
    let rows = PyList::empty(py);
    for part in lists() {
        list_rows(py, part, &rows)?;
    }
    objects(py, &rows)
}

/// A list of messages is a dict for each row: an array for each field.
fn list_rows(py: Python<'_>, lists: &Lists, rows: &Bound<'_, PyList>) -> PyResult<()> {
    let fields = PyDict::new(py);
    match &*lists.items {
        Column::Struct(message) => {
            for (field, child) in message.ty.fields().iter().zip(&message.children) {
                add(py, &fields, field.name().to_owned(), vec![child.clone()])?;
            }
        }
        items => {
            if let Some(flat) = array(py, std::slice::from_ref(items))? {
                return slices(&flat, &lists.offsets, rows);
            }
        }
    }
    for pair in lists.offsets.windows(2) {
        let row = PyDict::new(py);
        if let [start, end] = pair {
            for (name, array) in &fields {
                row.set_item(name, array.get_item(slice(py, *start, *end))?)?;
            }
        }
        rows.append(row)?;
    }
    Ok(())
}

/// Adds a view of the array for each row.
fn slices(array: &Bound<'_, PyAny>, offsets: &[i32], rows: &Bound<'_, PyList>) -> PyResult<()> {
    for pair in offsets.windows(2) {
        if let [start, end] = pair {
            rows.append(array.get_item(slice(array.py(), *start, *end))?)?;
        }
    }
    Ok(())
}

fn slice(py: Python<'_>, start: i32, end: i32) -> Bound<'_, PySlice> {
    let index = |at: i32| isize::try_from(at).unwrap_or(isize::MAX);
    PySlice::new(py, index(start), index(end), 1)
}
