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
    let class = match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => "BagNotFound",
        Error::Exists { .. } => "BagExists",
        _ => "ReaderError",
    };
    raise(py, class, &error.to_string(), hint)
}

/// A bag that was read to its end, with a part that is missing.
pub(crate) fn lost(py: Python<'_>, unread: &[String]) -> PyErr {
    let hint = "strict=False reads what is left";
    raise(py, "DataLost", &unread.join("; "), Some(hint))
}

/// A payload or a type that cannot be used.
pub(crate) fn message(py: Python<'_>, error: &timeloom_msg::Error) -> PyErr {
    raise(py, "CdrError", &error.to_string(), None)
}

/// A payload that cannot be used, in words.
pub(crate) fn payload(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "CdrError", text, None)
}

/// A domain that cannot be joined.
pub(crate) fn join(py: Python<'_>, error: &timeloom_transport::Error) -> PyErr {
    raise(py, "NodeError", &error.to_string(), error.hint())
}

/// A transport that refuses something.
pub(crate) fn wire(py: Python<'_>, error: &timeloom_wire::Error) -> PyErr {
    raise(py, "NodeError", &error.to_string(), None)
}

/// A recorder, a player or a clock that cannot do what it is asked for.
pub(crate) fn node(py: Python<'_>, error: &timeloom_node::Error) -> PyErr {
    use timeloom_node::Error;
    match error {
        Error::Wire(error) => wire(py, error),
        Error::Message(error) => message(py, error),
        Error::Bag(error) => bag(py, error),
        Error::NotRecording => {
            let hint = "record() starts the next bag";
            raise(py, "NodeError", &error.to_string(), Some(hint))
        }
        error => raise(py, "NodeError", &error.to_string(), None),
    }
}

/// A control that a player refuses.
pub(crate) fn refused(py: Python<'_>, refusal: &timeloom_node::player::Refusal) -> PyErr {
    use timeloom_node::player::Refusal;
    let hint = match refusal {
        Refusal::NotPaused => Some("call pause() before"),
        Refusal::NotPlaying | Refusal::Ended => Some("start() plays"),
        Refusal::External(_) => Some("control the node that publishes /clock instead"),
        _ => None,
    };
    raise(py, "NodeError", &refusal.to_string(), hint)
}

/// A sample or an estimate that makes no sense.
pub(crate) fn sync(py: Python<'_>, error: &timeloom_sync::Error) -> PyErr {
    let hint = match error {
        timeloom_sync::Error::DifferentUnits { .. } => Some(
            "name what the device counts with ticks_per_second and counter_bits; for a clock that is really so far off, \
             raise max_skew_ppm",
        ),
        _ => None,
    };
    raise(py, "SyncError", &error.to_string(), hint)
}

/// A field that holds no device time.
pub(crate) fn restamp(py: Python<'_>, error: &timeloom_restamp::Error) -> PyErr {
    use timeloom_restamp::Error;
    let text = error.to_string();
    match error {
        Error::NoStamp { .. } => {
            let hint = "name the field with the device's time";
            raise(py, "SyncError", &text, Some(hint))
        }
        Error::UnknownField { known, .. } => {
            let hint = format!("the fields are {}", some(known));
            raise(py, "UnknownField", &text, Some(&hint))
        }
        _ => raise(py, "SyncError", &text, None),
    }
}

/// A bag whose lineage cannot be found.
pub(crate) fn trace(py: Python<'_>, error: &timeloom_trace::Error) -> PyErr {
    use timeloom_trace::Error;
    let hint = match error {
        Error::Bag(error) => return bag(py, error),
        Error::Message(error) => return message(py, error),
        Error::NoGraph => {
            Some("only a timeloom recorder keeps the graph; declare the nodes in plan")
        }
        Error::NoTags => {
            Some("without links=\"tags\", links are found by stamps or by a node model")
        }
        Error::NoModel => Some("give plan a file with `nodes:`"),
        _ => None,
    };
    raise(py, "ReaderError", &error.to_string(), hint)
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
