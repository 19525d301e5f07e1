//! Values of topics at the times of another topic.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use timeloom_columns::{
    AlignOptions, Alignment, Correction, Method, TimeBase, TopicRequest, TopicTimes,
};
use timeloom_restamp::host_times;

use crate::arrow::ArrowTable;
use crate::bag::{NativeBag, Request};
use crate::errors;

/// The table, topics with their count of rows without a value, and what could not be used.
type Table = (ArrowTable, Vec<(String, u64)>, Vec<String>);

/// Why there is no table.
enum Failed {
    Columns(timeloom_columns::Error),
    Clock(Box<timeloom_restamp::Error>),
    Interrupted(PyErr),
}

impl From<timeloom_columns::Error> for Failed {
    fn from(error: timeloom_columns::Error) -> Self {
        Self::Columns(error)
    }
}

impl Failed {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Columns(error) => errors::table(py, &error),
            Self::Clock(error) => errors::restamp(py, &error),
            Self::Interrupted(error) => error,
        }
    }
}

/// The table, for each topic how many rows have no value, and what could not be used.
#[pyfunction]
#[pyo3(signature = (bag, to, topics, method, tolerance, by))]
pub(crate) fn align(
    py: Python<'_>,
    bag: &NativeBag,
    to: Request,
    topics: Vec<Request>,
    method: &str,
    tolerance: Option<i64>,
    by: &str,
) -> PyResult<Table> {
    let options = AlignOptions {
        method: match method {
            "nearest" => Method::Nearest,
            "previous" => Method::Previous,
            "interpolate" => Method::Interpolate,
            _ => return Err(wrong("method", method, "nearest, previous, interpolate")),
        },
        tolerance_ns: tolerance,
    };
    let (base, correction) = match by {
        "log_time" => (TimeBase::LogTime, None),
        "publish_time" => (TimeBase::PublishTime, None),
        "header" => (TimeBase::HeaderStamp, None),
        "sync" => (TimeBase::HeaderStamp, Some(correct as Correction<_>)),
        _ => return Err(wrong("by", by, "log_time, publish_time, header, sync")),
    };
    let alignment = Alignment {
        to: to.0,
        topics: topics.into_iter().map(|Request(request)| request).collect(),
        base,
        options,
    };
    let open = |request: &TopicRequest| {
        Python::attach(check_signals)?;
        bag.open_topic(request).map_err(Failed::Columns)
    };
    let started = py.detach(|| alignment.start(&open, correction));
    let (mut stream, lost) = started.map_err(|failed| failed.raised(py))?;
    let mut batches = Vec::new();
    while let Some(batch) = py.detach(|| stream.next()) {
        py.check_signals()?;
        batches.push(batch.map_err(|error| errors::table(py, &error))?);
    }
    let table = ArrowTable::new(stream.schema(), batches);
    Ok((table, stream.unmatched(), lost))
}

/// Ctrl-C ends the work.
fn check_signals(py: Python<'_>) -> Result<(), Failed> {
    py.check_signals().map_err(Failed::Interrupted)
}

/// Replaces the stamps of a topic by times of the host's clock.
fn correct(times: &mut TopicTimes) -> Result<(), Failed> {
    let corrected = host_times(&times.topic, &times.times, &times.log_times);
    times.times = corrected.map_err(|error| Failed::Clock(Box::new(error)))?;
    Ok(())
}

fn wrong(name: &str, value: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is one of {known}, not '{value}'"))
}
