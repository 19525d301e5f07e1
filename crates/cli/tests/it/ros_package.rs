//! The ament package in `ros/`, its launch files and the command of ros2cli, without ROS.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Run, Sandbox};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a part of the script beside this file.
fn python(arguments: &[&str]) -> Output {
    let python = std::env::var_os("TIMELOOM_PYTHON").unwrap_or_else(|| "python3".into());
    Command::new(python)
        .arg(root().join("crates/cli/tests/it/ros_package.py"))
        .args(arguments)
        .env("PYTHONPATH", root().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TIMELOOM_BINARY", env!("CARGO_BIN_EXE_timeloom"))
        .output()
        .unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = python(arguments);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_package_describes_itself() {
    said(&["metadata", env!("CARGO_PKG_VERSION")]);
    said(&["setup"]);
}

/// The command line that a launch file makes, as words.
fn launched(verb: &str, values: &[&str]) -> Vec<String> {
    let line = said(&[&["launch", verb], values].concat());
    serde_json::from_str(&line).unwrap()
}

#[test]
fn launch_files_make_command_lines_that_are_understood() {
    let words = |verb, values: &[&str]| launched(verb, values).join(" ");
    assert_eq!(
        words("record", &[]),
        "--all --ros-args --log-level info -r __node:=rosbag2_recorder -r __ns:=/ -p use_sim_time:=false"
    );
    let full = words(
        "record",
        &[
            "topics:=/a /b",
            "output:=drive",
            "storage:=sqlite3",
            "params_file:=p.yaml",
            "name:=rec",
            "namespace:=/robot",
            "use_sim_time:=True",
            "log_level:=warn",
            "arguments:=--max-bag-duration 10m",
        ],
    );
    assert_eq!(
        full,
        "--topics /a /b --output drive --storage sqlite3 --max-bag-duration 10m --ros-args --log-level warn \
         -r __node:=rec -r __ns:=/robot --params-file p.yaml -p use_sim_time:=true"
    );
    assert!(words("record", &["params_file:=p.yaml"]).starts_with("--ros-args"));
    assert!(words("record", &["topics:=/a", "all:=true"]).starts_with("--topics /a --all"));
    let play = words(
        "play",
        &[
            "bag:=drive",
            "rate:=2.0",
            "clock:=40",
            "loop:=true",
            "topics:=/a",
            "arguments:=--delay 1",
        ],
    );
    assert_eq!(
        play,
        "drive --rate 2.0 --clock 40 --loop --topics /a --delay 1 --ros-args --log-level info \
         -r __node:=rosbag2_player -r __ns:=/"
    );
    // The binary gets as far as the bag and the parameters that are not there.
    let sandbox = Sandbox::new();
    let run = |verb: &str, values: &[&str]| {
        let mut command = sandbox.command(verb);
        Run::new(&command.args(launched(verb, values)).output().unwrap())
    };
    let missing = run("play", &["bag:=no_such_bag", "loop:=true"]);
    assert_eq!(missing.code, 1, "{missing}");
    assert!(missing.stderr.contains("no_such_bag"), "{missing}");
    let missing = run("record", &["params_file:=no_such.yaml"]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.stderr.contains("no_such.yaml"), "{missing}");
}

#[test]
fn executables_become_the_binary() {
    let scripts = root().join("ros/prefix/data/lib/timeloom");
    let run = |name: &str, arguments: &[&str], binary: Option<&str>| {
        let mut command = Command::new(scripts.join(name));
        command.args(arguments).env("PATH", "/usr/bin:/bin");
        match binary {
            Some(path) => command.env("TIMELOOM_BINARY", path),
            None => command.env_remove("TIMELOOM_BINARY"),
        };
        Run::new(&command.output().unwrap())
    };
    let binary = Some(env!("CARGO_BIN_EXE_timeloom"));
    let version = run("timeloom", &["--version"], binary);
    assert_eq!(
        version.stdout,
        format!("timeloom {}\n", env!("CARGO_PKG_VERSION"))
    );
    for verb in ["record", "play"] {
        let help = run(verb, &["--help"], binary);
        assert!(
            help.stdout.contains(&format!("Usage: timeloom {verb} ")),
            "{help}"
        );
        let wrong = run(verb, &["--no-such-flag"], binary);
        assert_eq!(wrong.code, 2, "{wrong}");
    }
    // From a place without a binary beside it.
    let sandbox = Sandbox::new();
    sandbox.write(
        "lib/timeloom/timeloom",
        std::fs::read(scripts.join("timeloom")).unwrap(),
    );
    let run = Command::new("sh")
        .arg(sandbox.path("lib/timeloom/timeloom"))
        .env("PATH", "/usr/bin:/bin")
        .env_remove("TIMELOOM_BINARY")
        .output();
    let run = Run::new(&run.unwrap());
    assert_eq!(run.code, 127, "{run}");
    assert!(run.stderr.contains("pip install timeloom"), "{run}");
}

#[test]
fn the_command_of_ros2_passes_words_and_exit_codes() {
    let run = |words: &[&str]| Run::new(&python(&[&["command"], words].concat()));
    let version = run(&["--version"]);
    assert_eq!(
        version.stdout,
        format!("timeloom {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = run(&["record", "--help"]);
    assert_eq!(help.code, 0, "{help}");
    assert!(help.stdout.contains("--max-cache-size"), "{help}");
    assert_eq!(run(&["-h"]).code, 0);
    assert_eq!(run(&["no_such_verb"]).code, 2);
    assert_eq!(run(&["info", "no_such_bag"]).code, 1);
    let ros = run(&["info", "bag", "--ros-args", "-r", "a:=b"]);
    assert!(ros.stderr.contains("this verb is not a ROS node"), "{ros}");
}
