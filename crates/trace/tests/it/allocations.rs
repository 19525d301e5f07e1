//! Allocations of the hot path, and memory of the engine.

use allocation_counter::measure;
use timeloom_time::{Duration, Time};
use timeloom_trace::{EngineOptions, InputSet, Moment, Received, Tracker, TrackerOptions};

use crate::world::World;

fn received(number: i64) -> Received {
    Received {
        at: Moment::from_nanos(number, number),
        stamp: Some(Time::from_nanos(number)),
    }
}

#[test]
fn nothing_is_allocated_after_warm_up() {
    let tracker = Tracker::new("/node", TrackerOptions::default());
    let inputs: Vec<_> = (0..4)
        .map(|number| tracker.input(&format!("/in{number}")))
        .collect();
    let outputs = [tracker.output("/out"), tracker.output("/other")];
    let mut payload = Vec::new();
    let mut set = InputSet::with_capacity(4);
    let mut cycle = |number: i64| {
        set.clear();
        for input in &inputs {
            set.add(input.received(received(number)));
        }
        let now = Moment::from_nanos(number, number);
        assert!(outputs[0].tag(now, Some(Time::from_nanos(number)), &mut payload));
        assert!(outputs[0].tag_of(now, None, &set, &mut payload));
        // As in TILDE: by stamp, found in the ring.
        assert!(outputs[1].add_explicit_input("/in2", Time::from_nanos(number), now));
        assert!(outputs[1].tag(now, None, &mut payload));
    };
    (0..10).for_each(&mut cycle);
    let counted = measure(|| (10..5000).for_each(&mut cycle));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn the_counter_detects_an_allocation() {
    let counted = measure(|| drop(vec![0_u8; 100]));
    assert_eq!((counted.count_total, counted.bytes_max), (1, 100));
}

fn cycles(world: &mut World, cycles: std::ops::Range<i64>) {
    for cycle in cycles {
        world.tag("/a", cycle, cycle, &[]);
        world.tag("/lost", cycle, cycle, &[("/never", cycle, cycle)]);
        world.tag(
            "/b",
            cycle,
            cycle,
            &[("/a", cycle, cycle), ("/lost", cycle - 7, cycle)],
        );
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_tags() {
    let mut world = World::new(EngineOptions {
        keep: Duration::from_secs(3600),
        messages: 3_000,
        ..EngineOptions::default()
    });
    world.engine.expect_topic("/never");
    let first = measure(|| cycles(&mut world, 1..5_000));
    let rest = measure(|| cycles(&mut world, 5_000..25_000));
    // A table may double once more when removed entries leave holes; five times as many tags would need five times as
    // much.
    assert!(rest.bytes_max < first.bytes_max, "{first:?} {rest:?}");
    assert!(world.engine.remembered() <= 4_000);
}
