//! Behaviour of catalogues, on bags of this machine.

mod edits;
mod folders;
mod support;
mod tables;
mod updates;
