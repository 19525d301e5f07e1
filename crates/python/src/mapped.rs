//! Large arrays of bytes as numpy arrays: views of the file where they are stored as they are, else copied once.

use std::path::Path;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_columns::{Batch, Column, Rows, TopicRequest, Undecoded, lost_in};
use timeloom_msg::cdr::Cursor;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::Element;
use timeloom_msg::{Schema, SkipProgram};

use crate::file_maps::FileMaps;
use crate::memory::Memory;
use crate::numpy::{self, ByteRows};
use crate::slices::{Slice, SliceReader};
use crate::value;

/// Topics with smaller messages are copied: a view costs more than a copy of so few bytes.
const LARGE: usize = 16 << 10;

/// Finds an array of bytes in a payload.
struct ByteField {
    /// Steps over all fields before it.
    before: SkipProgram,
    shape: ArrayShape,
}

impl ByteField {
    fn find(schema: &Schema, path: &str) -> Option<Self> {
        let mut message = schema.root();
        let mut before = Vec::new();
        let mut names = path.split('.').peekable();
        loop {
            let (index, field) = message.field(names.next()?)?;
            let fields = message.fields().iter().take(index);
            before.extend(fields.map(timeloom_msg::schema::SchemaField::ty));
            let ty = field.ty();
            if names.peek().is_none() {
                return Some(Self {
                    before: SkipProgram::compile(before),
                    shape: ty.shape,
                });
            }
            match (&ty.element, ty.shape) {
                (Element::Struct(inner), ArrayShape::Single) => message = inner,
                _ => return None,
            }
        }
    }

    /// Where the bytes begin in a payload, and how many there are.
    fn locate(&self, payload: &[u8]) -> timeloom_msg::Result<Span> {
        let mut cursor = Cursor::new(payload)?;
        cursor.skip(&self.before)?;
        let count = cursor.count(self.shape)?;
        let bytes = cursor.slice("uint8", count, 1)?;
        Ok(Span {
            start: cursor.offset() - bytes.len(),
            length: bytes.len(),
        })
    }
}

/// A part of a payload.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    length: usize,
}

/// The bytes of one message.
enum ByteRow {
    /// A part of a file.
    Stored {
        file: Arc<Path>,
        start: u64,
        length: usize,
    },
    /// Bytes that are stored in another form, or elsewhere.
    InMemory(Memory),
}

/// Some rows.
pub(crate) struct MappedPart {
    /// All fields but arrays of bytes.
    batch: Batch,
    /// For each array of bytes its rows.
    bytes: Vec<Vec<ByteRow>>,
}

/// Reads one topic; its variable arrays of bytes become views.
pub(crate) struct MappedRows {
    reader: BagReader,
    query: Query,
    /// All fields but arrays of bytes.
    rows: Rows,
    fields: Arc<[ByteField]>,
    /// For each array of bytes its rows so far.
    bytes: Vec<Vec<ByteRow>>,
    /// The file of the last message.
    file: Arc<Path>,
    unread: Vec<String>,
    undecoded: (u64, String),
}

/// Whether a column is an array of bytes of any length.
fn is_bytes(column: &Column) -> bool {
    matches!(column, Column::Bytes(strings) if strings.fixed_size().is_none())
}

/// The columns of a table: where its arrays of bytes are, and the names of the others.
pub(crate) struct ByteColumns {
    schema: Arc<Schema>,
    fields: Arc<[ByteField]>,
    others: Vec<String>,
}

impl ByteColumns {
    /// `None` when there are no arrays of bytes, or some cannot be found without decoding.
    pub(crate) fn find(schema: Arc<Schema>, empty: &Batch) -> Option<Self> {
        // Where a wide string ends depends on the whole message.
        if schema.root().has_wstring() || !empty.columns.iter().any(is_bytes) {
            return None;
        }
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for (name, column) in empty.names.iter().zip(&empty.columns) {
            if is_bytes(column) {
                fields.push(ByteField::find(&schema, name)?);
            } else {
                others.push(name.clone());
            }
        }
        Some(Self {
            schema,
            fields: fields.into(),
            others,
        })
    }
}

impl MappedRows {
    pub(crate) fn new(
        reader: BagReader,
        query: Query,
        columns: &ByteColumns,
    ) -> timeloom_columns::Result<Self> {
        let rows = Rows::new(Arc::clone(&columns.schema), Some(&columns.others))?;
        let fields = Arc::clone(&columns.fields);
        Ok(Self {
            unread: lost_in(&reader.info().damage),
            reader,
            query,
            rows: rows.with_undecoded(Undecoded::LeaveOut),
            bytes: fields.iter().map(|_| Vec::new()).collect(),
            fields,
            file: Path::new("").into(),
            undecoded: (0, String::new()),
        })
    }

