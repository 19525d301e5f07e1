//! The Python of the interop tests, which has the packages of `scripts/requirements-test.txt`.

use std::path::{Path, PathBuf};

const SKIP: &str = "TIMELOOM_SKIP_PYTHON";

/// The interpreter that `TIMELOOM_PYTHON` names, or that of the `.venv` that `make setup` makes in the workspace.
///
/// `None` if the environment asks to skip interop tests with `TIMELOOM_SKIP_PYTHON`: a test runner shows no difference
/// between a test that was skipped and one that passed, so tests are skipped only on request. The reason is printed.
///
/// # Panics
/// If there is no Python and `TIMELOOM_SKIP_PYTHON` is not set.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#[must_use]
pub fn python() -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("TIMELOOM_PYTHON") {
        return Some(python.into());
    }
    let in_workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    if in_workspace.exists() {
        return Some(in_workspace);
    }
    assert!(
        std::env::var_os(SKIP).is_some(),
        "this test needs Python with scripts/requirements-test.txt: run `make setup`, set TIMELOOM_PYTHON, \
         or set {SKIP}=1 to skip such tests"
    );
    eprintln!("skipped: {SKIP} is set and there is no Python for interop tests");
    None
}
