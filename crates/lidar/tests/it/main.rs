//! Behaviour tests of timeloom-lidar, on the loopback.

mod lidar;
