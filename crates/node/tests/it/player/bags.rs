//! Kinds of bags: several, split, damaged, latched, with unusual topics.

use std::fs;
use std::sync::Arc;

use timeloom_bag::{StorageId, TopicInfo};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, QosDuration, QosSpelling, Reliability, profiles_to_yaml};
use timeloom_node::player::{
    AckWait, Answer, Control, MessageOrder, Notice, Options, PlayRange, PlayStart, ReadAheadLimits,
    Repeat, Selection, State,
};
use timeloom_time::{Duration, System, Time};
use timeloom_wire::loopback::{Connection, Faults, Scope};

use super::fixture::{BagMessage, Fixture, LATCHED, TOPIC, at_ms, next, paused, play, seek};

fn latched_topic(publishers: usize) -> impl Fn(&str) -> TopicInfo {
    move |name| {
        let mut topic = TopicInfo::new(name, super::fixture::STRING);
        if name == "/latched" {
            let profiles = vec![LATCHED; publishers];
            let one = QosProfile {
                depth: 1,
                ..profiles[0]
            };
            topic.offered_qos_profiles =
                profiles_to_yaml(&vec![one; publishers], QosSpelling::Names);
        }
        topic
    }
}

#[test]
fn several_bags_are_played_as_one_and_equal_stamps_keep_their_order() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let first = fixture.bag(
        "a",
        &[
            BagMessage(TOPIC, 10, 1),
            BagMessage(TOPIC, 30, 4),
            BagMessage(TOPIC, 30, 5),
        ],
    );
    let second = fixture.bag_in(
        "b",
        StorageId::Sqlite3,
        &[
            BagMessage(TOPIC, 20, 2),
            BagMessage(TOPIC, 20, 3),
            BagMessage(TOPIC, 30, 6),
            BagMessage(TOPIC, 40, 7),
        ],
    );
    let player = fixture.player_named("p", &[&first, &second], Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(listener.millis(), [0, 10, 10, 20, 20, 20, 30]);
}

#[test]
fn the_smallest_read_ahead_plays_everything() {
    for messages in [1, 2, 3] {
        let fixture = Fixture::new();
        let listener = fixture.listener(TOPIC);
        let lines: Vec<_> = (0..50)
            .map(|n| BagMessage(TOPIC, i64::from(n), n))
            .collect();
        let player = fixture.player(
            &fixture.bag("bag", &lines),
            Options {
                read_ahead: ReadAheadLimits {
                    messages,
                    bytes: 1,
                    time: None,
                },
                ..Options::default()
            },
        );
        play(&player);
        fixture.pass(20);
        assert!(player.status().read_ahead_messages <= 2);
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), (0..50).collect::<Vec<_>>());
    }
}

#[test]
fn latched_topics_have_their_state_after_an_offset_and_a_seek() {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let fixture = Fixture::new();
        let listener = fixture.listener_with("/latched", LATCHED);
        let lines = [
            BagMessage("/latched", 0, 1),
            BagMessage("/latched", 10, 2),
            BagMessage(TOPIC, 100, 10),
            BagMessage("/latched", 200, 3),
            BagMessage(TOPIC, 300, 11),
            BagMessage("/latched", 400, 4),
            BagMessage(TOPIC, 500, 12),
        ];
        let bag = fixture.bag_with("bag", storage, &lines, latched_topic(2));
        let player = fixture.player(
            &bag,
            Options {
                range: PlayRange {
                    start: Some(PlayStart::Offset(Duration::from_millis(100))),
                    ..PlayRange::default()
                },
                ..paused()
            },
        );
        play(&player);
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2], "what two publishers had kept");
        assert!(next(&player) && next(&player) && next(&player) && next(&player));
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 3, 4]);
        seek(&player, at_ms(450)).unwrap();
        fixture.settle();
        assert_eq!(
            listener.numbers(),
            [1, 2, 3, 4],
            "all subscriptions have it"
        );
        seek(&player, at_ms(300)).unwrap();
        fixture.settle();
        assert_eq!(listener.numbers()[4..], [2, 3]);
        let late = fixture.listener_with("/latched", LATCHED);
        fixture.settle();
        assert_eq!(
            late.numbers().last(),
            Some(&3),
            "late joiners get the state of now"
        );
    }
}

