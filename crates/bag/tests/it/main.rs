//! Behaviour of `timeloom-bag` as its users see it.

mod conformance;
mod golden;
mod metadata;
mod support;
