#![doc = include_str!("../README.md")]

mod clock;
mod options;
mod report;
mod status;
mod time;

pub use clock::{
    TimeloomClock, timeloom_clock_convert, timeloom_clock_free, timeloom_clock_new,
    timeloom_clock_push, timeloom_clock_push_request, timeloom_clock_report,
    timeloom_clock_restart,
};
pub use options::{TimeloomEstimator, TimeloomOptions, timeloom_options};
pub use report::TimeloomReport;
pub use status::{TimeloomStatus, timeloom_status_text};
pub use time::{TimeloomHealth, TimeloomTime, timeloom_steady_now, timeloom_system_from_steady};