#[test]
fn the_qos_is_that_of_the_recording_unless_overridden() {
    let fixture = Fixture::new();
    let deadline = QosDuration { sec: 9, nsec: 0 };
    let topic = move |name: &str| {
        let profile = QosProfile {
            durability: Durability::TransientLocal,
            deadline,
            ..QosProfile::DEFAULT
        };
        TopicInfo {
            offered_qos_profiles: profiles_to_yaml(&[profile], QosSpelling::Names),
            ..TopicInfo::new(name, super::fixture::STRING)
        }
    };
    let bag = fixture.bag_with("bag", StorageId::Mcap, &[BagMessage(TOPIC, 1, 1)], topic);
    let strict = QosProfile {
        deadline,
        ..LATCHED
    };
    let listener = fixture.listener_with(TOPIC, strict);
    let player = fixture.player(&bag, Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1]);
    drop(player);
    let best_effort = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let player = fixture.player(
        &bag,
        Options {
            qos_overrides: [(TOPIC.to_owned(), best_effort)].into(),
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1], "it is not content with less");
}

#[test]
fn topics_that_cannot_be_played_are_reported_and_the_others_are_played() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let topic = |name: &str| match name {
        "/json" => TopicInfo {
            serialization_format: "json".into(),
            ..TopicInfo::new(name, super::fixture::STRING)
        },
        "/odd" => TopicInfo::new(name, "no type at all"),
        _ => TopicInfo::new(name, super::fixture::STRING),
    };
    let lines = [
        BagMessage("/json", 0, 0),
        BagMessage("/odd", 1, 0),
        BagMessage(TOPIC, 2, 1),
    ];
    let bag = fixture.bag_with("bag", StorageId::Mcap, &lines, topic);
    let player = fixture.player(&bag, Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1]);
    let skipped = fixture.notices();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(
        skipped
            .iter()
            .all(|notice| matches!(notice, Notice::TopicSkipped { .. }))
    );
}

#[test]
fn a_damaged_bag_plays_up_to_and_after_the_damage() {
    let fixture = Fixture::new();
    fixture.directory.unchecked();
    let listener = fixture.listener(TOPIC);
    let bag = fixture.damaged_bag("bag", 30);
    let player = fixture.player(&bag, Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    let numbers = listener.numbers();
    assert_eq!(numbers.first(), Some(&0));
    assert_eq!(numbers.last(), Some(&29), "{numbers:?}");
    assert!(numbers.len() < 30, "something was damaged");
    assert!(!player.status().damage.is_empty());
    let notices = fixture.notices();
    assert!(
        matches!(&notices[..], [Notice::Damage(_), ..]),
        "{notices:?}"
    );
}

#[test]
fn an_empty_bag_is_over_at_once() {
    let fixture = Fixture::new();
    let player = fixture.player(&fixture.bag("bag", &[]), Options::default());
    play(&player);
    player.wait();
    assert_eq!(player.status().state, State::Ended);
    let nothing = Options {
        selection: Selection::new(|_| false),
        repeat: Repeat::JumpBack,
        ..Options::default()
    };
    let player = fixture.player(&fixture.bag("other", &[BagMessage(TOPIC, 1, 1)]), nothing);
    play(&player);
    player.wait();
    assert_eq!(player.status().played(), 0);
}

#[test]
fn a_monotonic_loop_never_jumps_back() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &[BagMessage(TOPIC, 10, 1), BagMessage(TOPIC, 50, 2)]),
        Options {
            repeat: Repeat::Monotonic,
            ..Options::default()
        },
    );
    play(&player);
    let mut last = player.clock().now();
    for _ in 0..100 {
        fixture.pass(3);
        assert!(player.clock().now() >= last);
        last = player.clock().now();
    }
    assert_eq!(last, at_ms(310), "time goes on");
    assert!(player.status().time <= at_ms(50), "the bag's does not");
    assert_eq!(listener.numbers()[..6], [1, 2, 1, 2, 1, 2]);
    assert_eq!(listener.millis()[..6], [0, 40, 40, 80, 80, 120]);
    assert_eq!(seek(&player, at_ms(30)), Ok(Answer::At(at_ms(30))));
    assert_eq!(player.status().time, at_ms(30));
}

