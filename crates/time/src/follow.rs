use std::sync::{Arc, Weak};

use crate::clock_core::{ClockCore, Control};
use crate::raw_jump::RawJump;
use crate::sync::lock;

/// State that moves with its clock in the same instant, such as a timer's schedule.
///
/// A jump handler would be too late: between publishing the new time and the handler's call, a reader of both would
/// apply the new time to the old schedule.
pub(crate) trait Follow: Send + Sync {
    /// The clock jumped. The clock's lock is held: no calls back, no waiting.
    fn jumped(&self, jump: &RawJump);

    /// Wakes the waits that may have moved. No lock is held.
    fn wake(&self);
}

impl ClockCore {
    /// Creates a follower from the current time; no jump happens between the two.
    pub(crate) fn add_follower<F: Follow + 'static, E>(
        &self,
        make: impl FnOnce(i64) -> Result<F, E>,
    ) -> Result<Arc<F>, E> {
        self.watch_system_steps();
        let mut control = lock(&self.control);
        let follower = Arc::new(make(control.state.now(self.base_now()))?);
        let weak: Weak<F> = Arc::downgrade(&follower);
        control
            .followers
            .retain(|follower| follower.strong_count() > 0);
        control.followers.push(weak);
        Ok(follower)
    }

    /// Reads the clock together with the state that follows it: no jump happens in between. Never blocks for handlers;
    /// before a jump is published this is the old time.
    pub(crate) fn with_now<T>(&self, read: impl FnOnce(i64) -> T) -> T {
        let control = lock(&self.control);
        read(control.state.now(self.base_now()))
    }
}

impl Control {
    /// Moves all followers; the caller wakes them once no lock is held.
    pub(crate) fn move_followers(&self, jump: &RawJump) -> Vec<Arc<dyn Follow>> {
        let followers: Vec<_> = self.followers.iter().filter_map(Weak::upgrade).collect();
        for follower in &followers {
            follower.jumped(jump);
        }
        followers
    }
}
