//! `test_play_timing.cpp`, `test_play_duration.cpp`, `test_play_until.cpp`, `test_play_loop.cpp` and
//! `test_player_stop.cpp` of rosbag2.

use timeloom_node::player::{
    Answer, Control, Options, PlayRange, PlayStart, Refusal, Repeat, Selection, State, sane_rate,
};
use timeloom_time::{Duration, Time};

use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, play};

const OTHER: &str = "/topic2";

fn played(options: impl FnOnce(Options) -> Options, lines: &[BagMessage]) -> (Vec<u32>, Vec<i64>) {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", lines), options(Options::default()));
    play(&player);
    player.wait();
    fixture.settle();
    (listener.numbers(), listener.millis())
}

const TWO: [BagMessage; 2] = [BagMessage(TOPIC, 10, 1), BagMessage(TOPIC, 50, 2)];

#[test]
fn messages_keep_their_distance_at_any_rate() {
    let lines = [BagMessage(TOPIC, 1000, 1), BagMessage(TOPIC, 2000, 2)];
    for (rate, distance) in [(1.0, 1000), (2.0, 500), (0.5, 2000), (0.1, 10_000)] {
        let (_, times) = played(
            |options| Options {
                rate: sane_rate(rate).unwrap(),
                ..options
            },
            &lines,
        );
        assert_eq!(times, [0, distance], "{rate}");
    }
}

#[test]
fn a_rate_change_in_the_middle_of_a_wait_applies_at_once() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines = [BagMessage(TOPIC, 0, 1), BagMessage(TOPIC, 1000, 2)];
    let player = fixture.player(&fixture.bag("bag", &lines), Options::default());
    play(&player);
    fixture.pass(500);
    assert_eq!(
        player.control(Control::SetRate(0.25)),
        Ok(Answer::Rate(0.25))
    );
    for bad in [0.0, -1.23, f64::NAN, f64::INFINITY, 1e12] {
        assert!(player.control(Control::SetRate(bad)).is_err(), "{bad}");
    }
    assert_eq!(player.rate(), Some(0.25));
    player.wait();
    fixture.settle();
    assert_eq!(listener.millis(), [0, 2500]);
}

#[test]
fn no_message_is_published_while_paused_even_when_its_time_was_reached() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let lines: Vec<_> = (0..10)
        .map(|n| BagMessage(TOPIC, 100 * i64::from(n), n))
        .collect();
    let player = fixture.player(&fixture.bag("bag", &lines), Options::default());
    play(&player);
    fixture.pass(250);
    for _ in 0..2 {
        assert_eq!(player.control(Control::Pause), Ok(Answer::Paused(true)));
    }
    fixture.pass(10_000);
    assert_eq!(listener.numbers(), [0, 1, 2]);
    assert_eq!(player.status().state, State::Paused);
    assert_eq!(player.status().time, at_ms(250));
    for _ in 0..2 {
        assert_eq!(player.control(Control::Resume), Ok(Answer::Paused(false)));
    }
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), (0..10).collect::<Vec<_>>());
    assert_eq!(listener.millis()[2..4], [200, 10_300]);
}

