//! `test_play_publish_clock.cpp` of rosbag2, and what upstream never had: external clocks.

use std::sync::{Arc, Mutex};

use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::player::{
    Answer, ClockPublishing, ClockTrigger, Control, Notice, Options, Player, Refusal, Repeat,
    State, TimeSituation, decode_clock, encode_clock, sane_rate,
};
use timeloom_time::{Clock, Duration, JumpHandler, JumpThreshold, Ros, Steady, Time};
use timeloom_wire::{Node, PublishOptions, Publisher, Receiver, Sample, Subscription, TopicSpec};

use super::theatre::{Line, MS, TOPIC, Theatre, at_ms, next, paused, play, seek};

/// What came on `/clock`: when, and which time, both in milliseconds.
pub(super) struct ClockLog {
    seen: Mutex<Vec<(i64, i64)>>,
    clock: Clock<Steady>,
}

impl Receiver for ClockLog {
    fn sample(&self, sample: Sample) {
        let time = decode_clock(&sample.payload).unwrap().nanos() / MS;
        let entry = (self.clock.now().nanos() / MS, time);
        self.seen.lock().unwrap().push(entry);
    }
}

impl ClockLog {
    pub(super) fn times(&self) -> Vec<i64> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|(_, time)| *time).collect()
    }

    /// The distances of the samples, in steady milliseconds.
    fn periods(&self) -> Vec<i64> {
        let seen = self.seen.lock().unwrap();
        seen.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
    }
}

fn clock_spec() -> TopicSpec {
    TopicSpec {
        name: "/clock".into(),
        type_name: TypeName::parse("rosgraph_msgs/msg/Clock").unwrap(),
        type_hash: None,
        qos: QosProfile::CLOCK,
    }
}

pub(super) fn listen(theatre: &Theatre) -> (Arc<ClockLog>, Box<dyn Subscription>) {
    let log = Arc::new(ClockLog {
        seen: Mutex::default(),
        clock: theatre.clock.clone(),
    });
    let (_, node) = theatre.participant("listener");
    let mut spec = clock_spec();
    // The end of a lap and the start of the next one come at the same moment.
    spec.qos.depth = 100;
    let subscription = node.subscribe(&spec, Arc::clone(&log) as _).unwrap();
    (log, subscription)
}

pub(super) fn every(millis: i64) -> ClockPublishing {
    ClockPublishing {
        period: Some(Duration::from_millis(millis)),
        before: ClockTrigger::None,
    }
}

fn lines(count: u32, step: i64) -> Vec<Line> {
    (0..count)
        .map(|n| Line(TOPIC, 1000 + step * i64::from(n), n))
        .collect()
}

#[test]
fn clock_is_published_at_the_chosen_frequency() {
    for (rate, step) in [(1.0, 50), (0.5, 25), (4.0, 200)] {
        let theatre = Theatre::new();
        let (log, _subscription) = listen(&theatre);
        let player = theatre.player(
            &theatre.bag("bag", &lines(10, 100)),
            Options {
                clock: every(50),
                rate: sane_rate(rate).unwrap(),
                ..Options::default()
            },
        );
        play(&player);
        player.wait();
        theatre.settle();
        // The last one comes with the end, whenever that is.
        log.seen.lock().unwrap().pop();
        assert!(log.periods().iter().all(|period| *period == 50));
        let times = log.times();
        assert!(times.len() > 3);
        let steps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|one| *one == step), "{rate}: {steps:?}");
    }
}

#[test]
fn clock_goes_on_while_paused_and_tells_every_change_at_once() {
    let theatre = Theatre::new();
    let (log, _subscription) = listen(&theatre);
    let player = theatre.player(
        &theatre.bag("bag", &lines(10, 100)),
        Options {
            clock: every(50),
            ..paused()
        },
    );
    play(&player);
    theatre.pass(210);
    assert_eq!(log.times(), [1000; 5]);
    assert!(next(&player) && next(&player));
    theatre.settle();
    seek(&player, at_ms(1730)).unwrap();
    theatre.settle();
    assert_eq!(log.times().last(), Some(&1730));
    player.control(Control::Stop).unwrap();
    theatre.settle();
    let count = log.times().len();
    theatre.pass(1000);
    assert_eq!(
        log.times().len(),
        count,
        "a player that has ended is no clock"
    );
}

#[test]
fn the_frequency_of_the_clock_can_be_changed() {
    let theatre = Theatre::new();
    let (log, _subscription) = listen(&theatre);
    let player = theatre.player(&theatre.bag("bag", &lines(30, 100)), paused());
    play(&player);
    theatre.pass(500);
    assert_eq!(log.times().len(), 0, "it is off");
    let set = |hertz: f64| player.control(Control::SetClockFrequency(hertz));
    assert_eq!(set(20.0), Ok(Answer::Done));
    theatre.pass(499);
    assert_eq!(log.times().len(), 10, "at once, and while paused");
    assert_eq!(set(0.0), Ok(Answer::Done));
    theatre.pass(500);
    assert_eq!(log.times().len(), 10);
    for hertz in [f64::NAN, f64::INFINITY, 1e9] {
        assert!(matches!(set(hertz), Err(Refusal::ClockFrequency { .. })));
    }
    let own = theatre.player(&theatre.bag("own", &[Line("/clock", 10, 1)]), paused());
    play(&own);
    assert_eq!(
        own.control(Control::SetClockFrequency(10.0)),
        Err(Refusal::ClockIsPlayed)
    );
}

