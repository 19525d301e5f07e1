#![doc = include_str!("../README.md")]

mod calendar;
mod duration;
mod json;
mod nearest;
mod number;
mod size;
mod sparkline;
mod table;

pub use calendar::{calendar_time, rfc3339};
pub use duration::{duration, elapsed, offset, seconds};
pub use json::indent_json;
pub use nearest::nearest;
pub use number::{counted, grouped, hertz, percent};
pub use size::{bandwidth, size};
pub use sparkline::{Scale, sparkline};
pub use table::Table;
