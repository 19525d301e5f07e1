//! The first and the last messages reach the subscriptions that are there.

use timeloom_msg::QosProfile;
use timeloom_msg::qos::Reliability;
use timeloom_node::player::{Notice, Options, SettleWait, State};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Connection, Faults, Scope};

use super::clock::{every, listen};
use super::theatre::{Line, TOPIC, Theatre, play};

fn settling() -> Options {
    Options {
        settle: Some(SettleWait::NETWORK),
        ..Options::default()
    }
}

const LINES: [Line; 3] = [Line(TOPIC, 0, 1), Line(TOPIC, 10, 2), Line(TOPIC, 20, 3)];

#[test]
fn subscriptions_that_are_found_late_get_the_first_message() {
    for (found, all) in [(100, true), (400, true), (1_200, true), (5_000, false)] {
        let theatre = Theatre::new();
        let player = theatre.player(&theatre.bag("bag", &LINES), settling());
        play(&player);
        theatre.pass(found);
        let audience = theatre.audience(TOPIC);
        player.wait();
        theatre.settle();
        let heard = audience.numbers();
        assert_eq!(
            heard.len(),
            if all { 3 } else { 0 },
            "found after {found} ms"
        );
        assert_eq!(theatre.notices(), []);
    }
}

#[test]
fn a_node_that_is_found_late_has_its_time_before_the_first_message() {
    let theatre = Theatre::new();
    let options = Options {
        // So slow that only the samples before the start can be in time.
        clock: every(60_000),
        ..settling()
    };
    let player = theatre.player(&theatre.bag("bag", &LINES), options);
    play(&player);
    theatre.pass(500);
    let (log, _subscription) = listen(&theatre);
    let audience = theatre.audience(TOPIC);
    theatre.pass(150);
    assert_eq!(player.status().state, State::WaitingForSubscribers);
    let early = log.times();
    assert!(early.len() >= 5, "{early:?}");
    assert!(early.iter().all(|time| *time == 0), "the start: {early:?}");
    assert!(audience.numbers().is_empty());
    player.wait();
    theatre.settle();
    assert_eq!(audience.numbers(), [1, 2, 3]);
}

#[test]
fn each_new_subscription_is_waited_for_until_the_graph_is_quiet() {
    let theatre = Theatre::new();
    let player = theatre.player(&theatre.bag("bag", &LINES), settling());
    play(&player);
    let mut audiences = Vec::new();
    for _ in 0..5 {
        theatre.pass(150);
        assert_eq!(player.status().state, State::WaitingForSubscribers);
        audiences.push(theatre.audience(TOPIC));
    }
    player.wait();
    theatre.settle();
    for audience in audiences {
        assert_eq!(audience.numbers(), [1, 2, 3]);
    }
}

#[test]
fn playing_begins_without_a_subscription_that_is_never_connected() {
    let theatre = Theatre::new();
    let dead = theatre.audience(TOPIC);
    theatre.network.kill("audience");
    let player = theatre.player(&theatre.bag("bag", &LINES), settling());
    let begun = theatre.clock.now();
    play(&player);
    player.wait();
    assert_eq!(
        theatre.clock.now() - begun,
        SettleWait::NETWORK.most + Duration::from_millis(20),
        "the longest wait, and the bag"
    );
    assert_eq!(player.status().played(), 3);
    assert!(dead.numbers().is_empty());
    let notice = Notice::NotConnected {
        name: TOPIC.into(),
        nodes: vec!["/audience".into()],
    };
    assert_eq!(theatre.notices(), [notice]);
}

#[test]
fn a_second_run_does_not_wait_again() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let player = theatre.player(&theatre.bag("bag", &LINES), settling());
    play(&player);
    player.wait();
    theatre.settle();
    audience.clear();
    let begun = theatre.clock.now();
    play(&player);
    player.wait();
    assert_eq!(theatre.clock.now() - begun, Duration::from_millis(20));
    theatre.settle();
    assert_eq!(audience.numbers(), [1, 2, 3]);
}

#[test]
fn a_subscription_that_asks_for_more_is_named_once_whenever_it_comes() {
    let theatre = Theatre::new();
    let weak = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let options = Options {
        qos_overrides: [(TOPIC.to_owned(), weak)].into(),
        ..Options::default()
    };
    let lines = [Line(TOPIC, 0, 1), Line(TOPIC, 100, 2)];
    let player = theatre.player(&theatre.bag("bag", &lines), options);
    play(&player);
    theatre.pass(50);
    assert_eq!(theatre.notices(), []);
    let strict = theatre.audience(TOPIC);
    player.wait();
    theatre.settle();
    assert!(strict.numbers().is_empty());
    let notices = theatre.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let text = notices[0].to_string();
    assert!(
        text.starts_with("/topic1 does not reach /audience: the publisher is best effort"),
        "{text}"
    );
}

#[test]
fn the_end_waits_a_second_for_acknowledgements_and_names_what_is_missing() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let player = theatre.player(&theatre.bag("bag", &LINES), Options::default());
    theatre.network.set_faults(
        Scope::everywhere(),
        Faults {
            connection: Connection::Down,
            ..Faults::NONE
        },
    );
    let begun = theatre.clock.now();
    play(&player);
    theatre.pass(500);
    theatre
        .network
        .set_faults(Scope::everywhere(), Faults::NONE);
    player.wait();
    theatre.settle();
    assert!(theatre.clock.now() - begun < Duration::from_secs(1));
    assert_eq!(audience.numbers(), [1, 2, 3]);
    assert_eq!(theatre.notices(), []);
    theatre.network.set_faults(
        Scope::everywhere(),
        Faults {
            connection: Connection::Down,
            ..Faults::NONE
        },
    );
    play(&player);
    player.wait();
    let topics = vec![TOPIC.to_owned()];
    assert_eq!(theatre.notices(), [Notice::EndedUnacknowledged { topics }]);
}
