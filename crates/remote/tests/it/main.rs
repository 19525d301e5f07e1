//! Behaviour of remote bags, against a web server of our own that counts requests.
#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod bag;
mod changes;
mod failures;
mod folders;
mod ranges;
mod server;
