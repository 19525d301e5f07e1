//! The guide in `docs/verbs/record.md`: what it records is recorded as it shows.

use std::path::Path;

use serde_json::json;

use crate::docs::{matches, steps};
use crate::record_robot::Robot;
use crate::support::Run;

#[test]
fn the_live_commands_of_the_page_print_the_shown_output() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "chatter", "topic": "/chatter"}));
    robot.ask(&json!({"do": "start", "name": "chatter", "rate": 200.0, "size": 15}));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verbs/record.md");
    let page = std::fs::read_to_string(page).unwrap();
    // The others are run by the test of all pages.
    let page = page.replace("```console\n", "```\n");
    let steps = steps(&page.replace("```console live\n", "```console\n"));
    assert_eq!(steps.len(), 2);
    for step in steps {
        let run = Run::new(&robot.sandbox.command(&step.arguments).output().unwrap());
        let real = run.stdout.clone() + &run.stderr;
        let lines: Vec<&str> = real.lines().collect();
        assert!(matches(&step.output, &lines), "{}\n{run}", step.arguments);
    }
    robot.ask(&json!({"do": "stop", "name": "chatter"}));
}
