//! `timeloom sync pf` with a simulated lidar: a foreign subscriber reads its scans over DDS.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use timeloom_pf::simulator::{Faults, SimulatedLidar, SimulatorOptions};
use timeloom_time::{Clock, Duration, Steady, System, TimeBase};

use crate::foreign::python;
use crate::robot::{LOOPBACK, Robot};

fn device() -> SimulatedLidar {
    let options = SimulatorOptions {
        scan_frequency: 50.0,
        samples_per_scan: 720,
        ..SimulatorOptions::default()
    };
    SimulatedLidar::start(options, &TimeBase::machine()).unwrap()
}

#[test]
fn a_foreign_subscriber_reads_scans_with_true_stamps() {
    let Some(python) = python() else {
        return;
    };
    let robot = Robot::new();
    let device = device();
    let host = device.address().to_string();
    let driver = robot.start(&["sync", "pf", "--host", &host, "--frame-id", "laser"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/lidar_peer.py");
    let output = Command::new(python)
        .arg(script)
        .args([&robot.domain.to_string(), "100"])
        .env("CYCLONEDDS_URI", LOOPBACK)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let heard: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let between = Clock::<System>::new().now().nanos() - Clock::<Steady>::new().now().nanos();
    driver.interrupt();
    let run = driver.end();
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains(" on /scan"), "{run}");
    assert!(run.stdout.contains("drift: "), "{run}");

    let clock = device.clock();
    let truth = |raw: &serde_json::Value| clock.host_of(raw.as_u64().unwrap()).nanos() + between;
    let truths: Vec<i64> = heard["firsts"]
        .as_array()
        .unwrap()
        .iter()
        .map(truth)
        .collect();
    let bounds = heard["bounds"].as_array().unwrap().iter();
    let bound = bounds
        .filter_map(serde_json::Value::as_f64)
        .fold(0.0, f64::max);
    let (first, last) = (truths[0], *truths.last().unwrap());
    let mut compared = 0;
    for stamp in heard["stamps"].as_array().unwrap() {
        let stamp = stamp.as_i64().unwrap();
        // Scans before the first and after the last header that was heard have no truth to compare with.
        if (first..last).contains(&stamp) {
            let error = truths
                .iter()
                .map(|truth| (stamp - truth).abs())
                .min()
                .unwrap();
            // It is published once a second, and may be somewhat wider in between.
            assert!(
                (error as f64) < bound * 1e3 * 2.0,
                "{error} ns beside {bound} µs"
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} of {}", heard["stamps"]);
    assert_eq!(
        (&heard["frame"], &heard["points"]),
        (&"laser".into(), &720.into())
    );
    assert!(heard["seen"].as_u64().unwrap() > 700, "{}", heard["seen"]);
    assert_eq!(heard["magic"], 0xa25c);
    assert!((heard["angle_min"].as_f64().unwrap() + std::f64::consts::PI).abs() < 1e-5);
    assert_eq!(heard["diagnostics"][0]["name"], "pf_driver: connection");
    let hardware = heard["diagnostics"][1]["hardware"].as_str().unwrap();
    assert_eq!(hardware, "OMD30M-R2000-B23-V1V1D-SIM sim-1");
}

#[test]
fn lost_packets_are_counted_with_exit_code_3() {
    let robot = Robot::new();
    let device = device();
    device.set_faults(Faults {
        lose_one_in: 10,
        ..Faults::default()
    });
    let host = device.address().to_string();
    let run = robot.run(&[
        "sync",
        "pf",
        "--host",
        &host,
        "--no-publish",
        "-n",
        "2",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains(" packets lost of "), "{run}");
    let last: serde_json::Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["link"], "running");
    assert!(last["packets_lost"].as_u64().unwrap() > 0, "{run}");
    assert!(last["bound_ns"].as_u64().unwrap() > 0, "{run}");
}

#[test]
fn a_simulated_device_shows_the_true_error() {
    let robot = Robot::new();
    let arguments = [
        "sync",
        "pf",
        "--simulate",
        "--no-publish",
        "-n",
        "2",
        "--format",
        "json",
    ];
    let run = robot.run(&arguments);
    assert_eq!(run.code, 0, "{run}");
    let last: serde_json::Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    let (error, bound) = (&last["true_error_ns"], &last["bound_ns"]);
    assert!(
        error.as_i64().unwrap().abs() < bound.as_i64().unwrap(),
        "{run}"
    );
}

#[test]
fn the_device_alone_serves_any_driver() {
    let robot = Robot::new();
    // This verb speaks on 127.0.0.1 only, and has no flag for it.
    let program = robot.command(&[]).get_program().to_owned();
    let mut process = Command::new(program)
        .args([
            "sync",
            "pf-device",
            "--product",
            "r2300",
            "--frequency",
            "50",
            "--samples",
            "360",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    let host = address.trim();
    let run = robot.run(&[
        "sync",
        "pf",
        "--host",
        host,
        "--no-publish",
        "-n",
        "1",
        "--transport",
        "tcp",
        "--format",
        "json",
    ]);
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(run.code, 0, "{run}");
    let last: serde_json::Value = serde_json::from_str(run.stdout.trim()).unwrap();
    assert!(last["product"].as_str().unwrap().contains("R2300"), "{run}");
    assert!(last["scans"].as_u64().unwrap() > 0, "{run}");
}

#[test]
fn an_unreachable_device_fails_with_a_hint() {
    let gone = device().address().to_string();
    let robot = Robot::new();
    let run = robot.run(&["sync", "pf", "--host", &gone, "--no-publish", "-d", "0.3"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("error: no packet came: cannot connect to 127.0.0.1:"),
        "{run}"
    );
    assert!(
        run.stderr.contains("hint: check power and address"),
        "{run}"
    );
    let port = robot.run(&["sync", "pf", "--host", "10.0.10.9:http", "--no-publish"]);
    assert_eq!(port.code, 2, "{port}");
    assert!(
        port.stderr.contains("invalid host = \"10.0.10.9:http\""),
        "{port}"
    );
    let none = robot.run(&["sync", "pf"]);
    assert_eq!(none.code, 2, "{none}");
    let wrong = robot.run(&["sync", "pf", "--host", &gone, "--method", "magic"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(
        wrong.stderr.contains("unknown timesync_method \"magic\""),
        "{wrong}"
    );
}

#[test]
fn a_broken_connection_is_reported_with_exit_code_3() {
    let robot = Robot::new();
    let device = device();
    let host = format!("http://{}/", device.address());
    let arguments = ["sync", "pf", "--host", &host, "--no-publish", "--format"];
    let driver = robot.start(&[&arguments[..], &["json"]].concat());
    let waits = |what: &str, condition: &dyn Fn() -> bool| {
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(Duration::from_secs(50));
        while !condition() {
            assert!(clock.now() < end, "no {what}");
            assert!(clock.sleep_for(Duration::from_millis(20)).is_reached());
        }
    };
    waits("packets", &|| device.sent().packets > 50);
    device.reboot(Duration::from_millis(200));
    let before = device.sent().packets;
    waits("packets again", &|| device.sent().packets > before + 50);
    driver.interrupt();
    let run = driver.end();
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("the device restarted"), "{run}");
    assert!(run.stderr.contains("the connection broke "), "{run}");
}

#[test]
fn parameters_of_the_vendors_driver_come_from_the_line_and_from_files() {
    let robot = Robot::new();
    let device = device();
    let host = device.address().to_string();
    let address = format!("scanner_ip:={host}");
    let drive = |arguments: &[&str]| {
        let before = device.sent().packets;
        let driver = robot.start(&[&["sync", "pf"], arguments].concat());
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(Duration::from_secs(50));
        while device.sent().packets < before + 30 {
            assert!(clock.now() < end, "no packets: {arguments:?}");
            assert!(clock.sleep_for(Duration::from_millis(20)).is_reached());
        }
        driver.interrupt();
        driver.end()
    };
    let run = drive(&[
        "--ros-args",
        "-p",
        &address,
        "-p",
        "scan_topic:=/front/scan",
        "-p",
        "timesync_method:=average",
        "--",
    ]);
    assert!(run.stderr.contains(" on /front/scan"), "{run}");
    let file = robot.sandbox.path("r2000.yaml");
    let text = format!(
        "pf_r2000:\n  ros__parameters:\n    transport: \"tcp\"\n    scanner_ip: \"{host}\"\n    device: \"R2000\"\n    \
         start_angle: -1800000\n    max_num_points_scan: 0\n    packet_type: \"C\"\n    scan_topic: \"/pf/scan\"\n    \
         frame_id: \"scanner_link\"\n    watchdogtimeout: 60000\n    watchdog: true\n    \
         pfsdp_init: ['scan_frequency=20', 'samples_per_scan=360']\n"
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let from_file = ["--node-name", "pf_r2000", "--params-file", &file];
    let run = drive(&from_file);
    assert!(run.stderr.contains(" on /pf/scan"), "{run}");
    // A flag counts more than a parameter.
    let run = drive(&[&from_file[..], &["--topic", "/flag"]].concat());
    assert!(run.stderr.contains(" on /flag"), "{run}");
    let wrong = robot.run(&["sync", "pf", "--simulate", "--params-file", "/none.yaml"]);
    assert_eq!(wrong.code, 2, "{wrong}");
}
