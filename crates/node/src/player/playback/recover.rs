use timeloom_time::Time;

use super::super::notice::Notice;
use super::super::suspend_detector::Suspension;
use super::Playback;

impl Playback {
    /// Whether this process was suspended for so long that other participants may have dropped it, and may not have
    /// rediscovered it yet.
    pub(super) fn was_suspended(&self) -> bool {
        self.suspension().is_some()
    }

    /// Holds time and messages after a suspension, until other participants have rediscovered this one: followers then
    /// get the current time, and every jump after it. True while it holds them.
    pub(super) fn recovers(&mut self) -> bool {
        let Some(suspension) = self.suspension() else {
            if std::mem::take(&mut self.state.recovering) && !self.state.paused {
                // Only a controlled clock is published, and it accepts every control.
                let _resumed = self.clock.resume();
            }
            return false;
        };
        if !std::mem::replace(&mut self.state.recovering, true) {
            let _paused = self.clock.pause();
            self.reporter.report(Notice::WasStopped {
                length: suspension.length,
            });
        }
        self.rest_until(Time::from_nanos(suspension.over));
        true
    }

    fn suspension(&self) -> Option<Suspension> {
        self.clock_output.suspension(self.steady.now())
    }
}
