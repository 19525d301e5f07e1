//! Behaviour tests of timeloom-node, on the loopback and virtual time.

mod captured;
mod clock;
mod parameters;
mod ros_node;
mod type_finder;
mod world;
