//! Events of the libraries on stderr, for `RUST_LOG` and `--log-level debug`; without them, none.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::environment::{RUST_LOG, is_set};

/// Starts to print what `RUST_LOG` asks for, such as `timeloom=debug` or `timeloom_dds=debug,zenoh=info`.
pub(crate) fn from_environment() {
    if is_set(RUST_LOG) {
        start(EnvFilter::from_default_env());
    }
}

/// Starts to print the events of all rooms, unless `RUST_LOG` has chosen some already.
pub(crate) fn debug() {
    // The names of all crates of the workspace begin so.
    start(EnvFilter::new("timeloom=debug"));
}

fn start(filter: EnvFilter) {
    let logging = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false);
    // The first call counts.
    let _started = logging.try_init();
}
