//! Policies for publishing that cannot keep up with time.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_node::player::{Control, Options, Pace};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Faults, LoopbackOptions, Scope};
use timeloom_wire::queue::QueueLimits;
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use super::clock::every;
use super::fixture::{BagMessage, Fixture, Listener, MS, TOPIC, at_ms, play};

const SLOW: &str = "/slow";

/// A subscription of `/slow` takes 50 ms for each message and has room for one more.
fn slow_fixture() -> (Fixture, Arc<Listener>, Arc<Listener>) {
    let fixture = Fixture::with(LoopbackOptions {
        limits: QueueLimits {
            messages: 1,
            bytes: 1 << 20,
        },
        ..LoopbackOptions::default()
    });
    let (slow, quick) = (fixture.listener(SLOW), fixture.listener(TOPIC));
    fixture.network.set_faults(
        Scope::topic(SLOW),
        Faults {
            slow_receiver: Duration::from_millis(50),
            ..Faults::NONE
        },
    );
    (fixture, slow, quick)
}

/// Both topics every 20 ms, half a second of them.
fn lines() -> Vec<BagMessage> {
    (0..25)
        .flat_map(|n| {
            [
                BagMessage(SLOW, 20 * n, n as u32),
                BagMessage(TOPIC, 20 * n + 10, n as u32),
            ]
        })
        .collect()
}

fn paced(pace: Pace) -> Options {
    Options {
        pace,
        ..Options::default()
    }
}

#[test]
fn by_default_time_does_not_wait() {
    let (fixture, slow, quick) = slow_fixture();
    let player = fixture.player(&fixture.bag("bag", &lines()), paced(Pace::CatchUp));
    play(&player);
    player.wait();
    fixture.pass(200);
    assert_eq!((slow.numbers().len(), quick.numbers().len()), (25, 25));
    assert!(player.status().latest > Duration::from_millis(400));
}

/// Followers of its `/clock` publish them, too.
#[test]
fn a_late_leader_publishes_all_due_messages_before_a_pause() {
    let (fixture, _slow, _quick) = slow_fixture();
    let options = Options {
        clock: every(10),
        ..paced(Pace::CatchUp)
    };
    let player = fixture.player(&fixture.bag("bag", &lines()), options);
    play(&player);
    fixture.pass(400);
    assert!(player.status().latest > Duration::from_millis(100));
    player.control(Control::Pause).unwrap();
    let now = player.clock().now().nanos() / MS;
    let due = lines().iter().filter(|message| message.1 <= now).count();
    assert_eq!(player.status().played(), due as u64);
}

#[test]
fn time_waits_for_all_topics_alike() {
    let (fixture, slow, quick) = slow_fixture();
    let player = fixture.player(&fixture.bag("bag", &lines()), paced(Pace::KeepOrder));
    play(&player);
    fixture.pass(500);
    let status = player.status();
    assert!(player.clock().now() < at_ms(250), "time goes slower");
    assert!(status.achieved_rate.is_none_or(|rate| rate < 0.7));
    player.wait();
    fixture.pass(200);
    let all: Vec<u32> = (0..25).collect();
    assert_eq!((slow.numbers(), quick.numbers()), (all.clone(), all));
    // Each quick message is between its slow neighbours, as recorded.
    for (n, (quick, slow)) in quick.times().iter().zip(slow.times()).enumerate().skip(2) {
        assert!((quick - slow).abs() <= 100, "message {n}: {quick} {slow}");
    }
    assert!(status.latest <= Duration::from_millis(60), "{status:?}");
}

#[test]
fn late_messages_are_dropped_and_counted() {
    let (fixture, slow, quick) = slow_fixture();
    let pace = Pace::Drop {
        tolerance: Duration::from_millis(30),
    };
    let player = fixture.player(&fixture.bag("bag", &lines()), paced(pace));
    play(&player);
    player.wait();
    fixture.pass(200);
    let status = player.status();
    let dropped: u64 = status.topics.iter().map(|topic| topic.dropped).sum();
    assert!(dropped > 0 && status.lost() == dropped);
    let heard = slow.numbers().len() + quick.numbers().len();
    assert_eq!(heard as u64 + dropped, 50);
    assert_eq!(status.played(), heard as u64);
}

