//! Memory of Rust as a numpy array.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::value;

/// Bytes that an array shares; they live as long as the array.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    /// The bytes as an array that cannot be changed, without a copy.
    pub(crate) fn array(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyAny>> {
        let numpy = value::numpy(py)?;
        if bytes.is_empty() {
            return numpy.call_method1(intern!(py, "empty"), (0, "u1"));
        }
        let memory = Bound::new(py, Self { bytes })?;
        numpy.call_method1(intern!(py, "asarray"), (memory,))
    }
}

#[pymethods]
impl Memory {
    /// What numpy asks for: address, size and type. The array that it makes holds this object.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let read_only = true;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("shape", (self.bytes.len(),))?;
        interface.set_item("data", (self.bytes.as_ptr().addr(), read_only))?;
        Ok(interface)
    }
}
