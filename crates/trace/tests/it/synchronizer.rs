//! The synchroniser knows the messages of its matches.

use timeloom_time::{Duration, Time};
use timeloom_trace::{
    MatchRule, MessageTrackingTag, Moment, Received, Synchronizer, Tracker, TrackerOptions,
};

const MS: i64 = 1_000_000;

struct World {
    sync: Synchronizer<i64>,
    tracker: std::sync::Arc<Tracker>,
}

impl World {
    fn new(rule: MatchRule) -> Self {
        Self {
            sync: Synchronizer::new(2, 3, rule),
            tracker: Tracker::new("/fusion", TrackerOptions::default()),
        }
    }

    /// A message on `/in0` or `/in1`; the stamps that the tag of the match lists.
    fn add(&mut self, input: usize, stamp_ms: i64) -> Option<(Vec<i64>, Vec<i64>)> {
        let received = Received {
            at: Moment::from_nanos(stamp_ms * MS + 1, stamp_ms * MS + 1),
            stamp: Some(Time::from_nanos(stamp_ms * MS)),
        };
        let used = self
            .tracker
            .input(&format!("/in{input}"))
            .received(received);
        let matched = self.sync.add(input, used, stamp_ms)?;
        let mut payload = Vec::new();
        self.tracker
            .output("/out")
            .tag_of(received.at, None, &matched.inputs, &mut payload);
        let tag = MessageTrackingTag::decode(&payload).unwrap();
        let stamps = tag
            .inputs
            .iter()
            .map(|input| input.stamp.unwrap().nanos() / MS);
        Some((matched.messages, stamps.collect()))
    }
}

#[test]
fn equal_stamps_are_joined_and_listed() {
    let mut world = World::new(MatchRule::Exact);
    assert_eq!(world.add(0, 10), None);
    assert_eq!(world.add(0, 20), None);
    // The newest of input 0 is 30, but 20 is used, and the tag has it.
    assert_eq!(world.add(0, 30), None);
    assert_eq!(world.add(1, 20), Some((vec![20, 20], vec![20, 20])));
    assert_eq!(world.sync.unmatched(), [1, 0]);
    // Also in the other order.
    assert_eq!(world.add(1, 40), None);
    assert_eq!(world.add(0, 40), Some((vec![40, 40], vec![40, 40])));
    assert_eq!(world.sync.unmatched(), [2, 0]);
}

#[test]
fn near_stamps_are_joined_nearest_first() {
    let mut world = World::new(MatchRule::Within(Duration::from_millis(5)));
    assert_eq!(world.add(0, 10), None);
    assert_eq!(world.add(0, 20), None);
    assert_eq!(world.add(1, 26), None);
    assert_eq!(world.add(1, 17), Some((vec![20, 17], vec![20, 17])));
}

#[test]
fn messages_without_a_match_are_counted() {
    let mut world = World::new(MatchRule::Exact);
    for number in 0..5 {
        assert_eq!(world.add(0, number), None);
    }
    assert_eq!(world.sync.unmatched(), [2, 0]);
    let bare = world.tracker.input("/in1").received(Received::default());
    assert!(world.sync.add(1, bare, 0).is_none());
    assert_eq!(world.sync.unmatched(), [2, 1]);
}
