//! The assertions of `layout.txt`, written by `build/layout.rs`.

#![expect(
    clippy::unnecessary_cast,
    clippy::unreadable_literal,
    reason = "generated from the table"
)]

include!(concat!(env!("OUT_DIR"), "/layout.rs"));
