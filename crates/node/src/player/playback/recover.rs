use timeloom_time::Time;

use super::super::notice::Notice;
use super::super::stop_sense::Stop;
use super::Playback;

impl Playback {
    /// Whether this process was stopped for so long that others may have given it up, and they may not have found it
    /// again yet.
    pub(super) fn was_stopped(&self) -> bool {
        self.stop().is_some()
    }

    /// Keeps time and messages back after a stop, until others have found this player again: those who follow hear the
    /// time that it has become then, and every jump after it. True while it does.
    pub(super) fn recovers(&mut self) -> bool {
        let Some(stop) = self.stop() else {
            if std::mem::take(&mut self.state.recovering) && !self.state.paused {
                // Only a controlled clock is published, and it takes every order.
                let _resumed = self.clock.resume();
            }
            return false;
        };
        if !std::mem::replace(&mut self.state.recovering, true) {
            let _paused = self.clock.pause();
            self.reporter.report(Notice::WasStopped {
                length: stop.length,
            });
        }
        self.rest_until(Time::from_nanos(stop.over));
        true
    }

    fn stop(&self) -> Option<Stop> {
        let ticker = self.state.ticker.as_ref()?;
        ticker.stop(self.steady.now())
    }
}
