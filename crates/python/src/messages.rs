//! Messages of a bag, one by one.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyBytes;
use timeloom_bag::storage::StoredAt;
use timeloom_bag::{BagReader, SharedPayload, StorageReader as _};

use crate::errors;

/// Bytes that are read in one go without the lock of the interpreter.
const CHUNK: usize = 256 << 10;
/// A message of this size is taken from the reader by itself.
const LARGE: usize = 64 << 10;
/// So many bytes before a payload put its numbers on multiples of eight in memory.
pub(crate) const LEAD: usize = 4;

/// Iterates over messages: number of the topic, log time, publish time, payload.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct Messages {
    state: Mutex<State>,
}

struct State {
    reader: BagReader,
    /// Payloads behind each other, each with room before it.
    buffer: Vec<u8>,
    entries: std::vec::IntoIter<Entry>,
    /// The reader stands on a large message that was not taken yet.
    holds_large: bool,
    ended: bool,
    unread: Vec<String>,
}

#[derive(Clone, Copy)]
struct Entry {
    topic: usize,
    log_time: i64,
    publish_time: i64,
    start: usize,
    end: usize,
}

/// A payload in the memory of Python: number of the topic, log time, publish time, bytes.
pub(crate) type Taken<'py> = (usize, i64, i64, Bound<'py, PyBytes>);

/// A large message that the reader stands on.
pub(crate) struct Large<'a> {
    reader: &'a BagReader,
    pub(crate) topic: usize,
    pub(crate) log_time: i64,
    pub(crate) publish_time: i64,
    pub(crate) data: &'a [u8],
}

impl Large<'_> {
    /// Where it is in a local file.
    pub(crate) fn stored_at(&self) -> Option<StoredAt<'_>> {
        self.reader.stored_at()
    }

    /// Its payload in the memory of the reader.
    pub(crate) fn shared(&self) -> Option<SharedPayload> {
        self.reader.shared_payload()
    }

    /// Copies it, with `lead` bytes before it.
    pub(crate) fn copied<'py>(&self, py: Python<'py>, lead: usize) -> PyResult<Taken<'py>> {
        let bytes = with_lead(py, self.data, lead)?;
        Ok((self.topic, self.log_time, self.publish_time, bytes))
    }
}

impl Messages {
    pub(crate) fn new(reader: BagReader, unread: Vec<String>) -> Self {
        Self {
            state: Mutex::new(State {
                reader,
                buffer: Vec::new(),
                entries: Vec::new().into_iter(),
                holds_large: false,
                ended: false,
                unread,
            }),
        }
    }

    /// The lock is not waited for with the interpreter held: another thread may hold it and want the interpreter.
    fn state(&self, py: Python<'_>) -> std::sync::MutexGuard<'_, State> {
        let state = self.state.lock_py_attached(py);
        state.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The next message, made by one of two functions; `None` at the end. Small ones come with `lead` bytes before them.
    pub(crate) fn next<'py, T>(
        &self,
        py: Python<'py>,
        lead: usize,
        small: impl FnOnce(Taken<'py>) -> PyResult<T>,
        large: impl FnOnce(&Large<'_>) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let mut guard = self.state(py);
        let state: &mut State = &mut guard;
        loop {
            if let Some(entry) = state.entries.next() {
                let data = state.buffer.get(entry.start..entry.end).unwrap_or_default();
                let bytes = with_lead(py, data, lead)?;
                drop(guard);
                let taken = (entry.topic, entry.log_time, entry.publish_time, bytes);
                return small(taken).map(Some);
            }
            if std::mem::take(&mut state.holds_large)
                && let Some(message) = state.reader.message()
            {
                let message = Large {
                    reader: &state.reader,
                    topic: message.topic.index(),
                    log_time: message.log_time_ns,
                    publish_time: message.publish_time_ns,
                    data: message.data,
                };
                return large(&message).map(Some);
            }
            if state.ended {
                return Ok(None);
            }
            py.check_signals()?;
            let filled = py.detach(|| state.fill());
            filled.map_err(|error| errors::bag(py, &error))?;
        }
    }
}

fn with_lead<'py>(py: Python<'py>, data: &[u8], lead: usize) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, lead + data.len(), |bytes| {
        if let Some(place) = bytes.get_mut(lead..) {
            place.copy_from_slice(data);
        }
        Ok(())
    })
}

impl State {
    /// Reads until the buffer is full, a large message comes, or the end.
    fn fill(&mut self) -> timeloom_bag::Result<()> {
        self.buffer.clear();
        let mut entries = Vec::new();
        while self.buffer.len() < CHUNK {
            match self.reader.next_message() {
                Ok(Some(message)) if message.data.len() >= LARGE => {
                    self.holds_large = true;
                    break;
                }
                Ok(Some(message)) => {
                    let start = self.buffer.len();
                    self.buffer.extend_from_slice(message.data);
                    entries.push(Entry {
                        topic: message.topic.index(),
                        log_time: message.log_time_ns,
                        publish_time: message.publish_time_ns,
                        start,
                        end: self.buffer.len(),
                    });
                }
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(error) if error.is_damage() => self.unread.push(error.to_string()),
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        self.entries = entries.into_iter();
        Ok(())
    }
}

#[pymethods]
impl Messages {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Taken<'py>>> {
        self.next(py, 0, Ok, |large| large.copied(py, 0))
    }

    /// What could not be read so far, in words.
    #[getter]
    pub(crate) fn unread(&self, py: Python<'_>) -> Vec<String> {
        self.state(py).unread.clone()
    }
}
