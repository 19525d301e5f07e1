//! Memory of Rust as a numpy array.

use std::ops::Range;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use timeloom_bag::SharedPayload;

use crate::value;

/// Bytes that an array shares; they live as long as the array.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct Memory {
    owner: Owner,
    range: Range<usize>,
}

enum Owner {
    /// The memory of a reader.
    Reader(SharedPayload),
    Own(Vec<u8>),
}

impl Memory {
    /// A part of a payload, without a copy.
    pub(crate) fn shared(payload: SharedPayload, range: Range<usize>) -> Self {
        Self {
            owner: Owner::Reader(payload),
            range,
        }
    }

    pub(crate) fn copied(bytes: &[u8]) -> Self {
        Self {
            owner: Owner::Own(bytes.to_vec()),
            range: 0..bytes.len(),
        }
    }

    fn bytes(&self) -> &[u8] {
        let all: &[u8] = match &self.owner {
            Owner::Reader(payload) => payload,
            Owner::Own(bytes) => bytes,
        };
        all.get(self.range.clone()).unwrap_or_default()
    }

    /// The bytes as an array that cannot be changed, without a copy.
    pub(crate) fn into_array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let numpy = value::numpy(py)?;
        if self.bytes().is_empty() {
            return numpy.call_method1(intern!(py, "empty"), (0, "u1"));
        }
        numpy.call_method1(intern!(py, "asarray"), (Bound::new(py, self)?,))
    }
}

#[pymethods]
impl Memory {
    /// What numpy asks for: address, size and type. The array that it makes holds this object.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let read_only = true;
        let bytes = self.bytes();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("shape", (bytes.len(),))?;
        interface.set_item("data", (bytes.as_ptr().addr(), read_only))?;
        Ok(interface)
    }
}
