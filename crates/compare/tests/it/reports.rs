//! The report as text, JSON, verdicts and a page.

use tempfile::tempdir;
use timeloom_compare::{CompareOptions, Comparison, html, text, verdicts};

use crate::{diff, float, write};

const TYPES: &[(&str, &str)] = &[
    ("/speed", "std_msgs/msg/Float64"),
    ("/<b>", "std_msgs/msg/Float64"),
];

fn example() -> Comparison {
    let directory = tempdir().unwrap();
    let left = [
        float("/speed", 0, 1.0),
        float("/speed", 1_000_000_000, 1.0),
        float("/<b>", 5, 0.0),
    ];
    let right = [
        float("/speed", 0, 1.0),
        float("/speed", 1_000_000_000, 1.25),
        float("/<b>", 5, 0.0),
    ];
    write(&directory.path().join("a"), TYPES, &left);
    write(&directory.path().join("b"), TYPES, &right);
    diff(directory.path(), &CompareOptions::default())
}

#[test]
fn the_text_names_what_differs() {
    assert_eq!(
        text(&example(), false),
        "left  a: 2 topics, 3 messages, 1.000 s
right b: 2 topics, 3 messages, 1.000 s

/speed  std_msgs/msg/Float64
  2 pairs by order, 1 differ
  data: 1 message
    first  at 1.000 s (message 2) data: 1 | 1.25, difference 0.25

different: 1 of 2 topics
"
    );
    assert!(
        text(&example(), true)
            .contains("/<b>  std_msgs/msg/Float64\n  1 pair by order, all the same\n")
    );
}

#[test]
fn the_json_has_the_counts() {
    let json = serde_json::to_value(example()).unwrap();
    assert_eq!(json["topics"][1]["different"], 1);
    assert_eq!(json["topics"][1]["kinds"][0], "values");
    assert_eq!(json["topics"][1]["fields"][0]["first"]["right"], "1.25");
}

#[test]
fn every_topic_has_a_verdict() {
    let verdicts = verdicts(&example());
    let kept: Vec<_> = verdicts
        .iter()
        .map(|verdict| (verdict.budget.as_str(), verdict.kept))
        .collect();
    assert_eq!(kept, [("/<b>", true), ("/speed", false)]);
    assert_eq!(
        verdicts[1].reason,
        "values: 1 of 2 pairs differ; first: message 2 data: 1 | 1.25"
    );
}

#[test]
fn the_page_shows_both_timelines_and_escapes_names() {
    let page = html(&example());
    assert!(page.contains("<td>/&lt;b&gt;</td>") && !page.contains("/<b>"));
    assert!(page.contains("class=\"different\"") && page.contains("class=\"same\""));
}
