//! House rules that a program can check.
//!
//! Each check is a function from the root of a workspace to its findings, one line per finding that names the place
//! and the way out. `xtask/tests/tidy.rs` runs all of them on this workspace; each has tests on made-up trees that
//! show that it can fail.

mod architecture;
mod clocks;
mod fuzz_workspace;
mod layers;
mod leftovers;
mod lengths;
mod libraries;
mod manifest;
mod module_files;
mod reasons;
mod source;
#[cfg(test)]
mod tree;
mod unsafe_code;

use std::io;
use std::path::Path;

/// A house rule: looks at the workspace under a root and returns its findings, none when all is well.
///
/// Fails when a file cannot be read or is no TOML.
pub type Check = fn(&Path) -> io::Result<Vec<String>>;

/// Every check with its name.
pub const CHECKS: &[(&str, Check)] = &[
    ("layers", layers::check),
    ("lengths", lengths::check),
    ("module files", module_files::check),
    ("clocks", clocks::check),
    ("libraries", libraries::check),
    ("leftovers", leftovers::check),
    ("reasons", reasons::check),
    ("unsafe code", unsafe_code::check),
    ("fuzz workspace", fuzz_workspace::check),
];

/// Runs the check called `name`; its findings, or why it could not run.
pub fn run(name: &str, root: &Path) -> Vec<String> {
    match CHECKS.iter().find(|(known, _)| *known == name) {
        Some((_, check)) => {
            check(root).unwrap_or_else(|error| vec![format!("{name}: cannot check: {error}")])
        }
        None => vec![format!("{name}: no such check")],
    }
}
