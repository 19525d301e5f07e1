//! Defects that must never occur, provoked very often: a lost wake-up, a step back, a nanosecond of drift.

#[path = "support/context_switches.rs"]
mod context_switches;
#[path = "support/drift.rs"]
mod drift;
#[path = "support/lost_wakeups.rs"]
mod lost_wakeups;
#[path = "support/pause_storm.rs"]
mod pause_storm;
#[path = "support/unlocked_clock.rs"]
mod unlocked_clock;

use timeloom_testkit::bench::Bench;

fn main() {
    let mut bench = Bench::from_env();
    if bench.wants("time.soak.lost_wakeups") {
        lost_wakeups::soak(&mut bench);
    }
    if bench.wants("time.soak.backward_steps") {
        pause_storm::soak(&mut bench);
    }
    if bench.wants("time.soak.drift") || bench.wants("time.soak.early_conversions") {
        drift::soak(&mut bench);
    }
}
