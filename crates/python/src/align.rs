//! Values of topics at the times of another topic.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use timeloom_columns::{AlignOptions, Method, Samples, TimeBase};

use crate::arrow::ArrowTable;
use crate::bag::{NativeBag, Request};
use crate::errors;

/// The table, topics with their count of rows without a value, and what could not be read.
type Table = (ArrowTable, Vec<(String, u64)>, Vec<String>);

/// The table, for each topic how many rows have no value, and what could not be read.
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
    let base = match by {
        "log_time" => TimeBase::LogTime,
        "publish_time" => TimeBase::PublishTime,
        "header" => TimeBase::HeaderStamp,
        _ => return Err(wrong("by", by, "log_time, publish_time, header")),
    };
    let failed = |error| errors::table(py, &error);
    let mut to = to.0;
    // Only the times count.
    to.fields = Some(Vec::new());
    let mut readers = vec![(to.topic.clone(), bag.topic_reader(py, &to)?)];
    for Request(request) in topics {
        readers.push((request.topic.clone(), bag.topic_reader(py, &request)?));
    }
    let mut samples = Vec::new();
    let mut lost: Vec<String> = Vec::new();
    for (topic, reader) in &mut readers {
        py.check_signals()?;
        let read = py.detach(|| Samples::read(topic, reader, base));
        samples.push(read.map_err(failed)?);
        // Each reader meets the same damage.
        lost.retain(|text| !reader.unread().contains(text));
        lost.extend(reader.lost());
    }
    let frames = samples.remove(0).times;
    let aligned = py.detach(|| timeloom_columns::align(&frames, &samples, options));
    let aligned = aligned.map_err(failed)?;
    let table = ArrowTable::new(aligned.rows.schema(), vec![aligned.rows]);
    Ok((table, aligned.unmatched, lost))
}

fn wrong(name: &str, value: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is one of {known}, not '{value}'"))
}
