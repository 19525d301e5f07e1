//! The analysis of live data and of bags.

mod clocks;
mod closed_loop;
mod deadline;
mod deadlines;
mod diff;
mod engine;
mod evidence;
mod findings;
mod flow;
mod from_tag;
mod graph;
mod histogram;
mod hop;
mod ledger;
mod message;
mod names;
mod options;
mod outcome;
mod path;
mod reached;
mod records;
mod report;
mod scope;
mod sequence;
mod store;
mod targets;
mod topic_marks;
mod waiting;

pub use clocks::{ClockDomain, Suspicion};
pub use deadline::{Deadline, DeadlineEvent, FoundBy, SourceTiming};
pub use diff::{PathChange, diff};
pub use engine::Engine;
pub use evidence::{Confidence, Evidence};
pub use flow::{Flow, FlowStep};
pub use histogram::{Histogram, Summary};
pub use message::{Input, Publication};
pub(crate) use names::Names;
pub use options::{AccountOf, AccountScope, EngineOptions, RecorderAccount};
pub use outcome::{Outcome, Outcomes};
pub use records::{FlowRecord, InputRecord, LinkRecord, RecordKind};
pub use report::{
    ClockDifference, ClockReport, ClockStep, DeadlineReport, HopReport, PathReport, PathStep,
    Report, SourceReport, TargetReport,
};
