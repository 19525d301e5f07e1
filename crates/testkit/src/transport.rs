//! What every transport must do, as one list of checks.
//!
//! A transport writes a [`Harness`] (how to make participants that see each other) and runs everything:
//!
//! ```ignore
//! fn harness() -> Box<dyn Harness> { … }
//! timeloom_testkit::transport_conformance!(harness);
//! ```
//!
//! which makes one `#[test]` per check, or calls [`conformance`] to run them in one go. Each check gets a harness of
//! its own and uses names of its own, so harnesses may share a domain.
//! What a middleware cannot do is said in [`Quirks`] and in its [`Capabilities`](timeloom_wire::Capabilities): a check
//! then asks for less, and never for nothing.

mod checks;
mod collector;
mod harness;
mod payload;
mod stage;
mod suite;

pub use collector::{Collector, EventLog};
pub use harness::{Harness, Quirks};
pub use payload::{is_payload, payload};
pub use stage::Stage;
pub use suite::{CHECKS, Check, conformance, run};
