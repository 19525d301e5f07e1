//! The Python package reads bags through the binary.

use std::path::Path;
use std::process::Command;

use crate::support::{Sandbox, bags};

/// Runs a part of the script beside this file, with the Python of the interop tests or the system's.
fn python(part: &str, bag: &Path) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = std::env::var_os("TIMELOOM_PYTHON").unwrap_or_else(|| "python3".into());
    let run = Command::new(python)
        .arg(here.join("tests/it/python_reader.py"))
        .arg(part)
        .arg(bag)
        .env("PYTHONPATH", here.join("../../python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TIMELOOM_BINARY", env!("CARGO_BIN_EXE_timeloom"))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{part} {}: {words}", bag.display());
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn agrees_with_the_rosbags_of_pypi() {
    if timeloom_testkit::python().is_none() {
        return;
    }
    for bag in ["sqlite3_plain", "sqlite3_file_zstd"] {
        let said = python("against_rosbags", &bags().join(bag));
        let compared: u32 = said
            .trim()
            .strip_prefix("compared ")
            .unwrap()
            .parse()
            .unwrap();
        assert!(compared > 100, "{bag}: {said}");
    }
}

#[test]
fn reads_whole_bags_topics_and_times() {
    for bag in ["mcap_plain", "mcap_msg_zstd", "sqlite3_plain"] {
        assert!(
            python("alone", &bags().join(bag)).starts_with("read "),
            "{bag}"
        );
    }
}

#[test]
fn reports_losses_of_a_damaged_bag() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_plain", "cut");
    let file = std::fs::read_dir(&bag)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let file = file
        .into_iter()
        .find(|path| path.extension().is_some_and(|kind| kind == "mcap"));
    let file = file.unwrap();
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).unwrap();
    assert_eq!(python("damaged", &bag).trim(), "lost True True");
}

#[test]
fn wrong_input_is_an_error_that_says_so() {
    assert_eq!(
        python("wrong", &bags().join("mcap_plain")).trim(),
        "refused"
    );
}
