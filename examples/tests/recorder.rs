//! The recorder example records every message of its robot.

#[path = "../examples/recorder.rs"]
mod recorder;

#[test]
fn the_recorder_example_records_every_message() {
    let directory = timeloom_testkit::mcap::BagScratch::new();
    let report = recorder::record(&directory.path().join("bag")).expect("a report");
    let topic = &report.topics[0];
    assert_eq!(topic.name, "/chatter");
    assert_eq!(topic.statistics.messages_recorded, 100);
    assert_eq!(topic.statistics.messages_published(), 100);
    recorder::main().expect("it prints the account");
}
