//! ROS 2 time in Rust.
#![cfg_attr(not(feature = "std"), no_std)]
