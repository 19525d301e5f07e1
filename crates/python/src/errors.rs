//! Errors as Python exceptions, with what to do about them.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::prelude::*;
use timeloom_columns::Error as TableError;

const BAG_FORMS: &str = "a bag is a directory with metadata.yaml, or one .mcap or .db3 file";

/// An exception of `timeloom._errors`.
fn raise(py: Python<'_>, class: &str, text: &str, hint: Option<&str>) -> PyErr {
    let build = || {
        let class = py.import("timeloom._errors")?.getattr(class)?;
        class.call1((text, hint))
    };
    match build() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A bag that cannot be read or written.
pub(crate) fn bag(py: Python<'_>, error: &timeloom_bag::Error) -> PyErr {
    use timeloom_bag::Error;
    let hint = match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => Some(BAG_FORMS),
        Error::NotABag { .. } | Error::BadMagic { .. } => Some(BAG_FORMS),
        Error::Exists { .. } => Some("choose another path: bags are never overwritten"),
        Error::Truncated { .. }
        | Error::Record { .. }
        | Error::Crc { .. }
        | Error::Compression { .. } => Some("`timeloom recover BAG` gets back all that it holds"),
        _ => None,
    };
    raise(py, "ReaderError", &error.to_string(), hint)
}

/// A payload or a type that cannot be used.
pub(crate) fn message(py: Python<'_>, error: &timeloom_msg::Error) -> PyErr {
    raise(py, "CdrError", &error.to_string(), None)
}

/// A payload that cannot be used, in words.
pub(crate) fn payload(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "CdrError", text, None)
}

/// A table that cannot be made.
pub(crate) fn table(py: Python<'_>, error: &TableError) -> PyErr {
    match error {
        TableError::Bag(error) => bag(py, error),
        TableError::Message(error) => message(py, error),
        TableError::UnknownTopic { known, .. } => {
            let hint = format!("the topics are {}", some(known));
            raise(py, "UnknownTopic", &error.to_string(), Some(&hint))
        }
        TableError::SeveralTypes { .. } => {
            let hint = "name one of them: bag.topic(name, type_name)";
            raise(py, "ReaderError", &error.to_string(), Some(hint))
        }
        TableError::UnknownField { known, .. } => {
            let hint = format!("the fields are {}", some(known));
            raise(py, "UnknownField", &error.to_string(), Some(&hint))
        }
        TableError::NoStamp { .. } => {
            let hint = "use by=\"log_time\" or by=\"publish_time\"";
            raise(py, "ReaderError", &error.to_string(), Some(hint))
        }
        error => raise(py, "ReaderError", &error.to_string(), None),
    }
}

/// The first names of a list.
fn some(names: &[String]) -> String {
    const MANY: usize = 12;
    let mut text = names
        .iter()
        .take(MANY)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MANY {
        text += ", …";
    }
    text
}
