//! The flags of `ros2 topic` on the live verbs.

use crate::robot::Robot;

#[test]
fn echo_shows_the_selected_fields() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    let echo = |more: &[&str]| {
        let arguments = [&["topic", "echo", "/chatter"], more].concat();
        // A busy machine may need longer than one run looks for a publisher, and may lose messages.
        robot.until(&arguments, |run| run.code == 0).stdout
    };
    robot.until(&["topic", "list"], |run| run.stdout.contains("/chatter"));
    assert_eq!(echo(&["--csv", "--once"]), "hi\n");
    assert_eq!(
        echo(&["--once", "--field", "data", "-l", "1"]),
        "\"h...\"\n"
    );
    assert_eq!(
        echo(&["--once", "--field", "data", "-f", "--flow-style"]),
        "\"hi\"\n"
    );
    assert_eq!(
        echo(&["-n", "2", "--csv", "--filter", "m.data == 'hi'"]),
        "hi\nhi\n"
    );
    assert_eq!(echo(&["--timeout", "1", "--filter", "m.data == 'ho'"]), "");
    assert_eq!(
        echo(&[
            "--csv",
            "--field",
            "data",
            "--filter",
            "len(m) == 2",
            "--once"
        ]),
        "hi\n"
    );
    let info = echo(&["-n", "2", "-i", "--no-lost-messages"]);
    let lines: Vec<&str> = info.lines().collect();
    assert_eq!(lines.len(), 4, "{info}");
    assert!(
        lines[0].contains("\"publication_sequence_number\":"),
        "{info}"
    );
    assert!(
        lines[2].contains("\"reception_sequence_number\":2"),
        "{info}"
    );
    let row = echo(&["--once", "-i", "--csv"]);
    assert_eq!(row.trim_end().split(',').count(), 5, "{row}");
    assert!(row.ends_with(",1,hi\n"), "{row}");
}

#[test]
fn a_wait_for_a_publisher_ends_with_the_timeout() {
    let robot = Robot::new();
    let run = robot.run(&[
        "topic",
        "echo",
        "/nothing",
        "std_msgs/msg/String",
        "--timeout",
        "1",
    ]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
}

#[test]
fn invalid_filters_are_refused_with_the_reason() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    robot.until(&["topic", "list"], |run| run.stdout.contains("/chatter"));
    let refused = |filter: &str, code: i32, words: &str| {
        let arguments = ["topic", "echo", "/chatter", "--filter", filter];
        robot.until(&arguments, |run| {
            run.code == code && run.stderr.contains(words)
        });
    };
    refused("m.data + 1", 2, "are supported");
    refused("m.dat == 1", 1, "did you mean data?");
    refused("m.data > 1", 2, "a text and a number have no order");
}

#[test]
fn lists_rates_and_bandwidths_have_the_flags_of_ros2() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    let list = robot.until(&["topic", "list", "-v", "-s"], |run| {
        run.stdout.contains(" * /chatter ")
    });
    assert_eq!(
        list.stdout,
        "Published topics:\n * /chatter [std_msgs/msg/String] 1 publisher\n\nSubscribed topics:\n\n"
    );
    robot.until(&["topic", "info", "/chatter", "-s"], |run| {
        run.stdout.contains("Publisher count: 1")
    });
    let filter = [
        "topic",
        "hz",
        "/chatter",
        "-n",
        "5",
        "--wall-time",
        "--filter",
        "m.data == 'hi'",
    ];
    // A busy machine may need longer than one run looks for a publisher, and may lose messages.
    robot.until(&filter, |run| {
        run.code == 0 && run.stdout.contains("average rate: ")
    });
    let both = robot.run(&["topic", "hz", "/chatter", "--wall-time", "--use-sim-time"]);
    assert_eq!(both.code, 2, "{both}");
    let _clock = robot.start(&["clock", "publish", "--disable-keyboard-controls"]);
    robot.until(&["topic", "list"], |run| run.stdout.contains("/clock"));
    robot.until(&["topic", "bw", "/chatter", "-s", "-n", "5"], |run| {
        run.code == 0 && run.stdout.contains("B/s from ")
    });
}
