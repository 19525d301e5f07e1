//! `test_play_seek.cpp` of rosbag2, and more.

use std::path::PathBuf;

use timeloom_bag::StorageId;
use timeloom_node::player::{Answer, Control, Options, ReadAheadLimits, Refusal};
use timeloom_time::{Duration, Time};

use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, next, paused, play, seek};

/// Five messages, 100 ms apart, and a read-ahead of two.
const FIVE: [BagMessage; 5] = [
    BagMessage(TOPIC, 1000, 1),
    BagMessage(TOPIC, 1100, 2),
    BagMessage(TOPIC, 1200, 3),
    BagMessage(TOPIC, 1300, 4),
    BagMessage(TOPIC, 1400, 5),
];

fn in_both_storages(act: impl Fn(&Fixture, (PathBuf, Options))) {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let fixture = Fixture::new();
        let bag = fixture.bag_in("bag", storage, &FIVE);
        let options = Options {
            read_ahead: ReadAheadLimits {
                messages: 2,
                ..ReadAheadLimits::default()
            },
            ..paused()
        };
        act(&fixture, (bag, options));
    }
}

#[test]
fn seek_back_in_time() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        assert!(next(&player) && next(&player));
        let before = Time::from_nanos(at_ms(1000).nanos() - 1);
        assert_eq!(seek(&player, before), Ok(Answer::At(at_ms(1000))));
        assert!(next(&player) && next(&player));
        assert_eq!(seek(&player, at_ms(1000)), Ok(Answer::At(at_ms(1000))));
        assert!(next(&player) && next(&player));
        player.control(Control::Resume).unwrap();
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 1, 2, 1, 2, 3, 4, 5]);
        assert_eq!(listener.millis()[6..], [100, 200, 300]);
    });
}

#[test]
fn seek_with_timestamp_later_than_in_last_message() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        assert!(next(&player) && next(&player));
        seek(&player, at_ms(1401)).unwrap();
        assert!(!next(&player));
        player.control(Control::Resume).unwrap();
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2]);
    });
}

#[test]
fn seek_forward() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        assert!(next(&player));
        seek(&player, at_ms(1200)).unwrap();
        player.control(Control::Resume).unwrap();
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 3, 4, 5], "the exact stamp counts");
    });
}

#[test]
fn seek_back_in_time_from_the_end_of_the_bag() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        for _ in 0..5 {
            assert!(next(&player));
        }
        assert!(!next(&player));
        seek(&player, at_ms(1200)).unwrap();
        player.control(Control::Resume).unwrap();
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 3, 4, 5, 3, 4, 5]);
    });
}

#[test]
fn a_seek_to_the_current_time_plays_the_last_message_again() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        assert!(next(&player) && next(&player));
        seek(&player, player.clock().now()).unwrap();
        assert!(next(&player) && next(&player));
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 2, 3]);
    });
}

#[test]
fn seek_forward_from_the_end_of_the_bag() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        for _ in 0..5 {
            assert!(next(&player));
        }
        assert!(!next(&player));
        seek(&player, at_ms(1500)).unwrap();
        assert!(!next(&player));
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 3, 4, 5]);
    });
}

#[test]
fn a_seek_while_playing_keeps_the_pace() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(
            &bag,
            Options {
                start_paused: false,
                ..options
            },
        );
        play(&player);
        fixture.pass(150);
        seek(&player, at_ms(1050)).unwrap();
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 2, 3, 4, 5]);
        assert_eq!(listener.millis(), [0, 100, 200, 300, 400, 500]);
    });
}

#[test]
fn a_step_forward_or_back_in_time_is_a_seek() {
    in_both_storages(|fixture, (bag, options)| {
        let player = fixture.player(&bag, options);
        play(&player);
        let by = |millis| player.control(Control::SeekBy(Duration::from_millis(millis)));
        assert_eq!(by(250), Ok(Answer::At(at_ms(1250))));
        assert_eq!(by(-50), Ok(Answer::At(at_ms(1200))));
        assert_eq!(by(-900), Ok(Answer::At(at_ms(1000))));
        assert_eq!(player.status().time, at_ms(1000));
        let end = Time::from_nanos(at_ms(1400).nanos() + 1);
        assert_eq!(by(i64::MAX / 2_000_000), Ok(Answer::At(end)));
    });
}

#[test]
fn seek_is_refused_when_nothing_is_played() {
    in_both_storages(|fixture, (bag, options)| {
        let player = fixture.player(&bag, options);
        assert_eq!(seek(&player, at_ms(1200)), Err(Refusal::NotPlaying));
        play(&player);
        assert!(seek(&player, at_ms(1200)).is_ok());
        player.control(Control::Stop).unwrap();
        assert_eq!(seek(&player, at_ms(1200)), Err(Refusal::NotPlaying));
    });
}

#[test]
fn stepping_back_publishes_the_same_messages_in_reverse() {
    in_both_storages(|fixture, (bag, options)| {
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, options);
        play(&player);
        let back = || player.control(Control::StepBack);
        for _ in 0..3 {
            assert!(next(&player));
        }
        assert_eq!(back(), Ok(Answer::Played(1)));
        assert_eq!(back(), Ok(Answer::Played(1)));
        assert_eq!(back(), Ok(Answer::Played(0)), "there is no message before");
        assert!(next(&player) && next(&player) && next(&player));
        fixture.settle();
        assert_eq!(listener.numbers(), [1, 2, 3, 2, 1, 2, 3, 4]);
        seek(&player, at_ms(1300)).unwrap();
        assert_eq!(back(), Ok(Answer::Played(1)));
        assert_eq!(player.status().time, at_ms(1200));
        player.control(Control::Resume).unwrap();
        assert_eq!(back(), Err(Refusal::NotPaused));
        player.wait();
        fixture.settle();
        assert_eq!(listener.numbers()[8..], [3, 4, 5]);
    });
}

#[test]
fn stepping_back_distinguishes_equal_stamps() {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let fixture = Fixture::new();
        let lines: Vec<_> = (1..=6)
            .map(|n| BagMessage(TOPIC, (n / 4) * 10 + 100, n as u32))
            .collect();
        let bag = fixture.bag_in("bag", storage, &lines);
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(&bag, paused());
        play(&player);
        for _ in 0..6 {
            assert!(next(&player));
        }
        for _ in 0..5 {
            assert_eq!(player.control(Control::StepBack), Ok(Answer::Played(1)));
        }
        assert_eq!(player.control(Control::StepBack), Ok(Answer::Played(0)));
        for _ in 0..5 {
            assert!(next(&player));
        }
        assert!(!next(&player));
        fixture.settle();
        assert_eq!(
            listener.numbers(),
            [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6]
        );
    }
}
