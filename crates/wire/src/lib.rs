#![doc = include_str!("../README.md")]

pub mod backend;
mod best_available;
mod call;
mod capabilities;
mod endpoint;
pub mod environment;
mod error;
mod event;
mod gid;
mod graph;
pub mod loopback;
mod loss_tracker;
mod message_time;
mod node_name;
mod participant;
mod publisher;
mod qos_match;
pub mod queue;
mod sample;
mod service;
mod spec;
mod subscription;
mod watched_graph;

pub use best_available::{
    BEST_AVAILABLE_DURATION, asks_for_best_available, best_available_publisher,
    best_available_subscription,
};
pub use call::{CallStopper, Caller};
pub use capabilities::Capabilities;
pub use endpoint::{EndpointInfo, EndpointKind};
pub use error::{Error, Result};
pub use event::{EndpointEvent, EventObserver, QosPolicy};
pub use gid::Gid;
pub use graph::{Graph, GraphEvent, GraphObserver, GraphWatch};
pub use loss_tracker::{LossTracker, SequenceStep, WriterAccount};
pub use message_time::{MessageTime, StampTime};
pub use node_name::NodeName;
pub use participant::{Node, Participant};
pub use publisher::{PublishOptions, Publisher};
pub use qos_match::{Incompatibility, adapt_to_offers, compatible};
pub use sample::Sample;
pub use service::{
    Reply, ReplyReceiver, Request, RequestHandler, RequestId, ServiceClient, ServiceServer,
};
pub use spec::{ServiceSpec, TopicSpec};
pub use subscription::{Receiver, Subscription};
pub use watched_graph::WatchedGraph;
