#![doc = include_str!("../README.md")]

mod bag;
mod bounds;
mod check;
mod checker;
mod clock_checks;
mod contract;
mod error;
mod learn;
mod topic_checker;

pub use bag::{check_bag, learn_bag};
pub use bounds::{Bounds, Span};
pub use check::{Check, Place, Report};
pub use checker::{Checker, Recording};
pub use contract::{
    ClockContract, Contract, OtherTopics, QosContract, StampContract, TopicContract,
};
pub use error::{Error, Result};
pub use learn::Learner;