#[test]
fn clock_is_published_before_the_messages_of_chosen_topics() {
    for (before, expected) in [
        (ClockTrigger::All, vec![1000, 1100, 1200, 1250]),
        (ClockTrigger::Topics(vec!["/other".into()]), vec![1250]),
        (ClockTrigger::Topics(vec!["/nobody".into()]), vec![]),
    ] {
        let theatre = Theatre::new();
        let (log, _subscription) = listen(&theatre);
        let mut lines = lines(3, 100);
        lines.push(Line("/other", 1250, 9));
        // A recorded clock would be a second one.
        lines.push(Line("/clock", 1010, 10));
        let player = theatre.player(
            &theatre.bag("bag", &lines),
            Options {
                clock: ClockPublishing {
                    period: None,
                    before,
                },
                ..Options::default()
            },
        );
        play(&player);
        player.wait();
        theatre.settle();
        assert_eq!(log.times(), expected);
        assert!(
            !player
                .status()
                .topics
                .iter()
                .any(|topic| topic.name == "/clock")
        );
    }
}

/// Somebody else's clock.
pub(super) struct Driver {
    publisher: Box<dyn Publisher>,
    _node: Arc<dyn Node>,
}

impl Driver {
    pub(super) fn new(theatre: &Theatre, name: &str) -> Self {
        let (_, node) = theatre.participant(name);
        Self {
            publisher: node.publish(&clock_spec()).unwrap(),
            _node: node,
        }
    }

    pub(super) fn tick(&self, millis: i64) {
        let payload = encode_clock(at_ms(millis));
        self.publisher
            .publish(payload, PublishOptions::default())
            .unwrap();
    }

    /// Ticks from one time to another, `step` of its time each 10 ms of steady time.
    pub(super) fn run(&self, theatre: &Theatre, from: i64, to: i64, step: i64) {
        let mut time = from;
        while time <= to {
            self.tick(time);
            theatre.pass(10);
            time += step;
        }
    }
}

fn follower(theatre: &Theatre, count: u32, extrapolate: bool) -> Player {
    let player = theatre.player(
        &theatre.bag("bag", &lines(count, 4)),
        Options {
            time: TimeSituation::External { extrapolate },
            ..Options::default()
        },
    );
    play(&player);
    player
}

#[test]
fn an_external_clock_drives_the_player() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 11, false);
    theatre.pass(100);
    assert_eq!(player.status().state, State::WaitingForClock);
    driver.tick(990);
    theatre.pass(5000);
    assert_eq!(audience.numbers(), [0; 0], "its time has not come");
    // What lies between two samples comes in one burst with the second.
    driver.tick(1005);
    theatre.pass(1);
    assert_eq!(audience.numbers(), [0, 1]);
    driver.tick(1020);
    theatre.pass(1);
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 4, 5]);
    for control in [
        Control::Pause,
        Control::Resume,
        Control::TogglePaused,
        Control::SetRate(2.0),
        Control::Seek(at_ms(1000)),
        Control::PlayNext,
        Control::StepBack,
        Control::Burst(3),
    ] {
        let refused = player.control(control.clone());
        assert!(
            matches!(refused, Err(Refusal::External(_))),
            "{control:?} {refused:?}"
        );
    }
    driver.tick(1040);
    player.wait();
    theatre.settle();
    assert_eq!(audience.numbers(), (0..11).collect::<Vec<_>>());
    assert_eq!(player.status().state, State::Ended);
}

#[test]
fn a_source_that_jumps_takes_the_player_along() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 5000, false);
    driver.run(&theatre, 1000, 1020, 10);
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 4, 5]);
    // Back: what was played is played again.
    audience.clear();
    driver.run(&theatre, 1010, 1020, 10);
    assert_eq!(audience.numbers(), [3, 4, 5]);
    // Far ahead: the time of all that lies between has come.
    audience.clear();
    driver.run(&theatre, 11_000, 11_010, 10);
    assert_eq!(audience.numbers(), (6..=2502).collect::<Vec<_>>());
    drop(player);
}

