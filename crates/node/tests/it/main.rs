//! Behaviour tests of timeloom-node, on the loopback and virtual time.

mod clock;
mod lidar;
mod parameters;
mod ros_node;
mod world;
