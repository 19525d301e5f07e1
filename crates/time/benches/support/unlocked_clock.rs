//! A simulated clock that notifies its sleepers without taking their lock, as rclcpp does.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex};

use crate::lost_wakeups::Steps;

/// Loses a wake-up when a step comes between a sleeper's look at the time and its wait.
#[derive(Default)]
pub(crate) struct UnlockedClock {
    time: AtomicI64,
    shut_down: Mutex<bool>,
    sleeping: Mutex<()>,
    stepped: Condvar,
}

impl Steps for UnlockedClock {
    fn step_to(&self, time: i64) {
        self.time.store(time, Ordering::SeqCst);
        self.stepped.notify_all();
    }

    fn sleep_until(&self, time: i64) {
        let mut guard = self.sleeping.lock().expect("no sleeper panics");
        while self.time.load(Ordering::SeqCst) < time && self.is_valid() {
            guard = self.stepped.wait(guard).expect("no sleeper panics");
        }
    }
}

impl UnlockedClock {
    fn is_valid(&self) -> bool {
        !*self.shut_down.lock().expect("no sleeper panics")
    }
}
