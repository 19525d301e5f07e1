use std::fmt;
use std::sync::{Arc, Weak};

use crate::clock_core::ClockCore;
use crate::machine;
use crate::machine_timers::MachineTimers;
use crate::virtual_time::VirtualState;
use crate::wait_cell::{Party, WaitCell};

/// The base of clocks and waits: the machine, or [virtual time](crate::VirtualTime).
///
/// Everything that waits takes a base (through its clock), so a whole system can run on virtual time in a
/// test without a line of its code changed.
#[derive(Clone, Default)]
pub struct TimeBase(Option<Arc<VirtualState>>);

/// The time of a clock without a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passthrough {
    System,
    Steady,
}

/// An entry in the list of timed signals; see [`TimeBase::schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    pub(crate) at: i64,
    pub(crate) sequence: u64,
}

impl TimeBase {
    /// The machine's clocks.
    pub const fn machine() -> Self {
        Self(None)
    }

    pub(crate) const fn of_virtual(state: Arc<VirtualState>) -> Self {
        Self(Some(state))
    }

    pub(crate) const fn virtual_state(&self) -> Option<&Arc<VirtualState>> {
        self.0.as_ref()
    }

    /// Whether time here is virtual.
    pub const fn is_virtual(&self) -> bool {
        self.0.is_some()
    }

    /// Steady nanoseconds; never goes back.
    #[inline]
    pub(crate) fn steady(&self) -> i64 {
        match &self.0 {
            None => machine::steady(),
            Some(state) => state.steady(),
        }
    }

    /// System nanoseconds since 1970; may be set back and forth.
    #[inline]
    pub(crate) fn system(&self) -> i64 {
        match &self.0 {
            None => machine::system(),
            Some(state) => state.system(),
        }
    }

    #[inline]
    pub(crate) fn read(&self, source: Passthrough) -> i64 {
        match source {
            Passthrough::System => self.system(),
            Passthrough::Steady => self.steady(),
        }
    }

    /// A cell to wait on here.
    pub(crate) fn new_cell(&self, party: Party) -> Arc<WaitCell> {
        WaitCell::new(party, self.0.clone())
    }

    /// Blocks this thread until the cell is signalled or steady time `until`; may return early.
    pub(crate) fn park(&self, cell: &Arc<WaitCell>, until: Option<i64>) {
        match &self.0 {
            None => cell.park(until),
            Some(state) => state.park(cell, until),
        }
        cell.take();
    }

    /// Schedules a signal of the cell at steady time `at`, for parties that cannot block.
    pub(crate) fn schedule(&self, cell: &Arc<WaitCell>, at: i64) -> TimerKey {
        match &self.0 {
            None => MachineTimers::global().schedule(cell, at),
            Some(state) => state.schedule(cell, at),
        }
    }

    /// Removes a scheduled signal; one that was already sent is not an error.
    pub(crate) fn unschedule(&self, key: TimerKey) {
        match &self.0 {
            None => MachineTimers::global().unschedule(key),
            Some(state) => state.unschedule(key),
        }
    }

    /// Notifies a clock when the system clock is set.
    pub(crate) fn watch_system_steps(&self, core: Weak<ClockCore>) {
        match &self.0 {
            None => MachineTimers::global().watch_steps(core),
            Some(state) => state.watch_steps(core),
        }
    }
}

impl fmt::Debug for TimeBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_virtual() {
            "TimeBase::Virtual"
        } else {
            "TimeBase::Machine"
        })
    }
}
