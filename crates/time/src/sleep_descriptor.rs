use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

use crate::clock_core::ClockCore;
use crate::kind::{Kind, Ros};
use crate::machine;
use crate::scheduled::Scheduled;
use crate::wait::{RawWoke, WaitOptions, Woke};
use crate::wait_cell::Party;
use crate::wait_state::{Goal, Plan, Wait};

/// A wait on a clock as a file descriptor, for loops built on `epoll`, `poll` or `select`.
///
/// When it is readable, call [`check`](Self::check): it returns the reason why the wait ended, or `None` if it
/// continues (for example because a rate change moved its end).
///
/// ```
/// use timeloom_time::{Clock, Duration, Steady, WaitOptions, Woke};
/// let clock = Clock::<Steady>::new();
/// let mut wait = clock.sleep_until_descriptor(clock.now(), &WaitOptions::new())?;
/// assert_eq!(wait.check(), Some(Woke::Reached));
/// # std::io::Result::Ok(())
/// ```
pub struct SleepDescriptor<K: Kind = Ros> {
    wait: Wait,
    timer: Scheduled,
    done: Option<RawWoke>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> SleepDescriptor<K> {
    pub(crate) fn new(
        core: &Arc<ClockCore>,
        goal: Goal,
        options: &WaitOptions,
    ) -> io::Result<Self> {
        let event = machine::new_event()?;
        let mut descriptor = Self {
            wait: Wait::new(core, goal, options, Party::Descriptor(event)),
            timer: Scheduled::default(),
            done: None,
            kind: PhantomData,
        };
        if descriptor.look().is_some() {
            descriptor.wait.cell().raise();
        }
        Ok(descriptor)
    }

    /// The reason why the wait ended, or `None` if it continues. Never blocks. An ended wait stays readable.
    pub fn check(&mut self) -> Option<Woke<K>> {
        if self.done.is_none()
            && let Party::Descriptor(event) = self.wait.cell().party()
        {
            // First the descriptor, then the flag: a signal in between leaves it readable, and one whose write is still
            // to come is drained by the next call. In the other order it would be lost. Only a cancelled timer can fail
            // here, and an event is not a timer.
            let _drained = machine::drain(event);
            self.wait.cell().take();
        }
        let woke = self.look();
        if woke.is_some() {
            self.wait.cell().raise();
        }
        woke.map(RawWoke::typed)
    }

    fn look(&mut self) -> Option<RawWoke> {
        if self.done.is_none() {
            match self.wait.plan() {
                Plan::Done(woke) => {
                    self.timer.clear(&self.wait);
                    self.done = Some(woke);
                }
                Plan::Park(until) => self.timer.set(&self.wait, until),
            }
        }
        self.done
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self.wait.cell().party() {
            Party::Descriptor(event) => event.as_fd(),
            Party::Thread | Party::Task(_) => unreachable!("invariant: made with a descriptor"),
        }
    }
}

impl<K: Kind> AsFd for SleepDescriptor<K> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor()
    }
}

impl<K: Kind> AsRawFd for SleepDescriptor<K> {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor().as_raw_fd()
    }
}

impl<K: Kind> Drop for SleepDescriptor<K> {
    fn drop(&mut self) {
        self.timer.clear(&self.wait);
    }
}

impl<K: Kind> std::fmt::Debug for SleepDescriptor<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "SleepDescriptor({}, done: {:?})",
            self.as_raw_fd(),
            self.done
        )
    }
}
