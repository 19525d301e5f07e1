//! The guide in `docs/live.md`: its commands do what it shows.

use std::path::Path;
use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::Durability;
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};

use crate::docs::{Step, matches, steps};
use crate::robot::{Robot, STRING, participant};
use crate::support::Run;

/// Words as a shell splits them: blanks, and quotes around some.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Whether a run printed what is shown; a line that ends with `…` is the beginning of one.
fn is_shown(step: &Step, run: &Run, domain: u32) -> bool {
    let real = run.stdout.clone() + &run.stderr;
    let domain = domain.to_string();
    let shown: Vec<String> = step
        .output
        .iter()
        .map(|line| line.replace("DOMAIN", &domain))
        .collect();
    let cut = |line: &'_ str| -> String {
        let begun = shown.iter().find_map(|shown| {
            let begin = shown.strip_suffix('…').filter(|begin| !begin.is_empty())?;
            line.starts_with(begin).then(|| shown.clone())
        });
        begun.unwrap_or_else(|| line.to_owned())
    };
    let lines: Vec<String> = real.lines().map(cut).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    matches(&shown, &lines)
}

#[test]
fn every_command_of_the_page_prints_the_shown_output() {
    let robot = Robot::new();
    let participant = Arc::new(participant(robot.domain));
    let node = RosNode::new(participant, NodeOptions::new("talker")).unwrap();
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..QosProfile::DEFAULT
    };
    let chatter = node.publisher("chatter", STRING, latched).unwrap();
    let mut message = chatter.message().unwrap();
    message.set("data", "hello").unwrap();
    chatter.publish(&message).unwrap();
    let types = ServiceTypes::builtin("std_srvs/srv/Trigger").unwrap();
    let _reset = node
        .serve("~/reset", "std_srvs/srv/Trigger", move |_| {
            let mut response = types.response.default_value()?;
            response.set("success", true)?;
            response.set("message", "as new")?;
            Ok(response)
        })
        .unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live.md");
    let steps = steps(&std::fs::read_to_string(page).unwrap());
    assert!(steps.len() >= 7);
    for step in steps {
        let words = words(&step.arguments);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        robot.until(&words, |run| is_shown(&step, run, robot.domain));
    }
}
