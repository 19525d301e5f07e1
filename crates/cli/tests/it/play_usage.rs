//! What `timeloom play` refuses before it does anything.

use crate::support::Sandbox;

#[test]
fn what_makes_no_sense_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "bag");
    for (arguments, reason) in [
        ("-r 0", "it must be a finite number"),
        ("-r NaN", "it must be a finite number"),
        ("-r 1e9", "out of range"),
        ("--clock --use-sim-time", "cannot be used with"),
        ("--use-sim-time -r 2", "time follows /clock"),
        ("--clock 10 --clock-topics-all", "cannot be used with"),
        ("--loop-monotonic", "requires a loop"),
        ("--loop-range +5s..+2s", "--loop-range is empty"),
        (
            "--start +2s --loop-range +0.5s..+1s",
            "--loop-range ends before the start of playback",
        ),
        ("--skip-clock-steps=-1", "from 0"),
        ("--pace lockstep", "requires the topic to wait for"),
        ("--pace-tolerance 1", "requires --pace drop"),
        ("--sync-topic /x", "requires --pace lockstep"),
        ("--start-offset -1", "from 0"),
        ("--delay -1", "from 0"),
        ("--read-ahead-queue-size 0", "0 is not in"),
        ("--topics /no_such", "no_such"),
        (
            "--playback-until-sec 3 --playback-until-nsec 3",
            "cannot be used with",
        ),
        ("--params-file no_such.yaml", "no_such.yaml"),
        ("-s sqlite3", "sqlite3"),
    ] {
        let run = sandbox.run(&format!("play bag {arguments}"));
        assert!(run.code == 2 || run.code == 1, "{arguments}: {run}");
        assert!(run.stderr.contains(reason), "{arguments}: {run}");
    }
    let run = sandbox.run("play");
    assert_eq!(run.code, 2, "{run}");
    let run = sandbox.run("play no_such_bag");
    assert_eq!(run.code, 1, "{run}");
}

#[test]
fn the_names_of_rosbag2_are_understood() {
    let sandbox = Sandbox::new();
    let help = sandbox.ok("play --help") + &sandbox.ok("burst --help");
    for flag in [
        "--input",
        "--storage",
        "--read-ahead-queue-size",
        "--rate",
        "--topics",
        "--services",
        "--actions",
        "--regex",
        "--exclude-regex",
        "--exclude-topics",
        "--exclude-services",
        "--exclude-actions",
        "--qos-profile-overrides-path",
        "--loop",
        "--remap",
        "--storage-config-file",
        "--clock",
        "--clock-topics",
        "--clock-topics-all",
        "--delay",
        "--playback-duration",
        "--playback-until-sec",
        "--playback-until-nsec",
        "--disable-keyboard-controls",
        "--start-paused",
        "--start-offset",
        "--wait-for-all-acked",
        "--publish-service-requests",
        "--service-requests-source",
        "--send-actions-as-client",
        "--message-order",
        "--progress-bar-update-rate",
        "--log-level",
        "--num-messages",
        "--params-file",
        "--use-sim-time",
        "--extrapolate-ros-time",
        "--node-name",
    ] {
        assert!(help.contains(flag), "{flag}");
    }
}
