//! A simulated clock that wakes every sleeper at every tick, as rclcpp does.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// The clock and its sleepers.
pub(crate) struct WakeAllClock {
    shared: Arc<Shared>,
    sleepers: Vec<JoinHandle<()>>,
}

struct Shared {
    time: Mutex<i64>,
    ticked: Condvar,
}

impl WakeAllClock {
    /// A clock with threads that wait for a time that is reached only by [`end`](Self::end).
    pub(crate) fn with_sleepers(count: usize) -> Self {
        let shared = Arc::new(Shared {
            time: Mutex::new(0),
            ticked: Condvar::new(),
        });
        let sleepers = (0..count)
            .map(|_| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let time = shared.time.lock().expect("no sleeper panics");
                    let due = |time: &mut i64| *time < i64::MAX;
                    drop(shared.ticked.wait_while(time, due));
                })
            })
            .collect();
        Self { shared, sleepers }
    }

    pub(crate) fn tick(&mut self) {
        *self.shared.time.lock().expect("no sleeper panics") += 1;
        self.shared.ticked.notify_all();
    }

    pub(crate) fn end(self) {
        *self.shared.time.lock().expect("no sleeper panics") = i64::MAX;
        self.shared.ticked.notify_all();
        for sleeper in self.sleepers {
            sleeper.join().expect("no sleeper panics");
        }
    }
}
