//! Every environment variable that the binary looks at.

use std::env;

/// Any value switches colours off (<https://no-color.org>).
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// Any value but `0` switches colours on, terminal or not.
pub(crate) const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// Any value switches the progress line off.
pub(crate) const TIMELOOM_NO_PROGRESS: &str = "TIMELOOM_NO_PROGRESS";
/// Which events of the libraries are printed on stderr.
pub(crate) const RUST_LOG: &str = "RUST_LOG";
/// The secret of a cluster, where no file is given.
#[cfg(feature = "cluster")]
pub(crate) const TIMELOOM_SECRET: &str = "TIMELOOM_SECRET";
/// Where message definitions of an installed ROS are.
pub(crate) const AMENT_PREFIX_PATH: &str = "AMENT_PREFIX_PATH";

/// Whether a variable has a value.
pub(crate) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The value of a variable, empty when there is none.
pub(crate) fn text(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
