//! A player that follows `/clock` is a passive consumer of time.

use timeloom_msg::{Distro, Value};
use timeloom_node::player::{
    ClockOwner, ClockOwnerOptions, ClockPublishing, ClockSteps, ClockTrigger, Control, Mark,
    Notice, Options, PlayRange, Player, Refusal, Repeat, Reporter, Services, SettleWait, State,
    TimeSituation,
};
use timeloom_time::{Duration, PlaybackRate};

use super::clock::{Driver, every, listen};
use super::services::Peer;
use super::theatre::{Line, TOPIC, Theatre, at_ms, play};

const EXTERNAL: TimeSituation = TimeSituation::External { extrapolate: false };

fn external() -> Options {
    Options {
        time: EXTERNAL,
        ..Options::default()
    }
}

/// Messages each 100 ms, the first at one second.
fn lines(count: u32) -> Vec<Line> {
    (0..count)
        .map(|n| Line(TOPIC, 1000 + 100 * i64::from(n), n))
        .collect()
}

fn follower(theatre: &Theatre, count: u32, options: Options) -> Player {
    let player = theatre.player(&theatre.bag("bag", &lines(count)), options);
    play(&player);
    player
}

#[test]
fn a_follower_publishes_no_clock_whatever_the_options_and_the_bag_say() {
    let theatre = Theatre::new();
    let (log, _subscription) = listen(&theatre);
    let driver = Driver::new(&theatre, "gazebo");
    let mut lines = lines(5);
    lines.push(Line("/clock", 1050, 9));
    let player = theatre.player(
        &theatre.bag("bag", &lines),
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
        theatre.pass(50);
    }
    player.wait();
    theatre.settle();
    assert_eq!(
        log.times(),
        [1000, 1200, 1400],
        "the driver's samples alone"
    );
    assert_eq!(player.status().played(), 5);
}

#[test]
fn every_control_of_time_is_refused_at_once() {
    let theatre = Theatre::new();
    let node = theatre.ros_node("rosbag2_player");
    let player = theatre.player_on(&node, &[&theatre.bag("bag", &lines(50))], external());
    play(&player);
    let _services = Services::start(&node, player.handle().clone(), Distro::Jazzy).unwrap();
    let peer = Peer::new(&theatre, &node, Distro::Jazzy);
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
    // Before the clock is there and after.
    for control in &all {
        refused(control.clone());
    }
    assert!(!peer.seek(1500) && !peer.set_rate(2.0));
    let driver = Driver::new(&theatre, "gazebo");
    driver.run(&theatre, 1000, 1250, 10);
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
fn messages_of_large_steps_are_skipped_when_the_user_says_so() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(
        &theatre,
        500,
        Options {
            clock_steps: ClockSteps::SkipBeyond(Duration::from_secs(5)),
            ..external()
        },
    );
    driver.run(&theatre, 1000, 1200, 100);
    driver.tick(6_200);
    theatre.pass(10);
    assert_eq!(
        audience.numbers(),
        (0..=52).collect::<Vec<_>>(),
        "5 s are few"
    );
    audience.clear();
    driver.tick(16_250);
    theatre.pass(10);
    driver.tick(16_300);
    theatre.pass(10);
    assert_eq!(audience.numbers(), [153]);
    let status = player.status();
    assert_eq!((status.lost(), status.topics[0].stepped_over), (100, 100));
    let told = theatre.notices();
    let skipped = Notice::MessagesSkipped {
        messages: 100,
        step_ns: (6_200_000_000, 16_250_000_000),
    };
    assert_eq!(told, [skipped]);
    assert_eq!(
        told[0].to_string(),
        "/clock stepped from 6.200 s to 16.250 s: 100 messages skipped"
    );
}

#[test]
fn a_follower_whose_owner_stays_away_ends_and_counts_what_it_did_not_play() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 20, external());
    driver.run(&theatre, 1000, 1430, 10);
    drop(driver);
    player.wait();
    theatre.settle();
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 4]);
    let status = player.status();
    assert_eq!((status.state, status.lost()), (State::Ended, 15));
    let told: Vec<String> = theatre.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        told.last().unwrap(),
        "the publisher of /clock is gone, its last time was 1.430 s: 15 messages not played; with --loop the player \
         waits for another one"
    );
}

