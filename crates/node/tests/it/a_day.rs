//! A day of virtual time: exact counts at its end, and no accumulating error.

use std::sync::Arc;

use timeloom_bag::BagOptions;
use timeloom_node::player::Options;
use timeloom_time::Duration;
use timeloom_wire::PublishOptions;
use timeloom_wire::loopback::{Chance, Faults, Scope};

use crate::player::fixture::{BagMessage, Fixture, TOPIC, play};
use crate::recorder_world::{BEST_EFFORT, RELIABLE, World, account, recorded, text, topic};

const DAY: u32 = 24 * 60 * 60;

/// Once a second, 24 files, and a weak link beside it that loses every seventh message.
///
/// The recorder checks the graph ten times a second, so that a day takes minutes: an hour is enough for every change,
/// and `TIMELOOM_SOAK_HOURS=24` makes it a day.
#[test]
fn hours_of_recording_have_every_message_or_its_loss() {
    let hours = std::env::var("TIMELOOM_SOAK_HOURS").map_or(1, |text| text.parse().unwrap());
    let count = hours * 3600;
    let world = World::new();
    let odometry = world.publisher("odometry", "/odom", RELIABLE);
    let position = world.publisher("position", "/gps", BEST_EFFORT);
    let mut options = world.options();
    options.bag = Arc::new(move || BagOptions {
        max_file_duration_ns: i64::from(count) * 1_000_000_000 / 24,
        ..BagOptions::default()
    });
    let recorder = world.record(options);
    let weak = Faults {
        drop: Chance::EveryNth(7),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::topic("/gps"), weak);
    let begin = world.clock.now();
    for number in 0..count {
        if number == count - 1 {
            // The last one arrives, so that the rest after it is not unknown.
            world.network.set_faults(Scope::topic("/gps"), Faults::NONE);
        }
        for publisher in [&odometry, &position] {
            let sent = publisher.publish(text(number, 20), PublishOptions::default());
            sent.unwrap();
        }
        let next = begin.saturating_add(Duration::from_secs(i64::from(number) + 1));
        let _woke = world.clock.sleep_until(next);
    }
    let report = recorder.finish().unwrap().remove(0);
    let (all, lost) = (u64::from(count), u64::from((count - 1) / 7));
    assert_eq!(account(topic(&report.topics, "/odom")), (all, 0, 0));
    assert_eq!(
        account(topic(&report.topics, "/gps")),
        (all - lost, lost, 0)
    );
    assert_eq!(report.metadata.files.len(), 24);
    let bag = recorded(&world.bag());
    assert!(bag["/odom"].iter().copied().eq(0..count));
    assert_eq!(bag["/gps"].len() as u64, all - lost);
}

/// Each message of a day at its second, to the millisecond: neither rate nor sleep drifts.
#[test]
fn a_day_of_playing_is_on_time_to_its_last_message() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<BagMessage> = (0..DAY)
        .map(|second| BagMessage(TOPIC, i64::from(second) * 1000, second))
        .collect();
    let bag = fixture.bag("day", &lines);
    let begin = fixture.clock.now();
    let player = fixture.player(&bag, Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    assert!(listener.numbers().into_iter().eq(0..DAY));
    let drift = (0..)
        .zip(listener.millis())
        .map(|(second, at)| at - second * 1000);
    let worst = drift.map(i64::abs).max();
    assert!(worst <= Some(1), "{worst:?} ms");
    assert!(fixture.clock.now() - begin >= Duration::from_secs(i64::from(DAY) - 1));
}
