//! A player that follows `/clock` is a passive consumer of time.

use timeloom_msg::{Distro, Value};
use timeloom_node::player::{
    ClockMode, ClockOwner, ClockOwnerOptions, ClockPublishing, ClockSteps, ClockTrigger, Control,
    Mark, Notice, Options, PlayRange, Player, Refusal, Repeat, Reporter, Services, SettleWait,
    State,
};
use timeloom_time::{Duration, PlaybackRate};

use super::clock::{Driver, every, listen};
use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, play};
use super::services::Peer;

const EXTERNAL: ClockMode = ClockMode::External { extrapolate: false };

fn external() -> Options {
    Options {
        time: EXTERNAL,
        ..Options::default()
    }
}

/// Messages each 100 ms, the first at one second.
fn lines(count: u32) -> Vec<BagMessage> {
    (0..count)
        .map(|n| BagMessage(TOPIC, 1000 + 100 * i64::from(n), n))
        .collect()
}

fn follower(fixture: &Fixture, count: u32, options: Options) -> Player {
    let player = fixture.player(&fixture.bag("bag", &lines(count)), options);
    play(&player);
    player
}

#[test]
fn a_follower_publishes_no_clock_whatever_the_options_and_the_bag() {
    let fixture = Fixture::new();
    let (log, _subscription) = listen(&fixture);
    let driver = Driver::new(&fixture, "gazebo");
    let mut lines = lines(5);
    lines.push(BagMessage("/clock", 1050, 9));
    let player = fixture.player(
        &fixture.bag("bag", &lines),
        Options {
            clock: ClockPublishing {
                period: Some(Duration::from_millis(10)),
                before: ClockTrigger::All,
            },
            ..external()
        },
    );
    play(&player);
    for millis in [1000, 1200, 1400] {
        driver.tick(millis);
        fixture.pass(50);
    }
    player.wait();
    fixture.settle();
    assert_eq!(
        log.times(),
        [1000, 1200, 1400],
        "the driver's samples alone"
    );
    assert_eq!(player.status().played(), 5);
}

#[test]
fn every_control_of_time_is_refused_at_once() {
    let fixture = Fixture::new();
    let node = fixture.ros_node("rosbag2_player");
    let player = fixture.player_on(&node, &[&fixture.bag("bag", &lines(50))], external());
    play(&player);
    let _services = Services::start(&node, player.handle().clone(), Distro::Jazzy).unwrap();
    let peer = Peer::new(&fixture, &node, Distro::Jazzy);
    let refused = |control: Control| {
        let answer = player.control(control.clone());
        assert!(
            matches!(answer, Err(Refusal::External(_))),
            "{control:?}: {answer:?}"
        );
    };
    let all = [
        Control::Pause,
        Control::Mark(Mark::A),
        Control::Mark(Mark::B),
        Control::SetLoop(Some((at_ms(1000), at_ms(2000)))),
        Control::SetLoop(None),
        Control::SeekBy(Duration::from_secs(1)),
        Control::Seek(at_ms(1000)),
        Control::SetClockFrequency(10.0),
        Control::Burst(0),
    ];
    // Before the first sample of the clock and after.
    for control in &all {
        refused(control.clone());
    }
    assert!(!peer.seek(1500) && !peer.set_rate(2.0));
    let driver = Driver::new(&fixture, "gazebo");
    driver.run(&fixture, 1000, 1250, 10);
    for control in all {
        refused(control);
    }
    assert!(!peer.seek(1500) && !peer.set_rate(2.0));
    let frequency = [("rate", Value::Float64(10.0))];
    let answer = peer.call("set_clock_publish_frequency", "SetRate", &frequency);
    assert_eq!(answer.get("success"), Some(Value::Bool(false)));
    assert_eq!(player.status().played(), 3);
    let text = player
        .control(Control::Mark(Mark::A))
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        "can't repeat a part: this clock follows an external time source; control that source instead"
    );
}

#[test]
fn messages_of_large_steps_are_skipped_on_request() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(
        &fixture,
        500,
        Options {
            clock_steps: ClockSteps::SkipBeyond(Duration::from_secs(5)),
            ..external()
        },
    );
    driver.run(&fixture, 1000, 1200, 100);
    driver.tick(6_200);
    fixture.pass(10);
    assert_eq!(
        listener.numbers(),
        (0..=52).collect::<Vec<_>>(),
        "5 s are few"
    );
    listener.clear();
    driver.tick(16_250);
    fixture.pass(10);
    driver.tick(16_300);
    fixture.pass(10);
    assert_eq!(listener.numbers(), [153]);
    let status = player.status();
    assert_eq!((status.lost(), status.topics[0].stepped_over), (100, 100));
    let notices = fixture.notices();
    let skipped = Notice::MessagesSkipped {
        messages: 100,
        step_ns: (6_200_000_000, 16_250_000_000),
    };
    assert_eq!(notices, [skipped]);
    assert_eq!(
        notices[0].to_string(),
        "/clock stepped from 6.200 s to 16.250 s: 100 messages skipped"
    );
}

