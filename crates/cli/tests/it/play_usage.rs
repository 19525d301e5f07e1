//! Options that `timeloom play` refuses.

use crate::support::Sandbox;

#[test]
fn invalid_options_are_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "bag");
    for (code, arguments, reason) in [
        (2, "-r 0", "it must be a finite number"),
        (2, "-r NaN", "it must be a finite number"),
        (2, "-r 1e9", "out of range"),
        (2, "--clock --use-sim-time", "cannot be used with"),
        (2, "--use-sim-time -r 2", "time follows /clock"),
        (2, "--clock 10 --clock-topics-all", "cannot be used with"),
        (2, "--loop-monotonic", "requires a loop"),
        (2, "--loop-range +5s..+2s", "--loop-range is empty"),
        (
            2,
            "--start +2s --loop-range +0.5s..+1s",
            "--loop-range ends before the start of playback",
        ),
        (2, "--skip-clock-steps=-1", "0 or more"),
        (2, "--pace lockstep", "requires the topic to wait for"),
        (2, "--pace-tolerance 1", "requires --pace drop"),
        (2, "--sync-topic /x", "requires --pace lockstep"),
        (2, "--start-offset -1", "0 or more"),
        (2, "--delay -1", "0 or more"),
        (2, "--read-ahead-queue-size 0", "0 is not in"),
        (2, "--read-ahead-seconds=-1", "0 or more"),
        (1, "--topics /no_such", "no_such"),
        (
            2,
            "--playback-until-sec 3 --playback-until-nsec 3",
            "cannot be used with",
        ),
        (2, "--params-file no_such.yaml", "no_such.yaml"),
        (1, "-s sqlite3", "sqlite3"),
    ] {
        let run = sandbox.run(&format!("play bag {arguments}"));
        assert_eq!(run.code, code, "{arguments}: {run}");
        assert!(run.stderr.contains(reason), "{arguments}: {run}");
    }
    let run = sandbox.run("play");
    assert_eq!(run.code, 2, "{run}");
    let run = sandbox.run("play no_such_bag");
    assert_eq!(run.code, 1, "{run}");
}

#[test]
fn the_flags_of_rosbag2_are_accepted() {
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
