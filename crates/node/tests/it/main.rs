//! Behaviour tests of timeloom-node, on the loopback and virtual time.

mod clock;
mod parameters;
mod player;
mod ros_node;
mod type_finder;
mod world;
