//! Runs the tests in Python, `python/tests`, with the module that was just built.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the package as a wheel installs it: the Python files and the native module, which lies beside this test.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("timeloom");
    std::fs::create_dir(&package).unwrap();
    for entry in std::fs::read_dir(root().join("python/timeloom")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, package.join(path.file_name().unwrap())).unwrap();
        }
    }
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libtimeloom_python.so");
    std::fs::copy(library, package.join("_native.abi3.so")).unwrap();
    folder
}

#[test]
fn the_python_tests_pass() {
    let Some(python) = timeloom_testkit::python() else {
        return;
    };
    let package = package();
    let run = Command::new(python)
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
        .arg(root().join("python/tests"))
        .env("PYTHONPATH", package.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let words = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}{words}");
    // What was skipped is in the last lines.
    eprintln!("{said}");
}
