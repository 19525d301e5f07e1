#![doc = include_str!("../README.md")]

mod align;
mod compare;
mod error;
mod report;
mod rules;
mod value_diff;

pub use align::{AlignBy, Alignment};
pub use compare::{CompareOptions, compare};
pub use error::{Error, Result};
pub use report::{
    BagSide, Comparison, Difference, FieldReport, Kind, Timeline, TimelineCell, TopicReport,
    TopicSide, html, text, verdicts,
};
pub use rules::{Nan, Rule, Rules, Tolerance};
