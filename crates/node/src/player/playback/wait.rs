use timeloom_time::{OnJump, Precision, Ros, Steady, Time, WaitOptions};

use super::Playback;
use super::follow::SILENCE;

/// Waits shorter than this are not worth spinning for.
const WORTH_SPINNING: f64 = 400_000.0;

impl Playback {
    /// Waits for a control or a ring.
    pub(super) fn rest(&self) {
        self.rest_until(Time::MAX);
    }

    /// Waits for a control or a ring, or until a steady time.
    pub(super) fn rest_until(&self, until: Time<Steady>) {
        if let Some(token) = self.mailbox.arm() {
            let options = WaitOptions::new().cancel(&token);
            let _woke = self.steady.sleep_until_with(until, &options);
        }
    }

    /// Waits until the player's time; false if something else happened first.
    pub(super) fn reach(&mut self, due: Time<Ros>) -> bool {
        let now = self.clock.now();
        if now >= due {
            return !self.mailbox.has_news();
        }
        let Some(token) = self.mailbox.arm() else {
            return false;
        };
        let mut options = WaitOptions::new().cancel(&token).on_jump(OnJump::Return);
        if self.is_external() {
            options = options.stall_after(SILENCE);
        } else if (due - now).nanos() as f64 >= WORTH_SPINNING * self.state.rate {
            options = options.precision(Precision::Precise);
        }
        let woke = self.clock.clock().sleep_until_with(due, &options);
        self.watch_silence(&woke);
        woke.is_reached()
    }
}
