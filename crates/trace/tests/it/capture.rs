//! TILDE's tests of its publisher and node (tilde.md §2), and cases that they leave out.

use std::sync::Arc;

use timeloom_time::{Duration, Ros, Time};
use timeloom_trace::{
    InputInfo, InputSet, MessageTrackingTag, Moment, Received, TrackedOutput, Tracker,
    TrackerOptions,
};

const SECOND: i64 = 1_000_000_000;

fn at(seconds: i64) -> Moment {
    Moment::from_nanos(seconds * SECOND, (1000 + seconds) * SECOND)
}

fn stamp(seconds: i64) -> Time<Ros> {
    Time::from_nanos(seconds * SECOND)
}

fn message(received: i64, stamped: i64) -> Received {
    Received {
        at: at(received),
        stamp: Some(stamp(stamped)),
    }
}

fn info(topic: &str, received: Received) -> InputInfo {
    InputInfo {
        topic: topic.into(),
        received: received.at,
        stamp: received.stamp,
    }
}

fn tracker() -> Arc<Tracker> {
    Tracker::new("/node", TrackerOptions::default())
}

fn tag(output: &TrackedOutput, seconds: i64) -> MessageTrackingTag {
    let mut payload = Vec::new();
    assert!(output.tag(at(seconds), Some(stamp(seconds)), &mut payload));
    MessageTrackingTag::decode(&payload).unwrap()
}

#[test]
fn the_latest_of_every_input_is_listed_by_name() {
    let tracker = tracker();
    let (b, a) = (tracker.input("/b"), tracker.input("/a"));
    tracker.input("/never");
    let output = tracker.output("/out");
    assert_eq!(tag(&output, 0).inputs, []);
    a.received(message(1, 10));
    b.received(message(2, 20));
    a.received(message(3, 30));
    let tag = tag(&output, 4);
    assert_eq!(
        tag.inputs,
        [info("/a", message(3, 30)), info("/b", message(2, 20))]
    );
    assert_eq!(
        (tag.output.topic.as_str(), tag.output.node.as_str()),
        ("/out", "/node")
    );
    assert_eq!((tag.output.sequence, tag.output.published), (1, at(4)));
    assert_eq!(tag.output.stamp, Some(stamp(4)));
    assert_eq!(tag.header_stamp, at(4).ros);
}

#[test]
fn an_explicit_input_that_is_no_longer_kept_has_its_stamp_only() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    input.received(message(1, 10));
    assert!(output.add_explicit_input("/in", stamp(11), at(2)));
    let unknown = Received {
        at: Moment::UNKNOWN,
        stamp: Some(stamp(11)),
    };
    assert_eq!(tag(&output, 2).inputs, [info("/in", unknown)]);
    assert!(!output.add_explicit_input("/other", stamp(11), at(2)));
}

#[test]
fn explicit_inputs_are_kept_for_the_retention_time() {
    let found = |retention: Option<Duration>| {
        let options = TrackerOptions {
            retention,
            ..TrackerOptions::default()
        };
        let tracker = Tracker::new("/node", options);
        let input = tracker.input("/in");
        for second in 0..10 {
            // Replayed long after it was recorded: the stamps do not show when it arrived.
            input.received(message(second, second - 1_000_000));
        }
        let output = tracker.output("/out");
        for stamped in [0, 5] {
            assert!(output.add_explicit_input("/in", stamp(stamped - 1_000_000), at(21)));
        }
        let tag = tag(&output, 21);
        let known = tag.inputs.iter().map(|input| !input.received.is_unknown());
        known.collect::<Vec<_>>()
    };
    assert_eq!(found(None), [true, true]);
    assert_eq!(found(Some(Duration::from_secs(21))), [true, true]);
    assert_eq!(found(Some(Duration::from_secs(20))), [false, true]);
}

#[test]
fn explicit_inputs_of_several_topics_and_several_of_one() {
    let tracker = tracker();
    let (left, twist) = (tracker.input("/left"), tracker.input("/twist"));
    let output = tracker.output("/concatenate");
    for number in 1..=3 {
        left.received(message(number, 10 + number));
        twist.received(message(number, 20 + number));
    }
    // The example of the specification: L2, and both W2 and W3.
    output.add_explicit_input("/left", stamp(12), at(4));
    output.add_explicit_input("/twist", stamp(22), at(4));
    output.add_explicit_input("/twist", stamp(23), at(4));
    assert_eq!(
        tag(&output, 4).inputs,
        [
            info("/left", message(2, 12)),
            info("/twist", message(2, 22)),
            info("/twist", message(3, 23)),
        ]
    );
}

#[test]
fn explicit_inputs_stay_explicit_as_in_tilde() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    input.received(message(1, 1));
    output.add_explicit_input("/in", stamp(1), at(1));
    assert_eq!(tag(&output, 1).inputs.len(), 1);
    assert_eq!(tag(&output, 2).inputs.len(), 0);
    input.received(message(3, 3));
    assert_eq!(tag(&output, 3).inputs.len(), 0);
}

#[test]
fn an_input_set_leaves_no_state() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    let old = input.received(message(1, 1));
    input.received(message(2, 2));
    let mut scope = InputSet::default();
    scope.add(old);
    scope.add(old);
    let mut payload = Vec::new();
    assert!(output.tag_of(at(3), None, &scope, &mut payload));
    let scoped = MessageTrackingTag::decode(&payload).unwrap();
    assert_eq!(scoped.inputs, [info("/in", message(1, 1))]);
    assert_eq!(tag(&output, 3).inputs, [info("/in", message(2, 2))]);
}

