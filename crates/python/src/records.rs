//! Decoded messages of a bag, one by one.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};

use crate::errors;
use crate::file_maps::FileMaps;
use crate::message::{Message, Payload};
use crate::message_type::MessageType;
use crate::messages::{LEAD, Large, Messages, Taken};
use crate::split::{ArrayPlace, ArraySource, LargeArray, Split};

/// The topic of messages and how to decode them.
pub(crate) struct RecordType {
    pub(crate) topic: Py<PyString>,
    /// The reason where the type is not known.
    pub(crate) ty: Result<MessageType, String>,
}

/// Iterates over decoded messages: topic, log time, publish time, message.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct Records {
    messages: Messages,
    types: Vec<RecordType>,
    record: Py<PyType>,
    /// `tuple.__new__`, which makes a named tuple faster than its class does.
    make: Py<PyAny>,
    strict: bool,
    maps: Mutex<FileMaps>,
}

impl Records {
    pub(crate) fn new(
        py: Python<'_>,
        messages: Messages,
        types: Vec<RecordType>,
        record: Bound<'_, PyType>,
        strict: bool,
    ) -> PyResult<Self> {
        let make = py.get_type::<PyTuple>().getattr(intern!(py, "__new__"))?;
        Ok(Self {
            messages,
            types,
            record: record.unbind(),
            make: make.unbind(),
            strict,
            maps: Mutex::default(),
        })
    }
}

impl Records {
    fn record_type(&self, py: Python<'_>, topic: usize) -> PyResult<(&Py<PyString>, &MessageType)> {
        let Some(RecordType { topic, ty }) = self.types.get(topic) else {
            return Err(errors::payload(py, "the message has no topic"));
        };
        let ty = ty.as_ref().map_err(|text| errors::payload(py, text))?;
        Ok((topic, ty))
    }

    fn record<'py>(
        &self,
        py: Python<'py>,
        topic: &Py<PyString>,
        (log_time, publish_time): (i64, i64),
        message: Message,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fields = (topic, log_time, publish_time, message);
        self.make.bind(py).call1((&self.record, fields))
    }

    /// A message that was copied into the memory of Python.
    fn copied<'py>(&self, py: Python<'py>, taken: Taken<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (topic, log_time, publish_time, bytes) = taken;
        let (topic, ty) = self.record_type(py, topic)?;
        let message = ty.message(py, bytes, LEAD)?;
        self.record(py, topic, (log_time, publish_time), message)
    }

    /// A message whose large arrays stay where they are; `None` if it has none, or they have to be copied.
    fn split<'py>(
        &self,
        py: Python<'py>,
        message: &Large<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (topic, ty) = self.record_type(py, message.topic)?;
        if ty.schema().root().has_wstring() {
            return Ok(None);
        }
        let Some(split) = Split::new(message.data, ty.layout()) else {
            return Ok(None);
        };
        let Some(arrays) = self.arrays(py, message, &split.arrays)? else {
            return Ok(None);
        };
        let rest = [&[0; LEAD], split.rest.as_slice()].concat();
        let rest = Payload::new(PyBytes::new(py, &rest).unbind(), LEAD);
        let value = Message::split(rest, Arc::clone(ty.layout()), split.offsets, arrays);
        let times = (message.log_time, message.publish_time);
        self.record(py, topic, times, value).map(Some)
    }

    /// Views of arrays in the file or in the memory of the reader.
    fn arrays(
        &self,
        py: Python<'_>,
        message: &Large<'_>,
        places: &[ArrayPlace],
    ) -> PyResult<Option<Vec<LargeArray>>> {
        let mut arrays = Vec::with_capacity(places.len());
        for place in places {
            let source = match self.view(py, message, &place.range)? {
                Some(view) => ArraySource::File(view),
                None => match message.shared() {
                    Some(payload) => ArraySource::Memory(payload, place.range.clone()),
                    None => return Ok(None),
                },
            };
            arrays.push(LargeArray::new(place, source));
        }
        Ok(Some(arrays))
    }

    /// A range of the payload in its file.
    fn view(
        &self,
        py: Python<'_>,
        message: &Large<'_>,
        range: &Range<usize>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Some(stored) = message.stored_at() else {
            return Ok(None);
        };
        let start = stored.offset.saturating_add(range.start as u64);
        let bytes = message.data.get(range.clone()).unwrap_or_default();
        let maps = self.maps.lock_py_attached(py);
        let mut maps = maps.unwrap_or_else(PoisonError::into_inner);
        let view = maps.view_of(py, stored.path, start, bytes)?;
        Ok(view.map(Bound::unbind))
    }
}

#[pymethods]
impl Records {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let small = |taken| self.copied(py, taken);
        let large = |message: &Large<'_>| match self.split(py, message)? {
            Some(record) => Ok(record),
            None => self.copied(py, message.copied(py, LEAD)?),
        };
        let record = self.messages.next(py, LEAD, small, large)?;
        if record.is_none() && self.strict {
            let unread = self.messages.unread(py);
            if !unread.is_empty() {
                return Err(errors::lost(py, &unread));
            }
        }
        Ok(record)
    }
}