    /// Whether the first message is so large that views are worth it.
    pub(crate) fn is_large(&mut self, request: &TopicRequest) -> timeloom_columns::Result<bool> {
        self.start(Slice {
            start_ns: request.start_ns,
            end_ns: request.end_ns,
        })?;
        match self.reader.next_message() {
            Ok(Some(message)) => Ok(message.data.len() >= LARGE),
            Ok(None) => Ok(false),
            // Damage is reported when all is read.
            Err(error) if error.is_damage() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the message that the reader stands on.
    fn take(&mut self) {
        let Some(message) = self.reader.message() else {
            return;
        };
        let spans = self.fields.iter().map(|field| field.locate(message.data));
        let spans: timeloom_msg::Result<Vec<Span>> = spans.collect();
        let pushed = spans.and_then(|spans| self.rows.push(&message).map(|()| spans));
        let spans = match pushed {
            Ok(spans) => spans,
            Err(error) => {
                self.undecoded.0 += 1;
                if self.undecoded.1.is_empty() {
                    self.undecoded.1 = error.to_string();
                }
                return;
            }
        };
        let stored = self.reader.stored_at();
        if let Some(stored) = stored
            && *self.file != *stored.path
        {
            self.file = stored.path.into();
        }
        for (rows, span) in self.bytes.iter_mut().zip(spans) {
            let range = span.start..span.start + span.length;
            rows.push(match stored {
                Some(stored) => ByteRow::Stored {
                    file: Arc::clone(&self.file),
                    start: stored.offset + span.start as u64,
                    length: span.length,
                },
                None => ByteRow::InMemory(match self.reader.shared_payload() {
                    Some(payload) => Memory::shared(payload, range),
                    None => Memory::copied(message.data.get(range).unwrap_or_default()),
                }),
            });
        }
    }
}

impl SliceReader for MappedRows {
    type Part = MappedPart;

    fn start(&mut self, slice: Slice) -> timeloom_columns::Result<()> {
        self.query.start_ns = slice.start_ns;
        self.query.end_ns = slice.end_ns;
        Ok(self.reader.start(&self.query)?)
    }

    fn next_part(&mut self) -> timeloom_columns::Result<Option<MappedPart>> {
        while !self.rows.is_full() {
            match self.reader.advance() {
                Ok(true) => self.take(),
                Ok(false) => break,
                Err(error) if error.is_damage() => self.unread.push(error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        let batch = self.rows.take();
        let bytes = self.bytes.iter_mut().map(std::mem::take).collect();
        Ok((!batch.is_empty()).then_some(MappedPart { batch, bytes }))
    }

    fn rows(part: &MappedPart) -> usize {
        part.batch.len()
    }

    fn unread(&self) -> &[String] {
        &self.unread
    }

    fn undecoded(&self) -> (u64, &str) {
        (self.undecoded.0, &self.undecoded.1)
    }
}

/// All columns as arrays by name; `empty` has the types of all of them.
pub(crate) fn arrays(
    py: Python<'_>,
    empty: Batch,
    parts: Vec<MappedPart>,
) -> PyResult<Bound<'_, PyDict>> {
    let lists = empty.columns.iter().map(|column| {
        let list = || PyList::empty(py);
        is_bytes(column).then(list)
    });
    let lists: Vec<_> = lists.collect();
    let mut maps = FileMaps::default();
    let mut batches = Vec::new();
    for part in parts {
        for (list, rows) in lists.iter().flatten().zip(part.bytes) {
            for row in rows {
                list.append(match row {
                    ByteRow::Stored {
                        file,
                        start,
                        length,
                    } => match maps.view(py, &file, start, length)? {
                        Some(view) => view,
                        None => read_again(py, &file, start, length)?,
                    },
                    ByteRow::InMemory(memory) => memory.into_array(py)?,
                })?;
            }
        }
        batches.push(with_all_columns(&empty, part.batch));
    }
    batches.insert(0, empty);
    numpy::arrays(py, batches, &ByteRows::of(lists))
}

/// A batch with all columns; arrays of bytes are elsewhere.
fn with_all_columns(empty: &Batch, batch: Batch) -> Batch {
    let mut others = batch.columns.into_iter();
    let column = |column: &Column| {
        let other = if is_bytes(column) {
            None
        } else {
            others.next()
        };
        other.unwrap_or(Column::Nothing)
    };
    Batch {
        columns: empty.columns.iter().map(column).collect(),
        names: Arc::clone(&empty.names),
        log_times: batch.log_times,
        publish_times: batch.publish_times,
        valid: batch.valid,
    }
}

/// A range of a file that cannot be mapped, as when too many files are.
fn read_again<'py>(
    py: Python<'py>,
    file: &Path,
    start: u64,
    length: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(py);
    options.set_item("dtype", "u1")?;
    options.set_item("count", length)?;
    options.set_item("offset", start)?;
    let array = value::numpy(py)?.call_method(intern!(py, "fromfile"), (file,), Some(&options))?;
    array.call_method1(intern!(py, "setflags"), (false,))?;
    Ok(array)
}
