//! Decoded messages of a bag, one by one.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::errors;
use crate::message_type::MessageType;
use crate::messages::{LEAD, Messages};

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
        })
    }
}

#[pymethods]
impl Records {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((topic, log_time, publish_time, bytes)) = self.messages.next(py, LEAD)? else {
            let unread = self.messages.unread(py);
            if self.strict && !unread.is_empty() {
                return Err(errors::lost(py, &unread));
            }
            return Ok(None);
        };
        let Some(RecordType { topic, ty }) = self.types.get(topic) else {
            return Ok(None);
        };
        let ty = ty.as_ref().map_err(|text| errors::payload(py, text))?;
        let message = ty.message(py, bytes, LEAD)?;
        let fields = (topic, log_time, publish_time, message);
        self.make.bind(py).call1((&self.record, fields)).map(Some)
    }
}