#[test]
fn a_follower_without_an_owner_ends_and_counts_the_messages_not_played() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 20, external());
    driver.run(&fixture, 1000, 1430, 10);
    drop(driver);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4]);
    let status = player.status();
    assert_eq!((status.state, status.lost()), (State::Ended, 15));
    let notices: Vec<String> = fixture.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices.last().unwrap(),
        "the publisher of /clock is gone, its last time was 1.430 s: 15 messages not played; with --loop the player \
         waits for another publisher"
    );
}

#[test]
fn a_follower_that_loops_waits_for_another_owner() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let options = Options {
        repeat: Repeat::JumpBack,
        ..external()
    };
    let player = follower(&fixture, 20, options);
    driver.run(&fixture, 1000, 1430, 10);
    drop(driver);
    fixture.pass(120_000);
    assert_eq!(player.status().state, State::Paused);
    let driver = Driver::new(&fixture, "second");
    driver.run(&fixture, 1440, 1600, 10);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(player.status().lost(), 0);
}

#[test]
fn a_follower_waits_for_an_owner_that_is_silent() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 20, external());
    driver.run(&fixture, 1000, 1430, 10);
    fixture.pass(120_000);
    driver.run(&fixture, 1440, 3000, 10);
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), (0..20).collect::<Vec<_>>());
    assert_eq!(player.status().lost(), 0);
}

#[test]
fn a_paused_owner_makes_a_paused_follower() {
    let fixture = Fixture::new();
    let node = fixture.ros_node("rosbag2_player");
    let player = fixture.player_on(&node, &[&fixture.bag("bag", &lines(200))], external());
    play(&player);
    let _services = Services::start(&node, player.handle().clone(), Distro::Jazzy).unwrap();
    let peer = Peer::new(&fixture, &node, Distro::Jazzy);
    let options = ClockOwnerOptions {
        start: at_ms(1000),
        rate: PlaybackRate::REAL_TIME,
        period: Duration::from_millis(25),
        start_paused: false,
    };
    let owner_node = fixture.ros_node("clock");
    let owner =
        ClockOwner::start(&owner_node, &options, Distro::Jazzy, Reporter::default()).unwrap();
    fixture.pass(2000);
    assert!(!player.is_paused() && !peer.is_paused());
    assert_eq!(player.status().state, State::Playing);
    assert!((peer.rate() - 1.0).abs() < 0.01, "{}", peer.rate());
    owner.control(&Control::Pause).unwrap();
    fixture.pass(3000);
    assert!(player.is_paused() && peer.is_paused());
    assert_eq!(player.status().state, State::Paused);
    owner.control(&Control::Resume).unwrap();
    fixture.pass(500);
    assert!(!player.is_paused());
    assert_eq!(player.status().state, State::Playing);
}

#[test]
fn a_clock_past_the_end_is_reported() {
    let fixture = Fixture::new();
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 3, external());
    driver.tick(9000);
    player.wait();
    let notices: Vec<String> = fixture.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "/clock shows 9.000 s, after the end of the bag at 1.200 s: no message is left to play; with --loop the \
             player waits for /clock to go back"
        ]
    );
    assert_eq!(player.status().played(), 0);
}

#[test]
fn messages_due_during_the_wait_for_subscriptions_are_played() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(
        &fixture,
        20,
        Options {
            settle: Some(SettleWait::NETWORK),
            repeat: Repeat::JumpBack,
            ..external()
        },
    );
    // One lap up to 1.3 s and back, all before the player is ready.
    driver.run(&fixture, 1000, 1300, 100);
    driver.run(&fixture, 1000, 1100, 100);
    assert_eq!(listener.numbers(), [0; 0]);
    fixture.pass(4000);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 0, 1]);
    drop(player);
}

