//! Triggers: conditions on the messages of a robot, and the windows of time around the moments at which they become
//! true.
//!
//! Nothing here reads a clock, a file or a socket: [`Triggers`] takes messages and times and returns [`Firing`]s,
//! [`Windows`] turns firings into windows. The recorder does the rest.
//!
//! ```
//! use timeloom_msg::Definitions;
//! use timeloom_node::trigger::{Trigger, TriggerDefaults, Triggers};
//!
//! let defaults = TriggerDefaults::default();
//! let trigger = Trigger::parse("low: /battery.data < 11.5 for 2s", &defaults)?;
//! let mut triggers = Triggers::new(vec![trigger]);
//! let schema = Definitions::builtin().schema("std_msgs/msg/Float64")?;
//! triggers.bind(0, "/battery", Some(&schema));
//! let payload = [&[0, 1, 0, 0][..], &11.2_f64.to_le_bytes()].concat();
//! assert!(triggers.message(0, 1_000_000_000, &payload).is_empty());
//! let fired = triggers.advance(4_000_000_000);
//! assert_eq!(fired[0].time_ns, 3_000_000_000);
//! assert_eq!(fired[0].reason, "/battery.data is 11.2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod condition;
mod definition;
mod evaluation;
mod field;
mod file;
mod lexer;
mod message_rate;
mod parser;
mod scalar;
mod syntax_error;
mod test_state;
mod triggers;
mod windows;

pub use condition::{
    Condition, DiagnosticLevel, FieldName, Operator, Quantity, Test, TopicOrService,
};
pub use definition::{Trigger, TriggerDefaults};
pub use scalar::Scalar;
pub use syntax_error::SyntaxError;
pub use triggers::{BindProblem, Firing, TriggerState, Triggers};
pub use windows::{Opening, WindowEnd, WindowSpan, Windows};
