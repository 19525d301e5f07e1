//! Behaviour of `timeloom-bag` as its users see it.

mod conformance;
mod metadata;
mod support;
