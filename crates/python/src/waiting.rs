//! Waits that Ctrl-C ends.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use timeloom_time::{Clock, Duration, Steady};

/// How often a wait looks for signals.
const SLICE: Duration = Duration::from_millis(50);

/// Calls `wait` without the lock of the interpreter, each time with how long it may block, until it returns true or the
/// time is over; false when it is over.
pub(crate) fn until(
    py: Python<'_>,
    timeout: Option<Duration>,
    mut wait: impl FnMut(Duration) -> bool + Send,
) -> PyResult<bool> {
    let clock = Clock::<Steady>::new();
    let end = timeout.map(|timeout| clock.now() + timeout);
    loop {
        let left = end.map_or(SLICE, |end| end - clock.now());
        let slice = left.min(SLICE).max(Duration::ZERO);
        let done = py.detach(|| wait(slice));
        py.check_signals()?;
        if done || left <= Duration::ZERO {
            return Ok(done);
        }
    }
}

/// Seconds from Python: not negative, finite.
pub(crate) fn seconds(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .filter(|duration| !duration.is_negative())
        .ok_or_else(|| {
            let text = format!("{name} is {seconds}, and must be a number of seconds from 0");
            PyValueError::new_err(text)
        })
}

/// Seconds that may be left out.
pub(crate) fn optional_seconds(name: &str, given: Option<f64>) -> PyResult<Option<Duration>> {
    given.map(|given| seconds(name, given)).transpose()
}

/// Times per second from Python.
pub(crate) fn period(name: &str, hertz: f64) -> PyResult<Duration> {
    Duration::try_from_hertz(hertz)
        .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}