#[test]
fn time_waits_for_acknowledgements() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    fixture.network.set_faults(
        Scope::topic(TOPIC),
        Faults {
            delay: Duration::from_millis(40),
            ..Faults::NONE
        },
    );
    let lines: Vec<_> = (0..10)
        .map(|n| BagMessage(TOPIC, 10 * n, n as u32))
        .collect();
    let bag = fixture.bag("bag", &lines);
    let player = fixture.player(&bag, paced(Pace::WaitAcked));
    play(&player);
    fixture.pass(105);
    let before = player.status().played();
    assert!((2..=3).contains(&before), "{before} of 10");
    // A pause takes effect during it, and nothing is published any more.
    player.control(Control::Pause).unwrap();
    fixture.pass(500);
    assert_eq!(player.status().played(), before);
    player.control(Control::Resume).unwrap();
    player.wait();
    fixture.pass(100);
    assert_eq!(listener.numbers(), (0..10).collect::<Vec<_>>());
    let times = listener.times();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 40));
}

fn stamped(fixture: &Fixture, type_name: &str) -> Box<dyn Publisher> {
    let spec = TopicSpec {
        name: "/done".into(),
        type_name: TypeName::parse(type_name).unwrap(),
        type_hash: None,
        qos: QosProfile::DEFAULT,
    };
    fixture.participant("worker").1.publish(&spec).unwrap()
}

/// A message with that stamp.
fn done(publisher: &dyn Publisher, type_name: &str, millis: i64) {
    let schema = Definitions::builtin().schema(type_name).unwrap();
    let mut value = schema.default_value().unwrap();
    for (name, number) in [("sec", millis / 1000), ("nanosec", millis % 1000 * MS)] {
        let path = format!("header.stamp.{name}");
        if value.get(&path).is_some() {
            let number = u32::try_from(number).unwrap();
            let set = value.set(&path, timeloom_msg::Value::Uint32(number));
            set.or_else(|_| value.set(&path, timeloom_msg::Value::Int32(number.cast_signed())))
                .unwrap();
        }
    }
    let payload = Bytes::from(schema.encode(&value).unwrap());
    publisher
        .publish(payload, PublishOptions::default())
        .unwrap();
}

fn lockstep(window: i64) -> Options {
    paced(Pace::Lockstep {
        topic: "/done".into(),
        window: Duration::from_millis(window),
    })
}

#[test]
fn time_stays_in_step_with_a_topic() {
    const POSE: &str = "geometry_msgs/msg/PoseStamped";
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<_> = (0..10)
        .map(|n| BagMessage(TOPIC, 100 * n, n as u32))
        .collect();
    let player = fixture.player(&fixture.bag("bag", &lines), lockstep(150));
    play(&player);
    fixture.pass(2000);
    assert_eq!(listener.numbers(), [0, 1], "no node acknowledged a message");
    let worker = stamped(&fixture, POSE);
    fixture.settle();
    done(&*worker, POSE, 100);
    fixture.pass(2000);
    assert_eq!(
        listener.numbers(),
        [0, 1, 2],
        "100 ms are done, 250 are not"
    );
    done(&*worker, POSE, 9000);
    fixture.pass(2000);
    assert_eq!(
        listener.numbers(),
        [0, 1, 2, 3],
        "unpublished messages cannot be done"
    );
    player.control(Control::Seek(at_ms(800))).unwrap();
    fixture.pass(2000);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 8, 9]);
    done(&*worker, POSE, 900);
    player.wait();
}

#[test]
fn a_message_without_a_stamp_acknowledges_everything() {
    const TEXT: &str = "std_msgs/msg/String";
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let worker = stamped(&fixture, TEXT);
    let lines: Vec<_> = (0..4)
        .map(|n| BagMessage(TOPIC, 100 * n, n as u32))
        .collect();
    let player = fixture.player(&fixture.bag("bag", &lines), lockstep(100));
    play(&player);
    for count in 2..=4 {
        fixture.pass(1000);
        assert_eq!(listener.numbers().len(), count);
        done(&*worker, TEXT, 0);
    }
    player.wait();
}

#[test]
fn a_gap_longer_than_the_window_does_not_stop_time_in_lockstep() {
    const TEXT: &str = "std_msgs/msg/String";
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let worker = stamped(&fixture, TEXT);
    let lines: Vec<_> = (0..3)
        .map(|n| BagMessage(TOPIC, 1000 * n, n as u32))
        .collect();
    let player = fixture.player(&fixture.bag("bag", &lines), lockstep(100));
    play(&player);
    fixture.pass(5000);
    assert_eq!(listener.numbers(), [0], "the first one is not answered");
    for count in 2..=3 {
        done(&*worker, TEXT, 0);
        fixture.pass(5000);
        assert_eq!(listener.numbers().len(), count);
    }
    player.wait();
}
