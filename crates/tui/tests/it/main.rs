//! The views, drawn into a buffer of 80×24, and what their keys ask for.

mod player;
mod recorder;
mod stage;
mod text;
