//! A clock that follows `/clock`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use timeloom_node::RosNode;
use timeloom_time::{
    CancelToken, Clock, Duration, Event, JumpHandle, JumpHandler, JumpThreshold, OnJump, Ros,
    SourceState, Time, TimeJump, WaitOptions, Woke,
};

use crate::arguments::Nanos;
use crate::errors;
use crate::network::NetworkOptions;
use crate::recorder::Notes;
use crate::waiting::{optional_seconds, seconds, until};

/// Old time, new time, and why: the fields of `timeloom.Jump`.
type Jump = (i64, i64, &'static str);

/// Jumps that Python has not taken yet; the oldest go first.
const MOST_JUMPS: usize = 1000;

/// The clock behind `timeloom.Clock`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeClock {
    clock: Clock<Ros>,
    jumps: Arc<Mutex<Vec<Jump>>>,
    notes: Notes,
    _handler: JumpHandle,
    /// `None` after `close`, and for a clock of the machine.
    node: Mutex<Option<RosNode>>,
}

fn jump(jump: &TimeJump<Ros>) -> Jump {
    use timeloom_time::ClockChange;
    let why = match jump.change {
        ClockChange::RosTimeActivated => "activated",
        ClockChange::RosTimeDeactivated => "deactivated",
        ClockChange::RosTimeStarted => "started",
        _ => "jump",
    };
    (jump.old.nanos(), jump.new.nanos(), why)
}

/// Why a wait ended, by its name.
fn woke(woke: Woke<Ros>) -> &'static str {
    match woke {
        Woke::Reached => "reached",
        Woke::Jumped(_) => "jumped",
        Woke::SourceChanged(_) => "source_changed",
        Woke::Cancelled | Woke::ShutDown => "closed",
        Woke::Stalled => "stalled",
        _ => "timed_out",
    }
}

impl NativeClock {
    /// Waits on a thread of its own, so that Ctrl-C ends the call while the wait itself is not cut into pieces.
    fn wait(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        wait: impl FnOnce(&Clock<Ros>, WaitOptions) -> Woke<Ros> + Send + 'static,
    ) -> PyResult<&'static str> {
        let token = CancelToken::new();
        let mut options = WaitOptions::new().cancel(&token);
        if let Some(timeout) = optional_seconds("timeout", timeout)? {
            options = options.real_timeout(timeout);
        }
        let (clock, base) = (self.clock.clone(), self.clock.base());
        let done = Event::new(base);
        let (tell, ended) = (done.clone(), Arc::new(Mutex::new(Woke::Cancelled)));
        let slot = Arc::clone(&ended);
        let thread = base.spawn("python wait", move || {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = wait(&clock, options);
            tell.set();
        });
        let thread =
            thread.map_err(|error| errors::node(py, &timeloom_node::Error::Thread(error)))?;
        let waited = until(py, None, |slice| done.wait_for(slice));
        if waited.is_err() {
            token.cancel();
        }
        // A panic was a bug of the clock; the wait has ended all the same.
        py.detach(|| drop(thread.join()));
        waited?;
        let ended = *ended.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(woke(ended))
    }
}

#[pymethods]
impl NativeClock {
    /// A clock that follows `/clock`; the machine's clock without a network.
    #[new]
    fn new(py: Python<'_>, network: Option<NetworkOptions>, threshold: f64) -> PyResult<Self> {
        let threshold = Duration::try_from_secs_f64(threshold)
            .and_then(|forward| JumpThreshold::DISRUPTIVE.forward(forward).ok())
            .ok_or_else(|| PyValueError::new_err("jump_threshold must be above 0 seconds"))?;
        let notes = Notes::default();
        let node = match network {
            Some(network) => {
                let participant = network.join(py)?;
                let node = network.node(py, &participant)?;
                notes.listen_to(&node);
                Some(node)
            }
            None => None,
        };
        let clock = node.as_ref().map_or_else(Clock::new, RosNode::clock);
        let jumps = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&jumps);
        let handler = JumpHandler::new("Python", threshold).after(move |happened| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.len() == MOST_JUMPS {
                seen.remove(0);
            }
            seen.push(jump(happened));
        });
        Ok(Self {
            _handler: clock.add_jump_handler(handler),
            clock,
            jumps,
            notes,
            node: Mutex::new(node),
        })
    }

    /// The time in nanoseconds; 0 before the first sample of `/clock`.
    fn now(&self, py: Python<'_>) -> i64 {
        // A read blocks while handlers of a jump back run.
        match self.clock.try_now() {
            Ok(time) => time.nanos(),
            Err(_) => py.detach(|| self.clock.now().nanos()),
        }
    }

    fn started(&self) -> bool {
        self.clock.started()
    }

    /// Whether `/clock` sets the time.
    fn is_simulated(&self) -> bool {
        self.clock.source_state() == SourceState::Active
    }

    fn wait_until_started(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<&'static str> {
        self.wait(py, timeout, |clock, options| {
            clock.wait_until_started(&options)
        })
    }

    fn sleep_until(
        &self,
        py: Python<'_>,
        time: Nanos,
        on_jump: &str,
        timeout: Option<f64>,
    ) -> PyResult<&'static str> {
        let on_jump = match on_jump {
            "return" => None,
            "ignore" => Some(OnJump::Ignore),
            other => {
                let text = format!("on_jump is one of return, ignore, not '{other}'");
                return Err(PyValueError::new_err(text));
            }
        };
        self.wait(py, timeout, move |clock, mut options| {
            if let Some(on_jump) = on_jump {
                options = options.on_jump(on_jump);
            }
            clock.sleep_until_with(Time::from_nanos(time.0), &options)
        })
    }

    /// After a jump, the rest is slept on the new time.
    fn sleep_for(
        &self,
        py: Python<'_>,
        duration: f64,
        timeout: Option<f64>,
    ) -> PyResult<&'static str> {
        let duration = seconds("duration", duration)?;
        self.wait(py, timeout, move |clock, options| {
            clock.sleep_for_with(duration, &options)
        })
    }

    /// Jumps since the last call.
    fn take_jumps(&self) -> Vec<Jump> {
        std::mem::take(&mut *self.jumps.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is wrong with the time, in words, since the last call.
    fn notes(&self) -> Vec<String> {
        self.notes.take()
    }

    /// Leaves the domain; waits end.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
            drop({ node }.take());
            self.clock.shut_down();
        });
    }
}
