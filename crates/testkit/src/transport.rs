//! The conformance suite of transports: a list of checks.
//!
//! A transport writes a [`Harness`] (how to make participants that see each other) and runs everything:
//!
//! ```
//! use std::sync::Arc;
//! use timeloom_testkit::transport::{Harness, run};
//! use timeloom_wire::{Participant, loopback::LoopbackNetwork};
//!
//! struct Mine(LoopbackNetwork);
//!
//! impl Harness for Mine {
//!     fn participant(&self) -> Arc<dyn Participant> {
//!         self.0.participant("mine").expect("a participant joins")
//!     }
//! }
//!
//! fn harness() -> Box<dyn Harness> {
//!     Box::new(Mine(LoopbackNetwork::new(&timeloom_time::TimeBase::machine())))
//! }
//!
//! timeloom_testkit::transport_conformance!(harness);
//! # fn main() { run("small_payloads_arrive_as_sent", &harness) }
//! ```
//!
//! which makes one `#[test]` per check, or calls [`conformance`] to run them in one go. Each check gets a harness of
//! its own and uses names of its own, so harnesses may share a domain.
//! [`Quirks`] and [`Capabilities`](timeloom_wire::Capabilities) describe the limits of a middleware: a check then
//! requires less, but never nothing.

mod arrivals;
mod blob;
mod check_context;
mod checks;
mod collector;
mod harness;
mod listen;
mod payload;
mod suite;
mod watched;

pub use arrivals::Arrivals;
pub use blob::{best_effort, blob, blob_topic, mark_of, marks, publish_blob, reliable};
pub use check_context::CheckContext;
pub use collector::{Collector, EventLog};
pub use harness::{Harness, Quirks};
pub use listen::{listen, topic, values};
pub use payload::{is_payload, payload};
pub use suite::{CHECKS, Check, conformance, run};
pub use watched::Watched;
