//! Health checks: of this machine, of a ROS 2 network, of a bag.
//!
//! Every check returns [`Finding`]s, typed values without text; [`Finding::severity`] separates problems from advice.
//!
//! ```
//! use timeloom_doctor::{Finding, check_nodes};
//!
//! let nodes = ["/camera", "/lidar", "/camera"].map(str::to_owned);
//! let twice = Finding::DuplicateNodeName { name: "/camera".into(), count: 2 };
//! assert_eq!(check_nodes(&nodes), [twice]);
//! ```

mod bag;
mod finding;
mod graph;
mod interfaces;
mod machine;
mod mismatch;
mod network;
mod topic_health;

pub use bag::BagExamination;
pub use finding::Finding;
pub use graph::{Vendor, check_graph, check_nodes, vendors};
pub use interfaces::{Interface, interfaces};
pub use machine::{MIN_OPEN_FILES, Machine, WANTED_RECEIVE_BUFFER, receive_buffer_limit};
pub use mismatch::{Mismatch, mismatches};
pub use network::check_network;
