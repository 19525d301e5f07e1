//! Behaviour of `timeloom-dds`, all on 127.0.0.1.

mod conformance;
mod local;
mod peer;
mod python;
