//! `test_burst.cpp` of rosbag2.

use timeloom_node::player::{Answer, Control, Options, Refusal, Repeat, Selection};

use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, paused, play};

const TEN: i64 = 10;

fn lines() -> Vec<BagMessage> {
    (1..=TEN)
        .map(|n| BagMessage(TOPIC, 1000 + 100 * n, n as u32))
        .collect()
}

#[test]
fn burst_with_false_preconditions() {
    let fixture = Fixture::new();
    let player = fixture.player(&fixture.bag("bag", &lines()), Options::default());
    assert_eq!(player.control(Control::Burst(3)), Err(Refusal::NotPlaying));
    play(&player);
    assert_eq!(player.control(Control::Burst(3)), Err(Refusal::NotPaused));
}

#[test]
fn burst_bursts_requested_messages_without_delays() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &lines()), paused());
    play(&player);
    assert_eq!(player.control(Control::Burst(4)), Ok(Answer::Played(4)));
    assert_eq!(player.clock().now(), at_ms(1400));
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 3, 4]);
    assert_eq!(listener.millis(), [0; 4]);
}

#[test]
fn burst_stops_at_end_of_file() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &lines()), paused());
    play(&player);
    assert_eq!(player.control(Control::Burst(11)), Ok(Answer::Played(10)));
    assert_eq!(player.control(Control::Burst(1)), Ok(Answer::Played(0)));
    assert_eq!(player.clock().now(), at_ms(2000));
    fixture.settle();
    assert_eq!(listener.numbers().len(), 10);
}

#[test]
fn burst_of_nothing_is_all() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &lines()),
        Options {
            repeat: Repeat::JumpBack,
            ..paused()
        },
    );
    play(&player);
    assert_eq!(player.control(Control::Burst(0)), Ok(Answer::Played(10)));
    assert_eq!(player.control(Control::Burst(2)), Ok(Answer::Played(2)));
    fixture.settle();
    assert_eq!(listener.numbers()[9..], [10, 1, 2], "a loop goes round");
}

#[test]
fn burst_of_messages_with_the_same_timestamp() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<_> = (1..=300).map(|n| BagMessage(TOPIC, 1000, n)).collect();
    let player = fixture.player(&fixture.bag("bag", &lines), paused());
    play(&player);
    assert_eq!(player.control(Control::Burst(100)), Ok(Answer::Played(100)));
    assert_eq!(player.control(Control::Burst(0)), Ok(Answer::Played(200)));
    fixture.settle();
    assert_eq!(listener.numbers(), (1..=300).collect::<Vec<_>>());
}

#[test]
fn play_respect_messages_timing_after_burst() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &lines()), paused());
    play(&player);
    assert_eq!(player.control(Control::Burst(8)), Ok(Answer::Played(8)));
    player.control(Control::Resume).unwrap();
    player.wait();
    fixture.settle();
    assert_eq!(listener.millis()[7..], [0, 100, 200]);
}

#[test]
fn burst_bursting_only_filtered_topics() {
    let fixture = Fixture::new();
    let mut lines = lines();
    lines.extend((1..=5).map(|n| BagMessage("/topic2", 1000 + 150 * i64::from(n), n)));
    let (first, second) = (fixture.listener(TOPIC), fixture.listener("/topic2"));
    let player = fixture.player(
        &fixture.bag("bag", &lines),
        Options {
            selection: Selection::new(|topic| topic.name == "/topic2"),
            ..paused()
        },
    );
    play(&player);
    assert_eq!(player.control(Control::Burst(0)), Ok(Answer::Played(5)));
    fixture.settle();
    assert_eq!((first.numbers().len(), second.numbers().len()), (0, 5));
}

#[test]
fn a_burst_ends_when_time_resumes() {
    let fixture = Fixture::new();
    let player = fixture.player(&fixture.bag("bag", &lines()), paused());
    play(&player);
    let (answers, received) = std::sync::mpsc::channel();
    // Both are in the mailbox before the burst has begun.
    player.control_then(Control::Burst(1000), move |answer| {
        answers.send(answer).unwrap();
    });
    player.control(Control::Resume).unwrap();
    player.wait();
    let Ok(Answer::Played(played)) = received.recv().unwrap() else {
        panic!("no answer")
    };
    assert!(played <= 10);
    assert_eq!(player.status().played(), 10);
}