#[test]
fn a_follower_that_loops_waits_for_another_owner() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let options = Options {
        repeat: Repeat::JumpBack,
        ..external()
    };
    let player = follower(&theatre, 20, options);
    driver.run(&theatre, 1000, 1430, 10);
    drop(driver);
    theatre.pass(120_000);
    assert_eq!(player.status().state, State::Paused);
    let driver = Driver::new(&theatre, "second");
    driver.run(&theatre, 1440, 1600, 10);
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(player.status().lost(), 0);
}

#[test]
fn an_owner_that_is_silent_but_there_is_waited_for() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 20, external());
    driver.run(&theatre, 1000, 1430, 10);
    theatre.pass(120_000);
    driver.run(&theatre, 1440, 3000, 10);
    player.wait();
    theatre.settle();
    assert_eq!(audience.numbers(), (0..20).collect::<Vec<_>>());
    assert_eq!(player.status().lost(), 0);
}

#[test]
fn a_paused_owner_makes_a_paused_follower() {
    let theatre = Theatre::new();
    let node = theatre.ros_node("rosbag2_player");
    let player = theatre.player_on(&node, &[&theatre.bag("bag", &lines(200))], external());
    play(&player);
    let _services = Services::start(&node, player.handle().clone(), Distro::Jazzy).unwrap();
    let peer = Peer::new(&theatre, &node, Distro::Jazzy);
    let options = ClockOwnerOptions {
        start: at_ms(1000),
        rate: PlaybackRate::REAL_TIME,
        period: Duration::from_millis(25),
        start_paused: false,
    };
    let owner_node = theatre.ros_node("clock");
    let owner =
        ClockOwner::start(&owner_node, &options, Distro::Jazzy, Reporter::default()).unwrap();
    theatre.pass(2000);
    assert!(!player.is_paused() && !peer.is_paused());
    assert_eq!(player.status().state, State::Playing);
    assert!((peer.rate() - 1.0).abs() < 0.01, "{}", peer.rate());
    owner.control(&Control::Pause).unwrap();
    theatre.pass(3000);
    assert!(player.is_paused() && peer.is_paused());
    assert_eq!(player.status().state, State::Paused);
    owner.control(&Control::Resume).unwrap();
    theatre.pass(500);
    assert!(!player.is_paused());
    assert_eq!(player.status().state, State::Playing);
}

#[test]
fn a_clock_past_the_end_is_told_of_as_it_is() {
    let theatre = Theatre::new();
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 3, external());
    driver.tick(9000);
    player.wait();
    let told: Vec<String> = theatre.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "/clock shows 9.000 s, after the end of the bag at 1.200 s: no message is left to play; with --loop the \
             player waits for /clock to go back"
        ]
    );
    assert_eq!(player.status().played(), 0);
}

#[test]
fn what_came_due_while_subscriptions_were_waited_for_is_played() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(
        &theatre,
        20,
        Options {
            settle: Some(SettleWait::NETWORK),
            repeat: Repeat::JumpBack,
            ..external()
        },
    );
    // One lap up to 1.3 s and back, all before the player is ready.
    driver.run(&theatre, 1000, 1300, 100);
    driver.run(&theatre, 1000, 1100, 100);
    assert_eq!(audience.numbers(), [0; 0]);
    theatre.pass(4000);
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 0, 1]);
    drop(player);
}