#[test]
fn a_part_is_repeated_from_a_to_b() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<_> = (0..10)
        .map(|n| BagMessage(TOPIC, 100 * i64::from(n), n))
        .collect();
    let player = fixture.player(
        &fixture.bag("bag", &lines),
        Options {
            repeat: Repeat::JumpBack,
            loop_range: Some((at_ms(250), at_ms(450))),
            range: PlayRange {
                start: Some(PlayStart::Offset(Duration::from_millis(100))),
                ..PlayRange::default()
            },
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(820);
    let heard = listener.numbers();
    assert_eq!(
        heard,
        [1, 2, 3, 4, 3, 4, 3, 4, 3],
        "the way to it is played once"
    );
    assert_eq!(
        listener.millis(),
        [0, 100, 200, 300, 400, 500, 600, 700, 800]
    );
    // The loop is ended: the rest follows, and then the whole.
    assert_eq!(player.control(Control::SetLoop(None)), Ok(Answer::Done));
    fixture.pass(700);
    assert_eq!(listener.numbers()[9..15], [4, 5, 6, 7, 8, 9]);
    let empty = player.control(Control::SetLoop(Some((at_ms(300), at_ms(200)))));
    assert!(empty.is_err());
}

#[test]
fn the_order_of_sending_is_kept_on_request() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let bag = fixture.sent_bag("bag", &[(100, 90, 2), (110, 80, 1), (120, 115, 3)]);
    let player = fixture.player(
        &bag,
        Options {
            order: MessageOrder::Sent,
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3]);
}

#[test]
fn it_waits_for_subscribers_and_for_its_start_time() {
    let fixture = Fixture::new();
    let bag = fixture.bag(
        "bag",
        &[BagMessage(TOPIC, 10, 1), BagMessage("/other", 20, 2)],
    );
    let system = timeloom_time::Clock::<System>::on(&fixture.time.base());
    let due = system.now().saturating_add(Duration::from_secs(60));
    let player = fixture.player(
        &bag,
        Options {
            wait_for_subscribers: 1,
            start_at: Some(due),
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(1000);
    assert_eq!(player.status().state, State::WaitingForSubscribers);
    let first = fixture.listener(TOPIC);
    fixture.pass(1000);
    assert_eq!(player.status().state, State::WaitingForSubscribers);
    let second = fixture.listener("/other");
    fixture.pass(1000);
    assert_eq!(player.status().state, State::WaitingForStart);
    player.wait();
    fixture.settle();
    assert_eq!((first.numbers(), second.numbers()), (vec![1], vec![2]));
    let begun: Time<System> = system.now().saturating_sub(Duration::from_millis(10));
    assert!(begun >= due && begun - due < Duration::from_millis(2));
}

#[test]
fn it_waits_for_acknowledgements() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &[BagMessage(TOPIC, 10, 1), BagMessage(TOPIC, 20, 2)]),
        Options {
            wait_for_acks: AckWait::Forever,
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2]);
    assert_eq!(fixture.notices(), []);
}

#[test]
fn missing_acknowledgements_are_reported() {
    let fixture = Fixture::new();
    let _audience = fixture.listener(TOPIC);
    let best_effort = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let player = fixture.player(
        &fixture.bag(
            "bag",
            &[BagMessage(TOPIC, 10, 1), BagMessage("/loose", 20, 2)],
        ),
        Options {
            wait_for_acks: AckWait::For(Duration::from_secs(3)),
            qos_overrides: [("/loose".to_owned(), best_effort)].into(),
            ..paused()
        },
    );
    play(&player);
    fixture.settle();
    fixture.network.set_faults(
        Scope::everywhere(),
        Faults {
            connection: Connection::Down,
            ..Faults::NONE
        },
    );
    player.control(Control::Burst(0)).unwrap();
    let before = fixture.clock.now();
    player.control(Control::Resume).unwrap();
    player.wait();
    assert_eq!(fixture.clock.now() - before, Duration::from_secs(3));
    let topics = |name: &str| vec![name.to_owned()];
    assert_eq!(
        fixture.notices(),
        [
            Notice::NoAcknowledgements {
                topics: topics("/loose")
            },
            Notice::NotAcknowledged {
                topics: topics(TOPIC)
            },
        ]
    );
}

#[test]
fn a_bag_file_that_vanishes_is_reported() {
    let fixture = Fixture::new();
    let bag = fixture.bag("bag", &[BagMessage(TOPIC, 10, 1)]);
    let other = fixture.bag("other", &[BagMessage(TOPIC, 20, 2)]);
    let player = fixture.player_named("p", &[&bag, &other], Options::default());
    fs::remove_dir_all(&other).unwrap();
    let listener = fixture.listener(TOPIC);
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1]);
    assert_eq!(player.status().damage.len(), 1);
    drop(Arc::new(player));
}