#[test]
fn messages_are_found_by_topic_and_stamp() {
    let tracker = tracker();
    let input = tracker.input("/in");
    input.received(message(1, 10));
    input.received(message(2, 20));
    let find = |topic, stamped| tracker.find(topic, stamp(stamped), at(3));
    assert!(find("/other", 10).is_none());
    assert_eq!(find("/in", 10).unwrap().received(), message(1, 10));
    assert_eq!(find("/in", 20).unwrap().received(), message(2, 20));
    assert!(find("/in", 30).unwrap().received().at.is_unknown());
    assert_eq!(input.find(stamp(30)), None);
}

#[test]
fn of_equal_stamps_the_newest_is_found() {
    let tracker = tracker();
    let input = tracker.input("/in");
    input.received(message(1, 10));
    input.received(message(2, 10));
    assert_eq!(input.find(stamp(10)), Some(message(2, 10)));
}

#[test]
fn the_latest_message_is_the_last_received_whatever_its_stamp() {
    let tracker = Tracker::new(
        "/node",
        TrackerOptions {
            messages: 1,
            ..TrackerOptions::default()
        },
    );
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    input.received(message(1, 30));
    input.received(message(2, 10));
    assert_eq!(tag(&output, 3).inputs, [info("/in", message(2, 10))]);
    // There is room for one.
    assert_eq!(input.find(stamp(30)), None);
}

#[test]
fn messages_without_stamp_are_listed_without_stamp() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    let bare = Received {
        at: at(1),
        stamp: None,
    };
    input.received(bare);
    let mut payload = Vec::new();
    output.tag(at(2), None, &mut payload);
    let tag = MessageTrackingTag::decode(&payload).unwrap();
    assert_eq!(tag.output.stamp, None);
    assert_eq!(tag.inputs, [info("/in", bare)]);
}

#[test]
fn while_off_there_is_no_tag_and_nothing_is_recorded() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let output = tracker.output("/out");
    tracker.set_enabled(false);
    input.received(message(1, 1));
    let mut payload = vec![7];
    assert!(!output.tag(at(1), None, &mut payload) && payload.is_empty());
    assert!(!output.tag_of(at(1), None, &InputSet::default(), &mut payload));
    tracker.set_enabled(true);
    let tag = tag(&output, 2);
    // The numbers continue: TILDE counts while it is on.
    assert_eq!((tag.inputs.len(), tag.output.sequence), (0, 0));
}

#[test]
fn two_publishers_of_one_topic_have_inputs_and_their_own_numbers() {
    let tracker = tracker();
    let input = tracker.input("/in");
    let (first, second) = (tracker.output("/out"), tracker.output("/out"));
    input.received(message(1, 1));
    for expected in 0..3 {
        for output in [&first, &second] {
            let tag = tag(output, 2);
            assert_eq!((tag.inputs.len(), tag.output.sequence), (1, expected));
        }
    }
}

#[test]
fn an_input_that_is_added_later_is_in_the_tags_of_older_outputs() {
    let tracker = tracker();
    let output = tracker.output("/out");
    tracker.input("/b").received(message(1, 1));
    assert_eq!(tag(&output, 1).inputs.len(), 1);
    tracker.input("/a").received(message(2, 2));
    let topics = tag(&output, 2).inputs.into_iter().map(|input| input.topic);
    assert_eq!(topics.collect::<Vec<_>>(), ["/a", "/b"]);
}

#[test]
fn more_inputs_than_are_looked_up_at_once() {
    let tracker = tracker();
    let output = tracker.output("/out");
    for number in 0..40 {
        let input = tracker.input(&format!("/in{number:02}"));
        if number % 2 == 0 {
            input.received(message(number, number));
        }
    }
    let tag = tag(&output, 50);
    assert_eq!(tag.inputs.len(), 20);
    assert!(tag.inputs.is_sorted_by(|a, b| a.topic < b.topic));
}

#[test]
fn threads_with_their_own_input_sets_never_mix_inputs() {
    let tracker = tracker();
    let (a, b) = (tracker.input("/a"), tracker.input("/b"));
    let output = tracker.output("/out");
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (a, b, output) = (&a, &b, &output);
            scope.spawn(move || {
                let mut payload = Vec::new();
                let mut set = InputSet::with_capacity(2);
                for round in 0..2000 {
                    let number = thread * 10_000 + round;
                    set.clear();
                    set.add(a.received(message(number, number)));
                    set.add(b.received(message(number, number)));
                    output.tag_of(at(number), Some(stamp(number)), &set, &mut payload);
                    let tag = MessageTrackingTag::decode(&payload).unwrap();
                    let stamps = tag.inputs.iter().map(|input| input.stamp);
                    assert!(stamps.eq([Some(stamp(number)); 2]));
                    assert_eq!(tag.output.stamp, Some(stamp(number)));
                    // The implicit tag is complete too, whichever thread received its messages.
                    output.tag(at(number), None, &mut payload);
                    let tag = MessageTrackingTag::decode(&payload).unwrap();
                    for input in tag.inputs {
                        let seconds = input.received.ros.nanos() / SECOND;
                        assert_eq!(input.stamp, Some(stamp(seconds)));
                    }
                }
            });
        }
    });
    assert_eq!(tag(&output, 1).output.sequence, 12_000);
}
