//! One engine for live data and for bags: publications in, latencies, outcomes and missed deadlines out.

mod clocks;
mod closed_loop;
mod deadline;
mod deadline_check;
mod engine;
mod evidence;
mod flow;
mod from_tag;
mod graph;
mod histogram;
mod hop;
mod insert;
mod ledger;
mod message;
mod names;
mod options;
mod outcome;
mod path;
mod reached;
mod records;
mod report;
mod report_build;
mod sequence;
mod store;
mod targets;
mod timers;
mod waiting;
mod walk;

pub use clocks::{ClockDomain, Suspicion};
pub use deadline::{Deadline, DeadlineEvent, FoundBy, SourceTiming};
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
