//! The account of a topic as a dict: the fields of `timeloom.Account`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use timeloom_bag::{MissingCause, TopicAccount, TopicStatistics};

/// The counts of an account.
pub(crate) fn counts<'py>(
    py: Python<'py>,
    statistics: &TopicStatistics,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let known = |missing| statistics.known(missing);
    dict.set_item("published", statistics.known_published())?;
    dict.set_item("recorded", statistics.messages_recorded)?;
    dict.set_item(
        "lost_in_transport",
        known(statistics.messages_lost_in_transport),
    )?;
    dict.set_item(
        "lost_in_recorder",
        known(statistics.messages_lost_in_recorder()),
    )?;
    dict.set_item("left_out", known(statistics.messages_left_out()))?;
    dict.set_item("unknown_at_most", known(statistics.unknown.at_most()))?;
    dict.set_item("unknown_open", statistics.unknown.is_open())?;
    dict.set_item("bytes", statistics.bytes_written)?;
    let causes = PyDict::new(py);
    for cause in MissingCause::all() {
        let messages = statistics.missing(cause);
        if messages > 0 {
            causes.set_item(cause.name(), messages)?;
        }
    }
    dict.set_item("causes", causes)?;
    dict.set_item("times", PyList::empty(py))?;
    Ok(dict)
}

/// The account with the times of its losses.
pub(crate) fn account<'py>(
    py: Python<'py>,
    account: &TopicAccount,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = counts(py, &account.statistics)?;
    let times = PyList::empty(py);
    for interval in account.timeline.intervals() {
        let cause = interval.cause.name();
        times.append((interval.start_ns, interval.end_ns, cause, interval.messages))?;
    }
    dict.set_item("times", times)?;
    Ok(dict)
}
