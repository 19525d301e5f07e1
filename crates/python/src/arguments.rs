//! Arguments of Python functions: each error names its argument.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A struct that is read from a dict with a key for each field.
macro_rules! arguments {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_about:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        $visibility struct $name {
            $($(#[$field_about])* $field: $type,)*
        }

        impl<'py> pyo3::FromPyObject<'_, 'py> for $name {
            type Error = pyo3::PyErr;

            fn extract(given: pyo3::Borrowed<'_, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Ok(Self {
                    $($field: $crate::arguments::get(&given, stringify!($field))?,)*
                })
            }
        }
    };
}
pub(crate) use arguments;

/// Keys whose values are dicts of arguments themselves: their errors have a name already.
const GROUPS: [&str; 2] = ["network", "selection"];

/// The value of an argument.
pub(crate) fn get<'py, T>(given: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: pyo3::conversion::FromPyObjectOwned<'py>,
{
    let value = given.get_item(name)?;
    value.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        if GROUPS.contains(&name) {
            error
        } else {
            named(name, &value, &error)
        }
    })
}

/// The error with the name of the argument or field whose value caused it.
pub(crate) fn named(name: &str, value: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = value.py();
    if error.is_instance_of::<PyOverflowError>(py) {
        return PyValueError::new_err(format!("{name}: {} is out of range", shown(value)));
    }
    let text = format!("{name}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(text);
    }
    PyValueError::new_err(text)
}

/// A value in an error.
fn shown(value: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 40;
    let text = value.repr().map(|text| text.to_string());
    let text = text.unwrap_or_else(|_| "the value".to_owned());
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

/// A whole number; one that is out of range is a `ValueError`.
fn whole<'py, T>(given: Borrowed<'_, 'py, PyAny>, what: &str) -> PyResult<T>
where
    T: pyo3::conversion::FromPyObjectOwned<'py>,
{
    given.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        if error.is_instance_of::<PyOverflowError>(given.py()) {
            let text = format!("{} is out of range for {what}", shown(&given));
            return PyValueError::new_err(text);
        }
        error
    })
}

/// A time in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nanos(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for Nanos {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(given, "a time in nanoseconds, which has 64 bits").map(Self)
    }
}

/// The value of a device's counter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Ticks {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(given, "a counter from 0, which has up to 64 bits").map(Self)
    }
}

/// The number of a message of its publisher.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence(pub(crate) u32);

impl<'py> FromPyObject<'_, 'py> for Sequence {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(given, "a sequence number from 0, which has 32 bits").map(Self)
    }
}
