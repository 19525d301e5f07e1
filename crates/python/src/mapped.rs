//! Large arrays of bytes as numpy arrays: views of the file where they are stored as they are, else copied once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PySlice};
use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_columns::{Batch, Column, Rows, Undecoded};
use timeloom_msg::cdr::Cursor;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::Element;
use timeloom_msg::{Schema, SkipProgram};

use crate::errors;
use crate::numpy::{self, ByteRows};
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

/// A part of a file.
struct Stored {
    file: usize,
    start: u64,
    length: usize,
}

/// Why reading paused.
enum Pause {
    /// Some rows are there.
    Rows,
    /// The bytes of the current message must be copied.
    Copy(Vec<Span>),
    End,
}

/// Reads one topic; its variable arrays of bytes become views.
pub(crate) struct MappedRows {
    reader: BagReader,
    /// All other fields.
    rows: Rows,
    /// The batch of all fields without rows.
    empty: Batch,
    fields: Vec<ByteField>,
    /// For each array of bytes the parts of files that have no array yet.
    stored: Vec<Vec<Stored>>,
    files: Vec<PathBuf>,
    unread: Vec<String>,
    undecoded: (u64, String),
}

/// Whether a column is an array of bytes of any length.
fn is_bytes(column: &Column) -> bool {
    matches!(column, Column::Bytes(strings) if strings.fixed_size().is_none())
}

impl MappedRows {
    /// Whether a type has arrays of bytes that can be found without decoding.
    pub(crate) fn is_for(schema: &Schema, empty: &Batch) -> bool {
        // Where a wide string ends depends on the whole message.
        !schema.root().has_wstring() && empty.columns.iter().any(is_bytes)
    }

    /// `None` when the messages are too small.
    pub(crate) fn new(
        py: Python<'_>,
        mut reader: BagReader,
        query: &Query,
        schema: &Arc<Schema>,
        empty: &Batch,
        unread: Vec<String>,
    ) -> PyResult<Option<Self>> {
        let failed = |error| errors::bag(py, &error);
        let large = py.detach(|| match reader.next_message() {
            Ok(Some(message)) => message.data.len() >= LARGE,
            // Damage is reported when all is read.
            _ => false,
        });
        if !large {
            return Ok(None);
        }
        py.detach(|| reader.start(query)).map_err(failed)?;
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for (name, column) in empty.names.iter().zip(&empty.columns) {
            if is_bytes(column) {
                let Some(field) = ByteField::find(schema, name) else {
                    return Ok(None);
                };
                fields.push(field);
            } else {
                others.push(name.clone());
            }
        }
        let rows = Rows::new(Arc::clone(schema), Some(&others));
        let rows = rows.map_err(|error| errors::table(py, &error))?;
        Ok(Some(Self {
            reader,
            rows: rows.with_undecoded(Undecoded::LeaveOut),
            empty: empty.clone(),
            stored: fields.iter().map(|_| Vec::new()).collect(),
            fields,
            files: Vec::new(),
            unread,
            undecoded: (0, String::new()),
        }))
    }

    /// Reads until the batch is full or bytes must be copied.
    fn read(&mut self) -> timeloom_bag::Result<Pause> {
        loop {
            let message = match self.reader.advance() {
                Ok(true) => self.reader.message(),
                Ok(false) => return Ok(Pause::End),
                Err(error) if error.is_damage() => {
                    self.unread.push(error.to_string());
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(message) = message else { continue };
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
                    continue;
                }
            };
            let Some(stored) = self.reader.stored_at() else {
                return Ok(Pause::Copy(spans));
            };
            let file = number_of(&mut self.files, stored.path);
            for (column, span) in self.stored.iter_mut().zip(spans) {
                column.push(Stored {
                    file,
                    start: stored.offset + span.start as u64,
                    length: span.length,
                });
            }
            if self.rows.is_full() {
                return Ok(Pause::Rows);
            }
        }
    }

