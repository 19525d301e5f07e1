//! `test_play_next.cpp` of rosbag2.

use timeloom_node::player::{Answer, Control, Options, PlayRange, Refusal, Selection, State};

use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, next, paused, play};

const FOUR: [BagMessage; 4] = [
    BagMessage(TOPIC, 1000, 1),
    BagMessage(TOPIC, 2200, 2),
    BagMessage(TOPIC, 3400, 3),
    BagMessage(TOPIC, 4800, 4),
];

#[test]
fn play_next_with_false_preconditions() {
    let fixture = Fixture::new();
    let player = fixture.player(&fixture.bag("bag", &FOUR), Options::default());
    assert_eq!(player.control(Control::PlayNext), Err(Refusal::NotPlaying));
    play(&player);
    assert_eq!(player.control(Control::PlayNext), Err(Refusal::NotPaused));
    assert_eq!(
        player.control(Control::Play(PlayRange::default())),
        Err(Refusal::AlreadyPlaying)
    );
}

#[test]
fn play_next_playing_all_messages_without_delays() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &FOUR), paused());
    play(&player);
    for time in [1000, 2200, 3400, 4800] {
        assert!(next(&player));
        assert_eq!(player.clock().now(), at_ms(time));
    }
    assert!(!next(&player));
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 4]);
    assert_eq!(listener.millis(), [0; 4]);
    assert_eq!(player.status().state, State::Paused);
    player.control(Control::Resume).unwrap();
    player.wait();
    assert_eq!(player.status().state, State::Ended);
}

#[test]
fn play_next_playing_one_by_one_messages_with_the_same_timestamp() {
    let fixture = Fixture::new();
    let lines: Vec<_> = (1..=4).map(|n| BagMessage(TOPIC, 1000, n)).collect();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &lines), paused());
    play(&player);
    for count in 1..=4 {
        assert!(next(&player));
        fixture.settle();
        assert_eq!(listener.numbers().len(), count, "not one more");
    }
    assert!(!next(&player));
    assert_eq!(listener.numbers(), [1, 2, 3, 4]);
}

#[test]
fn play_respect_messages_timing_after_play_next() {
    let fixture = Fixture::new();
    let lines = [
        BagMessage(TOPIC, 1000, 1),
        BagMessage(TOPIC, 1300, 2),
        BagMessage(TOPIC, 1400, 3),
        BagMessage(TOPIC, 1500, 4),
    ];
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &lines), paused());
    play(&player);
    assert!(next(&player) && next(&player));
    fixture.pass(5000);
    player.control(Control::Resume).unwrap();
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 4]);
    assert_eq!(listener.millis(), [0, 0, 5100, 5200]);
}

#[test]
fn player_can_resume_after_play_next() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &FOUR), paused());
    play(&player);
    assert!(next(&player));
    player.control(Control::Resume).unwrap();
    fixture.pass(1300);
    assert_eq!(
        player.control(Control::TogglePaused),
        Ok(Answer::Paused(true))
    );
    assert!(next(&player));
    player.control(Control::Resume).unwrap();
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 4]);
}

#[test]
fn play_next_playing_only_filtered_topics() {
    let fixture = Fixture::new();
    let lines: Vec<_> = (0..6)
        .map(|n| {
            let topic = if n % 2 == 0 { TOPIC } else { "/topic2" };
            BagMessage(topic, 500 + 100 * i64::from(n), n)
        })
        .collect();
    let (first, second) = (fixture.listener(TOPIC), fixture.listener("/topic2"));
    let player = fixture.player(
        &fixture.bag("bag", &lines),
        Options {
            selection: Selection::new(|topic| topic.name == "/topic2"),
            ..paused()
        },
    );
    play(&player);
    assert!(next(&player) && next(&player) && next(&player) && !next(&player));
    fixture.settle();
    assert_eq!(first.numbers(), [0; 0]);
    assert_eq!(second.numbers(), [1, 3, 5]);
}

#[test]
fn steps_requested_at_once_are_executed_one_after_the_other() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<_> = (1..=9)
        .map(|n| BagMessage(TOPIC, 100 * n, n as u32))
        .collect();
    let player = fixture.player(&fixture.bag("bag", &lines), paused());
    play(&player);
    let steps = [
        Control::PlayNext,
        Control::PlayNext,
        Control::PlayNext,
        Control::StepBack,
        Control::Burst(2),
    ];
    for step in steps {
        player.control_then(step, |answer| assert!(answer.is_ok(), "{answer:?}"));
    }
    assert!(next(&player));
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 2, 3, 4, 5]);
}
