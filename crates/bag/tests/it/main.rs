//! Behaviour of `timeloom-bag` as its users see it.

mod bag;
mod conformance;
mod convert;
mod damage;
mod golden;
mod metadata;
mod oracle;
mod recover;
mod support;
