//! A clock that is paused and resumed as fast as possible, and readers that must never see it step back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use timeloom_testkit::bench::Bench;
use timeloom_time::{Clock, ControlledClock, PlayerClock, Steady, Time, TimeBase};

const TOGGLES: u64 = 40_000;
const READERS: usize = 2;
const START: i64 = 1_000_000_000;

/// A clock that can be stopped.
trait Stops: Sync {
    fn pause(&self);
    fn resume(&self);
    fn now(&self) -> i64;
}

impl Stops for ControlledClock {
    fn pause(&self) {
        PlayerClock::pause(self).expect("a controlled clock takes orders");
    }

    fn resume(&self) {
        PlayerClock::resume(self).expect("a controlled clock takes orders");
    }

    fn now(&self) -> i64 {
        PlayerClock::now(self).nanos()
    }
}

/// A clock that reads the machine's clock before it takes its lock: a common mistake.
struct ReadsOutside {
    steady: Clock<Steady>,
    pair: Mutex<Pair>,
}

struct Pair {
    ros: i64,
    steady: i64,
    paused: bool,
}

impl Pair {
    fn eval(&self, steady: i64) -> i64 {
        if self.paused {
            self.ros
        } else {
            self.ros + (steady - self.steady)
        }
    }
}

impl ReadsOutside {
    fn set(&self, paused: bool) {
        let steady = self.steady.now().nanos();
        let mut pair = self.pair.lock().expect("no reader panics");
        *pair = Pair {
            ros: pair.eval(steady),
            steady,
            paused,
        };
    }
}

impl Stops for ReadsOutside {
    fn pause(&self) {
        self.set(true);
    }

    fn resume(&self) {
        self.set(false);
    }

    fn now(&self) -> i64 {
        let steady = self.steady.now().nanos();
        self.pair.lock().expect("no reader panics").eval(steady)
    }
}

pub(crate) fn soak(bench: &mut Bench) {
    let id = "time.soak.backward_steps";
    let clock = ControlledClock::new(&TimeBase::machine(), Time::from_nanos(START));
    let (backward, reads) = storm(&clock);
    bench.exactly_zero(id, backward);
    bench.note(
        id,
        format_args!("{TOGGLES} toggles, {READERS} readers, {reads} reads"),
    );

    // The same with a clock that is known to step back: it shows that this soak would notice.
    let steady = Clock::new();
    let pair = Mutex::new(Pair {
        ros: START,
        steady: steady.now().nanos(),
        paused: true,
    });
    let (backward, reads) = storm(&ReadsOutside { steady, pair });
    bench.note(
        id,
        format_args!("a clock that reads the machine's clock outside of its lock: {backward} in {reads} reads"),
    );
}

/// Number of reads that were below the one before, and of all reads.
fn storm(clock: &impl Stops) -> (u64, u64) {
    let over = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let read = || {
        let mut backward = 0;
        let mut before = clock.now();
        while !over.load(Ordering::Relaxed) {
            let now = clock.now();
            backward += u64::from(now < before);
            before = now;
            reads.fetch_add(1, Ordering::Relaxed);
        }
        backward
    };
    std::thread::scope(|scope| {
        let readers: [_; READERS] = std::array::from_fn(|_| scope.spawn(read));
        for toggle in 0..TOGGLES {
            if toggle % 2 == 0 {
                clock.resume();
            } else {
                clock.pause();
            }
            // Some reads between any two toggles, so that a step back cannot go unseen.
            let enough = reads.load(Ordering::Relaxed) + 2 + toggle % 7;
            while reads.load(Ordering::Relaxed) < enough {
                std::hint::spin_loop();
            }
        }
        over.store(true, Ordering::Relaxed);
        let backward = readers.map(|reader| reader.join().expect("a reader panicked"));
        (backward.iter().sum(), reads.load(Ordering::Relaxed))
    })
}
