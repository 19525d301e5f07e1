//! Behaviour tests of timeloom-node, on the loopback and virtual time.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod a_day;
mod captured;
mod clock;
mod fleet;
mod fuzz;
mod node_timer;
mod parameters;
mod player;
mod recorder;
mod recorder_faults;
mod recorder_graph;
mod recorder_host_clock;
mod recorder_left_out;
mod recorder_limits;
mod recorder_moments;
mod recorder_parameters;
mod recorder_services;
mod recorder_trigger_control;
mod recorder_triggers;
mod recorder_types;
mod recorder_unknown;
mod recorder_world;
mod refusing;
mod ros_node;
mod time_sources;
mod tracked;
mod tracked_monitor;
mod trigger_conditions;
mod type_finder;
mod world;
