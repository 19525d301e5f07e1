//! `timeloom record` where things go wrong outside of it: a lossy network, a full disk.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::json;

use crate::record_robot::{Recording, Robot, numbers, peer_script, python, statistics};
use crate::support::{Sandbox, stored};

/// Whether namespaces of that kind can be made here; says so if not.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn can_unshare(flags: &str) -> bool {
    let made = Command::new("unshare").args([flags, "true"]).status();
    let can = made.is_ok_and(|status| status.success());
    if !can {
        eprintln!("skipped: `unshare {flags}` is not allowed here");
    }
    can
}

fn lossy(percent: &str, sandbox: &Sandbox, arguments: &str) -> Option<Robot> {
    let python = python()?;
    if !can_unshare("-rnm") {
        return None;
    }
    let domain = 42;
    let mut command = Command::new("unshare");
    command
        .args(["-rnm", "sh"])
        .arg(peer_script("lossy_link.sh"))
        .arg(percent)
        .arg(sandbox.path(""))
        .arg(env!("CARGO_BIN_EXE_timeloom"))
        .arg(python)
        .arg(peer_script("publisher.py"))
        .arg(domain.to_string())
        .args(arguments.split_whitespace());
    Some(Robot::with(domain, command))
}

#[test]
fn on_a_lossy_link_every_message_is_recorded_or_counted() {
    let sandbox = Sandbox::new();
    let Some(mut robot) = lossy("5", &sandbox, "--topics /strong /weak -o bag") else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "strong", "topic": "/strong"}));
    robot.ask(&json!({"do": "writer", "name": "weak", "topic": "/weak", "reliable": false}));
    for name in ["strong", "weak"] {
        robot.matched(name);
    }
    let mut sent = 0;
    for _ in 0..20 {
        for name in ["strong", "weak"] {
            sent =
                robot.number(&json!({"do": "publish", "name": name, "count": 100, "rate": 2000.0}));
        }
    }
    robot.ask(&json!({"do": "acked", "name": "strong"}));
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    robot.finish();
    let words = fs::read_to_string(sandbox.path("record.err")).unwrap();
    let code = fs::read_to_string(sandbox.path("record.code")).unwrap();
    assert_eq!(code.trim(), "3", "{words}");
    let bag = sandbox.path("bag");
    let strong = statistics(&bag, "/strong");
    assert_eq!(
        (strong.messages_recorded, strong.messages_lost()),
        (sent, 0),
        "{words}"
    );
    let weak = statistics(&bag, "/weak");
    let seen = &numbers(&bag, "/weak")["weak"];
    let stretch = seen.last().unwrap() - seen[0] + 1;
    assert_eq!(weak.messages_published(), stretch, "{words}");
    assert_eq!(weak.messages_lost_in_recorder(), 0, "{words}");
    // 5 % of 2000 with a wide margin.
    assert!(
        (40..250).contains(&weak.messages_lost_in_transport),
        "{words}"
    );
}

#[test]
fn on_a_full_disk_everything_is_written_or_counted_and_the_bag_is_readable() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    if !can_unshare("-rm") {
        return;
    }
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a"}));
    let mut command = Command::new("unshare");
    command
        .args(["-rm", "sh"])
        .arg(peer_script("full_disk.sh"))
        .arg("6m")
        .arg(robot.sandbox.path(""))
        .arg(env!("CARGO_BIN_EXE_timeloom"))
        .args(["--topics", "/a", "--localhost"])
        .env("ROS_DOMAIN_ID", robot.domain.to_string())
        .process_group(0);
    let recording = Recording::start(&mut command);
    robot.matched("a");
    let sent = robot
        .number(&json!({"do": "publish", "name": "a", "count": 200, "size": 60000, "rate": 200.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    recording.signal_group("-INT");
    let run = recording.end();
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("No space left on device"), "{run}");
    let bag = robot.sandbox.path("bag");
    let found = statistics(&bag, "/a");
    assert_eq!(found.messages_published(), sent, "{run}");
    assert!(found.lost_in_recorder.storage > 50, "{run}");
    assert!(found.messages_recorded > 50, "{run}");
    assert_eq!(stored(&bag).len() as u64, found.messages_recorded, "{run}");
}