#[test]
fn the_owner_sends_the_start_and_the_end_of_every_lap_exactly() {
    let fixture = Fixture::new();
    let (log, _subscription) = listen(&fixture);
    let player = fixture.player(
        &fixture.bag("bag", &lines(3)),
        Options {
            clock: every(30),
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(450);
    player.control(Control::Stop).unwrap();
    fixture.settle();
    let times = log.times();
    assert_eq!(times[..3], [1000, 1030, 1060]);
    let ends: Vec<_> = times.windows(2).filter(|pair| pair[1] < pair[0]).collect();
    assert_eq!(ends, [[1200, 1000], [1200, 1000]]);
    assert_eq!(times.last(), Some(&1050), "a stop is published, too");
}

#[test]
fn a_loop_over_one_message_does_not_flood() {
    for repeat in [Repeat::JumpBack, Repeat::Monotonic] {
        let fixture = Fixture::new();
        let listener = fixture.listener(TOPIC);
        let player = fixture.player(
            &fixture.bag("bag", &lines(1)),
            Options {
                repeat,
                ..Options::default()
            },
        );
        play(&player);
        fixture.pass(3500);
        assert_eq!(listener.numbers(), [0; 4], "{repeat:?}: one a second");
        player.control(Control::Stop).unwrap();
    }
}

#[test]
fn a_part_without_messages_is_not_repeated() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &lines(10)),
        Options {
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(110);
    let nothing = Control::SetLoop(Some((at_ms(1110), at_ms(1150))));
    let refused = player.control(nothing);
    assert!(
        matches!(refused, Err(Refusal::LoopWithoutMessages { .. })),
        "{refused:?}"
    );
    assert_eq!(player.control(Control::Mark(Mark::A)).map(drop), Ok(()));
    fixture.pass(40);
    assert!(
        player.control(Control::Mark(Mark::B)).is_err(),
        "nothing in between"
    );
    fixture.pass(1000);
    let heard = listener.numbers();
    assert_eq!(heard[..10], (0..10).collect::<Vec<_>>()[..], "it played on");
    assert_eq!(heard[10..12], [2, 3], "from A on, which holds");
}

#[test]
fn a_part_to_repeat_before_the_start_is_refused() {
    let fixture = Fixture::new();
    let bag = fixture.bag("bag", &lines(100));
    for part in [(1000, 2000), (2010, 2090)] {
        let player = fixture.player(
            &bag,
            Options {
                range: PlayRange {
                    start: Some(timeloom_node::player::PlayStart::At(at_ms(2005))),
                    ..PlayRange::default()
                },
                repeat: Repeat::JumpBack,
                loop_range: Some((at_ms(part.0), at_ms(part.1))),
                ..Options::default()
            },
        );
        let refused = player.control(Control::Play(PlayRange::default()));
        assert!(
            matches!(
                refused,
                Err(Refusal::EmptyLoop { .. } | Refusal::LoopWithoutMessages { .. })
            ),
            "{part:?} {refused:?}"
        );
        assert!(player.wait_for(Duration::ZERO), "nothing is played");
    }
}

#[test]
fn seek_accepts_times_of_this_lap_of_a_monotonic_loop() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &fixture.bag("bag", &lines(20)),
        Options {
            repeat: Repeat::Monotonic,
            ..Options::default()
        },
    );
    play(&player);
    // The second lap begins at 2.9 s: message 16 of it is at 4.5 s.
    fixture.pass(3510);
    assert_eq!(listener.numbers().last(), Some(&16));
    listener.clear();
    let second = Duration::from_secs(1);
    let now = player.clock().now();
    player
        .control(Control::Seek(now.saturating_sub(second)))
        .unwrap();
    fixture.settle();
    fixture.pass(100);
    assert_eq!(listener.numbers(), [7], "as far back as /clock says");
    // A time of the bag is still accepted.
    listener.clear();
    player.control(Control::Seek(at_ms(1500))).unwrap();
    fixture.pass(10);
    assert_eq!(listener.numbers(), [5]);
}

#[test]
fn a_clock_beyond_2038_is_reported_once() {
    let fixture = Fixture::new();
    let (log, _subscription) = listen(&fixture);
    let player = fixture.player(
        &fixture.bag(
            "bag",
            &[
                BagMessage(TOPIC, 2_147_483_646_900, 0),
                BagMessage(TOPIC, 2_147_483_649_000, 1),
            ],
        ),
        Options {
            clock: every(100),
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    fixture.settle();
    assert_eq!(log.times().last(), Some(&2_147_483_647_999));
    let notices: Vec<String> = fixture.notices().iter().map(ToString::to_string).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].starts_with("/clock stays at 2147483647.999999999 s:"),
        "{notices:?}"
    );
}

#[test]
fn the_topics_without_subscriptions_are_named() {
    let fixture = Fixture::new();
    let _listener = fixture.listener(TOPIC);
    let bag = fixture.bag(
        "bag",
        &[
            BagMessage(TOPIC, 0, 0),
            BagMessage("/a", 1, 1),
            BagMessage("/b", 2, 2),
        ],
    );
    let waiting = |waited_for: timeloom_node::player::Selection| {
        let options = Options {
            wait_for_subscribers: 1,
            waited_for,
            ..Options::default()
        };
        let player = fixture.player(&bag, options);
        play(&player);
        fixture.settle();
        player.status().state
    };
    let all = timeloom_node::player::Selection::default();
    assert_eq!(waiting(all), State::WaitingForSubscribers);
    let notices: Vec<String> = fixture.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        ["waiting for subscriptions of /a (0 of 1), /b (0 of 1)"]
    );
    let one = timeloom_node::player::Selection::new(|topic| topic.name == TOPIC);
    assert_ne!(waiting(one), State::WaitingForSubscribers);
}
