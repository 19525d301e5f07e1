//! Runs the benchmarks of the workspace and fills the table of `BENCHMARKS.md`.

mod line;
mod machine;
mod options;
mod page;
mod run;
mod section;
mod target;

pub use options::Options;
pub use run::run;
