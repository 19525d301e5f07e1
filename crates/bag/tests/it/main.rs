//! Behaviour of `timeloom-bag` as its users see it.

mod metadata;
mod support;
