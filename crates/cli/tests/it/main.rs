//! The real binary, at the boundary of its process: exit code, stdout and stderr.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod bad_input;
mod cat;
mod convert;
mod docs;
mod export;
mod extras;
mod foreign;
mod help;
mod info;
mod list;
mod live;
mod live_node;
mod options_file;
mod python_reader;
mod repair;
mod robot;
mod support;
mod sync;
mod sync_bags;
mod sync_tables;
