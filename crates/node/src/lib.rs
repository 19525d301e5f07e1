#![doc = include_str!("../README.md")]

mod clock_lag;
mod error;
pub mod fleet;
pub mod host_clock;
mod message_window;
mod parameter_plan;
pub mod player;
pub mod recorder;
mod recording_environment;
mod ros_node;
mod topic_selection;
mod tracked;
pub mod trigger;
mod type_finder;

pub use clock_lag::{ClockLag, ClockLagMeter};
pub use error::{Error, Result};
pub use message_window::{MessageGaps, MessageWindow};
pub use parameter_plan::{LiveParameters, ParameterChange, ParameterPlan, ParameterProblem};
pub use recording_environment::{process_identity, recording_environment};
pub use ros_node::{
    Client, Names, NodeOptions, NodeTimer, ParameterAccess, ParameterValue, Remap, RemoteParameter,
    RemoteParameters, Responder, RosArguments, RosNode, Service, ServiceTypes, Severity,
    TimeSourceChoice, TypeService, TypedPublisher,
};
pub use topic_selection::{MatchedNames, TopicSelection};
pub use tracked::{
    LineageMonitor, MonitorOptions, TrackedMessage, TrackedNode, TrackedPublisher,
    TrackedSubscription, TrackedSynchronizer,
};
pub use type_finder::TypeFinder;