    /// Reads to the end; all columns as arrays by name.
    pub(crate) fn arrays<'py>(
        &mut self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let lists: Vec<_> = self.fields.iter().map(|_| PyList::empty(py)).collect();
        let mut maps = Maps::default();
        let mut batches = vec![self.whole(self.rows.empty())];
        loop {
            let pause = py.detach(|| self.read());
            py.check_signals()?;
            let pause = pause.map_err(|error| errors::bag(py, &error))?;
            for (column, list) in self.stored.iter_mut().zip(&lists) {
                for stored in column.drain(..) {
                    list.append(maps.view(py, &self.files, &stored)?)?;
                }
            }
            if let Pause::Copy(spans) = &pause {
                self.copy(py, spans, &lists)?;
            }
            if self.rows.is_full() || matches!(pause, Pause::End) {
                let batch = self.rows.take();
                if let Some(progress) = progress {
                    progress.call1((batch.len(),))?;
                }
                batches.push(self.whole(batch));
            }
            if matches!(pause, Pause::End) {
                break;
            }
        }
        let mut lists = lists.into_iter();
        let columns = self.empty.columns.iter();
        let bytes = columns.map(|column| is_bytes(column).then(|| lists.next()).flatten());
        numpy::arrays(py, batches, &ByteRows::of(bytes.collect()))
    }

    /// The only copy of the bytes: from the reader into the memory of Python.
    fn copy(&self, py: Python<'_>, spans: &[Span], lists: &[Bound<'_, PyList>]) -> PyResult<()> {
        let Some(message) = self.reader.message() else {
            return Ok(());
        };
        for (span, list) in spans.iter().zip(lists) {
            let bytes = message.data.get(span.start..span.start + span.length);
            list.append(array(py, bytes.unwrap_or_default())?)?;
        }
        Ok(())
    }

    /// A batch with all columns; arrays of bytes are elsewhere.
    fn whole(&self, batch: Batch) -> Batch {
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
            columns: self.empty.columns.iter().map(column).collect(),
            names: Arc::clone(&self.empty.names),
            log_times: batch.log_times,
            publish_times: batch.publish_times,
            valid: batch.valid,
        }
    }

    /// What of the bag could not be read, in words.
    pub(crate) fn unread(&self) -> &[String] {
        &self.unread
    }

    /// How many messages could not be decoded, and why the first of them.
    pub(crate) fn undecoded(&self) -> (u64, String) {
        self.undecoded.clone()
    }
}

/// The number of a file; messages of one file follow each other.
fn number_of(files: &mut Vec<PathBuf>, path: &Path) -> usize {
    let known = files.iter().rposition(|known| known == path);
    known.unwrap_or_else(|| {
        files.push(path.to_path_buf());
        files.len() - 1
    })
}

fn array<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = value::numpy(py)?;
    if bytes.is_empty() {
        return numpy.call_method1(intern!(py, "empty"), (0, "u1"));
    }
    let buffer = PyByteArray::new(py, bytes);
    numpy.call_method1(intern!(py, "frombuffer"), (buffer, "u1"))
}

/// Files in the memory of Python, each as one array of bytes; views keep them there.
#[derive(Default)]
struct Maps<'py>(Vec<Bound<'py, PyAny>>);

impl<'py> Maps<'py> {
    fn view(
        &mut self,
        py: Python<'py>,
        files: &[PathBuf],
        stored: &Stored,
    ) -> PyResult<Bound<'py, PyAny>> {
        for path in files.iter().skip(self.0.len()) {
            self.0.push(map(py, path)?);
        }
        let index = |at: u64| isize::try_from(at).unwrap_or(isize::MAX);
        let (start, end) = (stored.start, stored.start + stored.length as u64);
        match self.0.get(stored.file) {
            Some(file) => file.get_item(PySlice::new(py, index(start), index(end), 1)),
            None => array(py, &[]),
        }
    }
}

/// A file as an array that cannot be changed.
fn map<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("mmap")?;
    let file = py.import("io")?.call_method1("open", (path, "rb"))?;
    let options = PyDict::new(py);
    options.set_item("access", module.getattr("ACCESS_READ")?)?;
    let number = file.call_method0("fileno")?;
    let map = module.getattr("mmap")?.call((number, 0), Some(&options))?;
    file.call_method0("close")?;
    value::numpy(py)?.call_method1(intern!(py, "frombuffer"), (map, "u1"))
}
