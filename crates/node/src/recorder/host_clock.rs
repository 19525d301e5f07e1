//! The clock of this host over a recording.

use timeloom_bag::HostClockRecord;
use timeloom_time::{Clock, Duration, Reading, Steady, System, WaitOptions};

use super::command::Command;
use super::note::Note;
use super::shared::Shared;
use crate::host_clock::{HostClock, HostClockEntry, HostClockHistory, HostClockReason};

/// Interval of checks for a step of the system clock.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Watches the clock until the recording ends; the writer stores what it sees.
pub(super) fn run(shared: &Shared, source: &(dyn Fn() -> HostClock + Send + Sync)) {
    let (steady, system) = (
        Clock::<Steady>::on(&shared.base),
        Clock::<System>::on(&shared.base),
    );
    let wait = WaitOptions::new().cancel(&shared.ending);
    let mut history = HostClockHistory::default();
    loop {
        let reading = Reading::take(&steady, &system);
        if let Some(reason) = history.look(reading.after(), reading.other()) {
            if let HostClockReason::Step(by) = reason {
                let seconds = by.as_secs_f64();
                let text =
                    format!("the system clock was set by {seconds:+.6} s: receive times jump");
                shared.report(&Note::warning(text));
            }
            history.add(HostClockEntry {
                at: reading.other(),
                steady: reading.after(),
                reason,
                clock: source(),
            });
            let text = history.to_text();
            shared.progress().host_clock = HostClockRecord::parse_all(&text).pop();
            shared.command(Command::HostClock(text));
        }
        if !steady.sleep_for_with(LOOK_AGAIN, &wait).is_reached() {
            return;
        }
    }
}
