#![doc = include_str!("../README.md")]

mod domain;
mod error;
mod failure;
mod judge;
mod plan;
mod process;
mod ready;
mod report;
mod run;
mod runner;
mod traced_bag;

pub use error::{Error, Result};
pub use failure::{Failure, FailureKind};
pub use plan::{ComparePlan, Inputs, PacePlan, RunPlan, TestPlan, Timeouts};
pub use process::{Exit, Process, ProcessOptions, Stopped};
pub use report::{Report, RunReport, html, junit_text, text};
pub use runner::{Connect, Progress, Replay, Update};
