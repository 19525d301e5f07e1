//! The first and the last messages reach the existing subscriptions.

use timeloom_msg::QosProfile;
use timeloom_msg::qos::Reliability;
use timeloom_node::player::{Notice, Options, SettleWait, State};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Connection, Faults, Scope};

use super::clock::{every, listen};
use super::fixture::{BagMessage, Fixture, TOPIC, play};

fn settling() -> Options {
    Options {
        settle: Some(SettleWait::NETWORK),
        ..Options::default()
    }
}

const LINES: [BagMessage; 3] = [
    BagMessage(TOPIC, 0, 1),
    BagMessage(TOPIC, 10, 2),
    BagMessage(TOPIC, 20, 3),
];

#[test]
fn subscriptions_that_are_found_late_get_the_first_message() {
    for (found, all) in [(100, true), (400, true), (1_200, true), (5_000, false)] {
        let fixture = Fixture::new();
        let player = fixture.player(&fixture.bag("bag", &LINES), settling());
        play(&player);
        fixture.pass(found);
        let listener = fixture.listener(TOPIC);
        player.wait();
        fixture.settle();
        let heard = listener.numbers();
        assert_eq!(
            heard.len(),
            if all { 3 } else { 0 },
            "found after {found} ms"
        );
        assert_eq!(fixture.notices(), []);
    }
}

#[test]
fn a_node_that_is_found_late_has_time_before_the_first_message() {
    let fixture = Fixture::new();
    let options = Options {
        // So slow that only the samples before the start can be in time.
        clock: every(60_000),
        ..settling()
    };
    let player = fixture.player(&fixture.bag("bag", &LINES), options);
    play(&player);
    fixture.pass(500);
    let (log, _subscription) = listen(&fixture);
    let listener = fixture.listener(TOPIC);
    fixture.pass(150);
    assert_eq!(player.status().state, State::WaitingForSubscribers);
    let early = log.times();
    assert!(early.len() >= 5, "{early:?}");
    assert!(early.iter().all(|time| *time == 0), "the start: {early:?}");
    assert!(listener.numbers().is_empty());
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3]);
}

#[test]
fn playing_waits_for_new_subscriptions_until_the_graph_is_quiet() {
    let fixture = Fixture::new();
    let player = fixture.player(&fixture.bag("bag", &LINES), settling());
    play(&player);
    let mut listeners = Vec::new();
    for _ in 0..5 {
        fixture.pass(150);
        assert_eq!(player.status().state, State::WaitingForSubscribers);
        listeners.push(fixture.listener(TOPIC));
    }
    player.wait();
    fixture.settle();
    for listener in listeners {
        assert_eq!(listener.numbers(), [1, 2, 3]);
    }
}

#[test]
fn playing_begins_without_a_subscription_that_is_never_connected() {
    let fixture = Fixture::new();
    let dead = fixture.listener(TOPIC);
    fixture.network.kill("listener");
    let player = fixture.player(&fixture.bag("bag", &LINES), settling());
    let begun = fixture.clock.now();
    play(&player);
    player.wait();
    assert_eq!(
        fixture.clock.now() - begun,
        SettleWait::NETWORK.most + Duration::from_millis(20),
        "the longest wait, and the bag"
    );
    assert_eq!(player.status().played(), 3);
    assert!(dead.numbers().is_empty());
    let notice = Notice::NotConnected {
        name: TOPIC.into(),
        nodes: vec!["/listener".into()],
    };
    assert_eq!(fixture.notices(), [notice]);
}

#[test]
fn a_second_run_does_not_wait_again() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &LINES), settling());
    play(&player);
    player.wait();
    fixture.settle();
    listener.clear();
    let begun = fixture.clock.now();
    play(&player);
    player.wait();
    assert_eq!(fixture.clock.now() - begun, Duration::from_millis(20));
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3]);
}

#[test]
fn an_incompatible_subscription_is_reported_once() {
    let fixture = Fixture::new();
    let weak = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let options = Options {
        qos_overrides: [(TOPIC.to_owned(), weak)].into(),
        ..Options::default()
    };
    let lines = [BagMessage(TOPIC, 0, 1), BagMessage(TOPIC, 100, 2)];
    let player = fixture.player(&fixture.bag("bag", &lines), options);
    play(&player);
    fixture.pass(50);
    assert_eq!(fixture.notices(), []);
    let strict = fixture.listener(TOPIC);
    player.wait();
    fixture.settle();
    assert!(strict.numbers().is_empty());
    let notices = fixture.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let text = notices[0].to_string();
    assert!(
        text.starts_with("/topic1 does not reach /listener: the publisher is best effort"),
        "{text}"
    );
}

#[test]
fn the_end_waits_a_second_for_acknowledgements_and_names_the_missing_ones() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &LINES), Options::default());
    fixture.network.set_faults(
        Scope::everywhere(),
        Faults {
            connection: Connection::Down,
            ..Faults::NONE
        },
    );
    let begun = fixture.clock.now();
    play(&player);
    fixture.pass(500);
    fixture
        .network
        .set_faults(Scope::everywhere(), Faults::NONE);
    player.wait();
    fixture.settle();
    assert!(fixture.clock.now() - begun < Duration::from_secs(1));
    assert_eq!(listener.numbers(), [1, 2, 3]);
    assert_eq!(fixture.notices(), []);
    fixture.network.set_faults(
        Scope::everywhere(),
        Faults {
            connection: Connection::Down,
            ..Faults::NONE
        },
    );
    play(&player);
    player.wait();
    let topics = vec![TOPIC.to_owned()];
    assert_eq!(fixture.notices(), [Notice::EndedUnacknowledged { topics }]);
}
