use timeloom_time::{Duration, Ros, Time};

use super::super::options::Repeat;
use super::Playback;

/// Time for which a wait for an acknowledgement ignores controls.
const ACK_STEP: Duration = Duration::from_millis(5);

impl Playback {
    /// Keeps time from running ahead of the message at `due`, as the pace requires.
    pub(super) fn hold(&mut self, due: Time<Ros>) {
        let Some(ceiling) = self.pacing.ceiling(due, self.state.rate) else {
            return;
        };
        if !self.is_external() {
            let ceiling = self.lap_end().map_or(ceiling, |end| ceiling.min(end));
            let _held = self.clock.set_ceiling(Some(ceiling));
        }
    }

    /// Releases time up to the end of the lap.
    pub(super) fn release(&self) {
        if self.pacing.holds_time() {
            self.limit_time();
        }
    }

    /// Keeps time from passing the end of a lap: it jumps back from exactly there, however late this thread is.
    pub(super) fn limit_time(&self) {
        if !self.is_external() {
            let _limited = self.clock.set_ceiling(self.lap_end());
        }
    }

    /// The time from which the clock jumps back; `None` if it does not.
    fn lap_end(&self) -> Option<Time<Ros>> {
        let run = self.state.run.as_ref()?;
        let goes_on = match run.repeat {
            Repeat::Monotonic => true,
            Repeat::Once => run.loop_range.is_none(),
            Repeat::JumpBack => false,
        };
        (!goes_on).then(|| run.due(run.lap_range().end))
    }

    /// Playing continues at another position.
    pub(super) fn moved_to(&mut self, due: Time<Ros>) {
        self.pacing.moved_to(due);
        self.splits.moved();
    }

    /// Waits for the acknowledgement of the last message, for a short time; true if it is still missing.
    pub(super) fn awaits_acknowledgement(&mut self) -> bool {
        let Some(topic) = self.pacing.unacknowledged() else {
            return false;
        };
        let publisher = self
            .outputs
            .get_mut(topic)
            .filter(|output| output.reliable)
            .and_then(|output| output.publisher());
        // A transport without acknowledgements has nothing to wait for.
        let missing = publisher.is_some_and(|publisher| {
            !publisher
                .wait_for_acknowledgements(ACK_STEP)
                .unwrap_or(true)
        });
        if !missing {
            self.pacing.acknowledged();
        }
        missing
    }
}