#[test]
fn the_delay_passes_before_the_first_message_of_the_first_lap_only() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let begin = fixture.clock.now().nanos() / 1_000_000;
    let player = fixture.player(
        &fixture.bag("bag", &TWO),
        Options {
            delay: Duration::from_secs(5),
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(1);
    assert_eq!(player.status().state, State::WaitingForStart);
    fixture.pass(5199);
    drop(player);
    assert_eq!(listener.times()[0] - begin, 5000);
    assert_eq!(listener.millis()[..5], [0, 40, 40, 80, 80]);
}

#[test]
fn a_start_offset_skips_earlier_messages() {
    let lines: Vec<_> = (0..11)
        .map(|n| BagMessage(TOPIC, 100 * i64::from(n), n))
        .collect();
    for (offset, first) in [(500, 5), (501, 6), (0, 0), (-300, 0)] {
        let (numbers, _) = played(
            |options| Options {
                range: PlayRange {
                    start: Some(PlayStart::Offset(Duration::from_millis(offset))),
                    ..PlayRange::default()
                },
                ..options
            },
            &lines,
        );
        assert_eq!(numbers, (first..11).collect::<Vec<_>>(), "{offset}");
    }
}

const SIX: [BagMessage; 6] = [
    BagMessage(TOPIC, 100, 1),
    BagMessage(OTHER, 120, 2),
    BagMessage(TOPIC, 200, 3),
    BagMessage(OTHER, 220, 4),
    BagMessage(TOPIC, 300, 5),
    BagMessage(OTHER, 320, 6),
];

/// Number of messages of each topic that are played.
fn counts(duration: Option<i64>, until: Option<i64>, only: Option<&'static str>) -> [usize; 2] {
    let fixture = Fixture::new();
    let audiences = [TOPIC, OTHER].map(|topic| fixture.listener(topic));
    let player = fixture.player(
        &fixture.bag("bag", &SIX),
        Options {
            range: PlayRange {
                start: None,
                duration: duration.map(Duration::from_nanos),
                until: until.map(Time::from_nanos),
            },
            selection: Selection::new(move |topic| only.is_none_or(|only| topic.name == only)),
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    fixture.settle();
    audiences.map(|listener| listener.numbers().len())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "a limit that is there, as the calls read"
)]
const fn ms(millis: i64) -> Option<i64> {
    Some(millis * 1_000_000)
}

#[test]
fn the_duration_limits_the_range() {
    assert_eq!(counts(ms(350), None, None), [3, 3]);
    assert_eq!(counts(Some(0), None, None), [0, 0]);
    assert_eq!(counts(ms(39), None, None), [1, 1]);
    assert_eq!(counts(ms(170), None, Some(OTHER)), [0, 2]);
    let (numbers, _) = played(
        |options| Options {
            range: PlayRange {
                duration: Some(Duration::from_millis(39)),
                ..PlayRange::default()
            },
            ..options
        },
        &TWO,
    );
    assert_eq!(numbers, [1]);
}

#[test]
fn the_end_limits_the_range_and_is_inclusive() {
    assert_eq!(counts(None, ms(350), None), [3, 3]);
    assert_eq!(counts(None, Some(50_000_000 - 1), None), [0, 0]);
    assert_eq!(counts(None, ms(270), Some(OTHER)), [0, 2]);
    assert_eq!(
        counts(None, ms(320), None),
        [3, 3],
        "the last stamp exactly"
    );
    assert_eq!(counts(None, Some(320_000_000 - 1), None), [3, 2]);
    assert_eq!(counts(ms(50), ms(150), None), [1, 1], "the later end");
    assert_eq!(counts(ms(150), ms(50), None), [2, 2], "the later end");
}

#[test]
fn it_can_be_played_again() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &TWO), Options::default());
    for _ in 0..2 {
        play(&player);
        player.wait();
    }
    let part = PlayRange {
        start: Some(PlayStart::Offset(Duration::from_millis(20))),
        ..PlayRange::default()
    };
    player.control(Control::Play(part)).unwrap();
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [1, 2, 1, 2, 2]);
}

#[test]
fn a_loop_repeats_until_it_is_stopped() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &TWO),
        Options {
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(190);
    assert_eq!(player.status().laps, 4);
    assert_eq!(player.control(Control::Stop), Ok(Answer::Done));
    player.wait();
    let heard = listener.numbers();
    assert_eq!(heard, [1, 2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!(listener.millis(), [0, 40, 40, 80, 80, 120, 120, 160, 160]);
    fixture.pass(1000);
    assert_eq!(listener.numbers(), heard, "nothing after the stop");
    assert_eq!(player.status().state, State::Stopped);
}

#[test]
fn stop_ends_a_pause_and_a_delay_and_works_while_idle() {
    let fixture = Fixture::new();
    let bag = fixture.bag("bag", &TWO);
    let player = fixture.player(
        &bag,
        Options {
            start_paused: true,
            ..Options::default()
        },
    );
    assert_eq!(player.control(Control::Stop), Ok(Answer::Done));
    play(&player);
    player.control(Control::Stop).unwrap();
    player.wait();
    drop(player);
    let player = fixture.player(
        &bag,
        Options {
            delay: Duration::from_secs(1000),
            ..Options::default()
        },
    );
    play(&player);
    player.control(Control::Stop).unwrap();
    player.wait();
    play(&player);
    drop(player);
    let player = fixture.player(&bag, Options::default());
    let handle = player.handle().clone();
    play(&player);
    drop(player);
    assert_eq!(handle.control(Control::Pause), Err(Refusal::Ended));
    handle.wait();
}

#[test]
fn stop_while_playing_keeps_the_counts() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(&fixture.bag("bag", &TWO), Options::default());
    play(&player);
    fixture.pass(20);
    player.control(Control::Stop).unwrap();
    fixture.pass(100);
    assert_eq!(listener.numbers(), [1]);
}
