//! Behaviour of the public API, one module per subject.

mod anchor;
mod column_check;
mod conformance;
mod fuzz;
mod held_out;
mod honesty;
mod jumps;
mod output;
mod peers;
mod quality;
mod smoothing;
mod table;
mod wild;
