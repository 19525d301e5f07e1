#![doc = include_str!("../README.md")]

mod error;
pub mod fleet;
pub mod host_clock;
mod parameter_plan;
pub mod player;
pub mod recorder;
mod ros_node;
mod topic_selection;
mod tracked;
pub mod trigger;
mod type_finder;

pub use error::{Error, Result};
pub use parameter_plan::{LiveParameters, ParameterChange, ParameterPlan, ParameterProblem};
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
