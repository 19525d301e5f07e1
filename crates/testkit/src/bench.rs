//! Benchmarks that compare in one run and print lines a program can read.
//!
//! Absolute times say more about the machine than about the code, so a benchmark runs what it judges and what it
//! compares with side by side and reports the ratio:
//!
//! ```text
//! ratio time.now.1t 1.02 bar <=1.15 ok
//! note time.now.1t 31.2 ns against 30.6 ns
//! ```
//!
//! `make bench` collects these lines into `BENCHMARKS.md`. A benchmark is a bench target with `harness = false`:
//!
//! ```
//! use std::{hint::black_box, time::Duration};
//! use timeloom_testkit::bench::{Bench, Rounds, Variant};
//!
//! let mut bench = Bench::from_env();
//! if bench.wants("demo.sum") {
//!     let measured = Rounds::new(5, Duration::from_micros(200)).run(&mut [
//!         Variant::looped("iterator", || black_box((0..64_u64).map(black_box).sum::<u64>())),
//!         Variant::looped("loop", || {
//!             let mut sum = 0;
//!             for i in 0..64_u64 {
//!                 sum += black_box(i);
//!             }
//!             black_box(sum)
//!         }),
//!     ]);
//!     bench.ratio_at_most("demo.sum", measured[0].ratio_to(&measured[1]), 50.0);
//!     bench.note("demo.sum", format_args!("{:.1} ns", measured[0].median()));
//! }
//! ```

mod cores;
mod report;
mod rounds;
mod samples;
mod stopwatch;

pub use cores::{available_cores, on_pinned_threads, pin_to_core};
pub use report::Bench;
pub use rounds::{Measured, Rounds, Variant};
pub use samples::Samples;
pub use stopwatch::{Stopwatch, Usage};
