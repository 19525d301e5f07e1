//! A client that somebody else wrote: `websockets` from `PyPI`, and the protocol by its documentation.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toy::Show;

/// The Python with `websockets`; `None` after saying why, where that is allowed.
pub(crate) fn python() -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("TIMELOOM_PYTHON") {
        return Some(python.into());
    }
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true")
        || std::env::var_os("TIMELOOM_REQUIRE_PYTHON").is_some();
    assert!(
        !required,
        "TIMELOOM_PYTHON must name a Python with websockets"
    );
    eprintln!("skipped: TIMELOOM_PYTHON is not set");
    None
}

/// Runs a script beside this file; what it printed.
pub(crate) fn run(python: &Path, script: &str, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(script);
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{arguments:?}:\n{out}\n{err}");
    out.into_owned()
}

#[test]
fn a_python_client_plays_seeks_and_reads() {
    let Some(python) = python() else { return };
    let show = Show::new();
    let address = show.server.address().to_string();
    let said = run(&python, "foxglove_client.py", &[&address]);
    assert_eq!(said.lines().last(), Some("all is well"), "{said}");
}
