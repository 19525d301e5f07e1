//! Behaviour of `timeloom-bag` as its users see it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod account;
mod account_across_files;
mod bag;
mod chunks;
mod compatibility;
mod conformance;
mod convert;
mod custom_data;
mod damage;
mod embedded_metadata;
mod escape;
mod extras;
mod full_disk;
mod full_disk_account;
mod fuzz;
mod golden;
mod graph;
mod interop;
mod kill;
mod large_messages;
#[cfg(target_os = "linux")]
mod memory;
mod metadata;
mod metadata_version;
mod oracle;
mod parameters;
mod recover;
mod stored_at;
mod support;
mod uncounted;
mod unpack_ahead;
