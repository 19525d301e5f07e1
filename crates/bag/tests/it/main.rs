//! Behaviour of `timeloom-bag` as its users see it.

mod bag;
mod conformance;
mod convert;
mod damage;
mod full_disk;
mod golden;
mod interop;
mod kill;
mod metadata;
mod oracle;
mod recover;
mod support;
