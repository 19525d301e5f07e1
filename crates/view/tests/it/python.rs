//! An independent client: `websockets` from `PyPI`, with the protocol implemented from its documentation.

use std::path::Path;
use std::process::Command;

pub(crate) use timeloom_testkit::python;

use crate::toy::Show;

/// Runs a script beside this file; returns its output.
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
