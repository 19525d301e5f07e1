//! The checks by subject.

pub(super) mod durability;
pub(super) mod graph;
pub(super) mod matching;
pub(super) mod payloads;
pub(super) mod reentry;
pub(super) mod services;
pub(super) mod streams;