#[test]
fn the_owner_sends_the_start_and_the_end_of_every_lap_exactly() {
    let theatre = Theatre::new();
    let (log, _subscription) = listen(&theatre);
    let player = theatre.player(
        &theatre.bag("bag", &lines(3)),
        Options {
            clock: every(30),
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    theatre.pass(450);
    player.control(Control::Stop).unwrap();
    theatre.settle();
    let times = log.times();
    assert_eq!(times[..3], [1000, 1030, 1060]);
    let ends: Vec<_> = times.windows(2).filter(|pair| pair[1] < pair[0]).collect();
    assert_eq!(ends, [[1200, 1000], [1200, 1000]]);
    assert_eq!(times.last(), Some(&1050), "a stop is told, too");
}

#[test]
fn a_loop_over_one_message_does_not_flood() {
    for repeat in [Repeat::JumpBack, Repeat::Monotonic] {
        let theatre = Theatre::new();
        let audience = theatre.audience(TOPIC);
        let player = theatre.player(
            &theatre.bag("bag", &lines(1)),
            Options {
                repeat,
                ..Options::default()
            },
        );
        play(&player);
        theatre.pass(3500);
        assert_eq!(audience.numbers(), [0; 4], "{repeat:?}: one a second");
        player.control(Control::Stop).unwrap();
    }
}

#[test]
fn a_part_without_messages_is_not_repeated() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let player = theatre.player(
        &theatre.bag("bag", &lines(10)),
        Options {
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    theatre.pass(110);
    let nothing = Control::SetLoop(Some((at_ms(1110), at_ms(1150))));
    let refused = player.control(nothing);
    assert!(
        matches!(refused, Err(Refusal::LoopWithoutMessages { .. })),
        "{refused:?}"
    );
    assert_eq!(player.control(Control::Mark(Mark::A)).map(drop), Ok(()));
    theatre.pass(40);
    assert!(
        player.control(Control::Mark(Mark::B)).is_err(),
        "nothing in between"
    );
    theatre.pass(1000);
    let heard = audience.numbers();
    assert_eq!(heard[..10], (0..10).collect::<Vec<_>>()[..], "it played on");
    assert_eq!(heard[10..12], [2, 3], "from A on, which holds");
}

#[test]
fn a_part_to_repeat_before_the_start_is_refused() {
    let theatre = Theatre::new();
    let bag = theatre.bag("bag", &lines(100));
    for part in [(1000, 2000), (2010, 2090)] {
        let player = theatre.player(
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
fn a_time_of_this_lap_of_a_monotonic_loop_can_be_gone_to() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let player = theatre.player(
        &theatre.bag("bag", &lines(20)),
        Options {
            repeat: Repeat::Monotonic,
            ..Options::default()
        },
    );
    play(&player);
    // The second lap begins at 2.9 s: message 16 of it is at 4.5 s.
    theatre.pass(3510);
    assert_eq!(audience.numbers().last(), Some(&16));
    audience.clear();
    let second = Duration::from_secs(1);
    let now = player.clock().now();
    player
        .control(Control::Seek(now.saturating_sub(second)))
        .unwrap();
    theatre.settle();
    theatre.pass(100);
    assert_eq!(audience.numbers(), [7], "as far back as /clock says");
    // A time of the bag is one still.
    audience.clear();
    player.control(Control::Seek(at_ms(1500))).unwrap();
    theatre.pass(10);
    assert_eq!(audience.numbers(), [5]);
}

#[test]
fn a_clock_beyond_2038_is_told_of_once() {
    let theatre = Theatre::new();
    let (log, _subscription) = listen(&theatre);
    let player = theatre.player(
        &theatre.bag(
            "bag",
            &[
                Line(TOPIC, 2_147_483_646_900, 0),
                Line(TOPIC, 2_147_483_649_000, 1),
            ],
        ),
        Options {
            clock: every(100),
            ..Options::default()
        },
    );
    play(&player);
    player.wait();
    theatre.settle();
    assert_eq!(log.times().last(), Some(&2_147_483_647_999));
    let told: Vec<String> = theatre.notices().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("/clock stays at 2147483647.999999999 s:"),
        "{told:?}"
    );
}

#[test]
fn the_topics_without_subscriptions_are_named() {
    let theatre = Theatre::new();
    let _audience = theatre.audience(TOPIC);
    let bag = theatre.bag(
        "bag",
        &[Line(TOPIC, 0, 0), Line("/a", 1, 1), Line("/b", 2, 2)],
    );
    let waiting = |waited_for: timeloom_node::player::Selection| {
        let options = Options {
            wait_for_subscribers: 1,
            waited_for,
            ..Options::default()
        };
        let player = theatre.player(&bag, options);
        play(&player);
        theatre.settle();
        player.status().state
    };
    let all = timeloom_node::player::Selection::default();
    assert_eq!(waiting(all), State::WaitingForSubscribers);
    let told: Vec<String> = theatre.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["waiting for subscriptions of /a (0 of 1), /b (0 of 1)"]
    );
    let one = timeloom_node::player::Selection::new(|topic| topic.name == TOPIC);
    assert_ne!(waiting(one), State::WaitingForSubscribers);
}