#[test]
fn a_source_that_stands_or_dies_stops_the_player_and_is_told_of() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 100, false);
    theatre.pass(3000);
    let silent = |notice: &Notice| matches!(notice, Notice::ClockSilent { .. });
    assert_eq!(theatre.notices().iter().filter(|n| silent(n)).count(), 1);
    driver.run(&theatre, 1000, 1020, 10);
    drop(driver);
    theatre.pass(20_000);
    assert_eq!(audience.numbers(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(theatre.notices().iter().filter(|n| silent(n)).count(), 2);
    // Another one takes over.
    let driver = Driver::new(&theatre, "second");
    driver.run(&theatre, 1030, 1040, 10);
    assert_eq!(audience.numbers(), (0..=10).collect::<Vec<_>>());
    drop(player);
}

#[test]
fn extrapolation_is_wrong_by_one_sample_period_at_most() {
    let theatre = Theatre::new();
    let audience = theatre.audience(TOPIC);
    let driver = Driver::new(&theatre, "gazebo");
    let player = follower(&theatre, 400, true);
    // 10 Hz, while messages come each 4 ms; the rate doubles, halves, then time stands.
    let period = 100;
    let mut truth: Vec<(i64, i64)> = Vec::new();
    let mut time = 1000;
    for rate in [1, 1, 1, 1, 2, 2, 2, 1, 1, 0, 0, 1, 1, 1] {
        truth.push((theatre.clock.now().nanos() / MS, time));
        driver.tick(time);
        theatre.pass(period);
        time += rate * period;
    }
    let heard: Vec<_> = audience
        .numbers()
        .into_iter()
        .zip(audience.times())
        .collect();
    let mut between = 0;
    for (number, at) in &heard {
        let stamp = 1000 + 4 * i64::from(*number);
        // The source's time at that moment lies between its sample before and the one after.
        let last = truth.iter().rposition(|(sent, _)| sent <= at).unwrap();
        let (sent, shown) = truth[last];
        let most = shown + 2 * (at - sent) + 1;
        assert!(
            stamp <= most.max(shown + period + 1),
            "{number} was early: {stamp} > {most}"
        );
        if last > 0 {
            let (_, before) = truth[last - 1];
            assert!(
                stamp >= before - 4,
                "{number} was late by more than one sample"
            );
        }
        between += usize::from(at - sent > 1);
    }
    assert!(
        between > heard.len() / 2,
        "messages come between the samples: {between}"
    );
    let numbers = audience.numbers();
    assert!(
        numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "none twice, none lost"
    );
    drop(player);
}

#[test]
fn two_players_go_in_step() {
    let theatre = Theatre::new();
    let (first, second) = (theatre.audience("/first"), theatre.audience("/second"));
    let bag = |topic, name| {
        let lines: Vec<_> = (0..20)
            .map(|n| Line(topic, 1000 + 50 * i64::from(n), n))
            .collect();
        theatre.bag(name, &lines)
    };
    let (bag1, bag2) = (bag("/first", "one"), bag("/second", "two"));
    let follower = theatre.player_named(
        "follower",
        &[&bag2],
        Options {
            time: TimeSituation::External { extrapolate: false },
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&follower);
    let leader = theatre.player_named(
        "leader",
        &[&bag1],
        Options {
            clock: every(10),
            ..Options::default()
        },
    );
    play(&leader);
    theatre.pass(225);
    leader.control(Control::Pause).unwrap();
    theatre.pass(3000);
    assert_eq!(first.numbers(), second.numbers());
    assert_eq!(first.numbers().len(), 5);
    leader.control(Control::SetRate(2.0)).unwrap();
    leader.control(Control::Resume).unwrap();
    theatre.pass(100);
    seek(&leader, at_ms(1000)).unwrap();
    leader.wait();
    theatre.settle();
    let apart = |n: usize| (first.times()[n] - second.times()[n]).abs();
    assert_eq!(first.numbers(), second.numbers());
    assert!(
        (0..first.numbers().len()).all(|n| apart(n) <= 11),
        "one tick apart at most"
    );
    drop(follower);
}

#[test]
fn two_clocks_are_told_by_name() {
    let theatre = Theatre::new();
    let _driver = Driver::new(&theatre, "gazebo");
    let player = theatre.player(
        &theatre.bag("bag", &lines(3, 100)),
        Options {
            clock: every(10),
            ..Options::default()
        },
    );
    theatre.settle();
    let nodes = vec!["/gazebo".to_owned(), "/rosbag2_player".to_owned()];
    let mut told = theatre.notices();
    for notice in &mut told {
        if let Notice::ManyClocks { nodes } = notice {
            nodes.sort();
        }
    }
    assert_eq!(told, [Notice::ManyClocks { nodes }]);
    drop(player);
}

#[test]
fn jump_callbacks_hear_of_seeks_loops_and_steps() {
    let theatre = Theatre::new();
    let heard: Arc<Mutex<Vec<(i64, i64)>>> = Arc::default();
    let player = theatre.player(
        &theatre.bag("bag", &lines(3, 100)),
        Options {
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&player);
    let log = Arc::clone(&heard);
    let _handle =
        player
            .clock()
            .add_jump_handler(
                JumpHandler::new("test", JumpThreshold::ANY).after(move |jump| {
                    let millis = |time: Time<Ros>| time.nanos() / MS;
                    log.lock()
                        .unwrap()
                        .push((millis(jump.old), millis(jump.new)));
                }),
            );
    theatre.pass(50);
    assert_eq!(seek(&player, at_ms(1150)), Ok(Answer::At(at_ms(1150))));
    theatre.pass(60);
    player.control(Control::Pause).unwrap();
    assert!(next(&player));
    assert_eq!(
        heard.lock().unwrap()[..],
        [(1050, 1150), (1200, 1000), (1010, 1100)]
    );
}
