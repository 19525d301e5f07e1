//! `test_play_publish_clock.cpp` of rosbag2, and external clocks, which upstream does not have.

use std::sync::{Arc, Mutex};

use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::player::{
    Answer, ClockMode, ClockPublishing, ClockTrigger, Control, Notice, Options, Player, Refusal,
    Repeat, State, decode_clock, encode_clock, sane_rate,
};
use timeloom_time::{Clock, Duration, JumpHandler, JumpThreshold, Ros, Steady, Time};
use timeloom_wire::{Node, PublishOptions, Publisher, Receiver, Sample, Subscription, TopicSpec};

use super::fixture::{BagMessage, Fixture, MS, TOPIC, at_ms, next, paused, play, seek};

/// The samples on `/clock`: arrival and time, both in milliseconds.
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

pub(super) fn listen(fixture: &Fixture) -> (Arc<ClockLog>, Box<dyn Subscription>) {
    let log = Arc::new(ClockLog {
        seen: Mutex::default(),
        clock: fixture.clock.clone(),
    });
    let (_, node) = fixture.participant("listener");
    let mut spec = clock_spec();
    // The end of a lap and the start of the next one are sent at the same moment.
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

fn lines(count: u32, step: i64) -> Vec<BagMessage> {
    (0..count)
        .map(|n| BagMessage(TOPIC, 1000 + step * i64::from(n), n))
        .collect()
}

#[test]
fn clock_is_published_at_the_chosen_frequency() {
    for (rate, step) in [(1.0, 50), (0.5, 25), (4.0, 200)] {
        let fixture = Fixture::new();
        let (log, _subscription) = listen(&fixture);
        let player = fixture.player(
            &fixture.bag("bag", &lines(10, 100)),
            Options {
                clock: every(50),
                rate: sane_rate(rate).unwrap(),
                ..Options::default()
            },
        );
        play(&player);
        player.wait();
        fixture.settle();
        // The last one is sent with the end, whenever that is.
        log.seen.lock().unwrap().pop();
        assert!(log.periods().iter().all(|period| *period == 50));
        let times = log.times();
        assert!(times.len() > 3);
        let steps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|one| *one == step), "{rate}: {steps:?}");
    }
}

#[test]
fn clock_is_published_while_paused_and_at_every_change() {
    let fixture = Fixture::new();
    let (log, _subscription) = listen(&fixture);
    let player = fixture.player(
        &fixture.bag("bag", &lines(10, 100)),
        Options {
            clock: every(50),
            ..paused()
        },
    );
    play(&player);
    fixture.pass(210);
    assert_eq!(log.times(), [1000; 5]);
    assert!(next(&player) && next(&player));
    fixture.settle();
    seek(&player, at_ms(1730)).unwrap();
    fixture.settle();
    assert_eq!(log.times().last(), Some(&1730));
    player.control(Control::Stop).unwrap();
    fixture.settle();
    let count = log.times().len();
    fixture.pass(1000);
    assert_eq!(
        log.times().len(),
        count,
        "a player that has ended is not a clock"
    );
}

#[test]
fn the_frequency_of_the_clock_can_be_changed() {
    let fixture = Fixture::new();
    let (log, _subscription) = listen(&fixture);
    let player = fixture.player(&fixture.bag("bag", &lines(30, 100)), paused());
    play(&player);
    fixture.pass(500);
    assert_eq!(log.times().len(), 0, "it is off");
    let set = |hertz: f64| player.control(Control::SetClockFrequency(hertz));
    assert_eq!(set(20.0), Ok(Answer::Done));
    fixture.pass(499);
    assert_eq!(log.times().len(), 10, "at once, and while paused");
    assert_eq!(set(0.0), Ok(Answer::Done));
    fixture.pass(500);
    assert_eq!(log.times().len(), 10);
    for hertz in [f64::NAN, f64::INFINITY, 1e9] {
        assert!(matches!(set(hertz), Err(Refusal::ClockFrequency { .. })));
    }
    let own = fixture.player(
        &fixture.bag("own", &[BagMessage("/clock", 10, 1)]),
        paused(),
    );
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
        let fixture = Fixture::new();
        let (log, _subscription) = listen(&fixture);
        let mut lines = lines(3, 100);
        lines.push(BagMessage("/other", 1250, 9));
        // A recorded clock would be a second one.
        lines.push(BagMessage("/clock", 1010, 10));
        let player = fixture.player(
            &fixture.bag("bag", &lines),
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
        fixture.settle();
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

/// The clock of another node.
pub(super) struct Driver {
    publisher: Box<dyn Publisher>,
    _node: Arc<dyn Node>,
}

impl Driver {
    pub(super) fn new(fixture: &Fixture, name: &str) -> Self {
        let (_, node) = fixture.participant(name);
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
    pub(super) fn run(&self, fixture: &Fixture, from: i64, to: i64, step: i64) {
        let mut time = from;
        while time <= to {
            self.tick(time);
            fixture.pass(10);
            time += step;
        }
    }
}

fn follower(fixture: &Fixture, count: u32, extrapolate: bool) -> Player {
    let player = fixture.player(
        &fixture.bag("bag", &lines(count, 4)),
        Options {
            time: ClockMode::External { extrapolate },
            ..Options::default()
        },
    );
    play(&player);
    player
}

#[test]
fn an_external_clock_drives_the_player() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 11, false);
    fixture.pass(100);
    assert_eq!(player.status().state, State::WaitingForClock);
    driver.tick(990);
    fixture.pass(5000);
    assert_eq!(listener.numbers(), [0; 0], "its time has not come");
    // Messages between two samples are published at once with the second.
    driver.tick(1005);
    fixture.pass(1);
    assert_eq!(listener.numbers(), [0, 1]);
    driver.tick(1020);
    fixture.pass(1);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4, 5]);
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
    fixture.settle();
    assert_eq!(listener.numbers(), (0..11).collect::<Vec<_>>());
    assert_eq!(player.status().state, State::Ended);
}

#[test]
fn a_source_that_jumps_takes_the_player_along() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 5000, false);
    driver.run(&fixture, 1000, 1020, 10);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4, 5]);
    // Back: messages are played again.
    listener.clear();
    driver.run(&fixture, 1010, 1020, 10);
    assert_eq!(listener.numbers(), [3, 4, 5]);
    // Far ahead: all messages in between are due.
    listener.clear();
    driver.run(&fixture, 11_000, 11_010, 10);
    assert_eq!(listener.numbers(), (6..=2502).collect::<Vec<_>>());
    drop(player);
}

#[test]
fn a_source_that_stops_or_ends_stops_the_player_and_is_reported() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 100, false);
    fixture.pass(3000);
    let silent = |notice: &Notice| matches!(notice, Notice::ClockSilent { .. });
    assert_eq!(fixture.notices().iter().filter(|n| silent(n)).count(), 1);
    driver.run(&fixture, 1000, 1020, 10);
    drop(driver);
    fixture.pass(20_000);
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(fixture.notices().iter().filter(|n| silent(n)).count(), 2);
    // Another one takes over.
    let driver = Driver::new(&fixture, "second");
    driver.run(&fixture, 1030, 1040, 10);
    assert_eq!(listener.numbers(), (0..=10).collect::<Vec<_>>());
    drop(player);
}

#[test]
fn extrapolation_is_wrong_by_one_sample_period_at_most() {
    let fixture = Fixture::new();
    let listener = fixture.listener(TOPIC);
    let driver = Driver::new(&fixture, "gazebo");
    let player = follower(&fixture, 400, true);
    // 10 Hz, while messages are 4 ms apart; the rate doubles, halves, then time stops.
    let period = 100;
    let mut truth: Vec<(i64, i64)> = Vec::new();
    let mut time = 1000;
    for rate in [1, 1, 1, 1, 2, 2, 2, 1, 1, 0, 0, 1, 1, 1] {
        truth.push((fixture.clock.now().nanos() / MS, time));
        driver.tick(time);
        fixture.pass(period);
        time += rate * period;
    }
    let heard: Vec<_> = listener
        .numbers()
        .into_iter()
        .zip(listener.times())
        .collect();
    let mut between = 0;
    for (number, at) in &heard {
        let stamp = 1000 + 4 * i64::from(*number);
        // The source's time at that moment is between its sample before and the one after.
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
    let numbers = listener.numbers();
    assert!(
        numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "none twice, none lost"
    );
    drop(player);
}

#[test]
fn two_players_stay_in_step() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.listener("/first"), fixture.listener("/second"));
    let bag = |topic, name| {
        let lines: Vec<_> = (0..20)
            .map(|n| BagMessage(topic, 1000 + 50 * i64::from(n), n))
            .collect();
        fixture.bag(name, &lines)
    };
    let (bag1, bag2) = (bag("/first", "one"), bag("/second", "two"));
    let follower = fixture.player_named(
        "follower",
        &[&bag2],
        Options {
            time: ClockMode::External { extrapolate: false },
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    play(&follower);
    let leader = fixture.player_named(
        "leader",
        &[&bag1],
        Options {
            clock: every(10),
            ..Options::default()
        },
    );
    play(&leader);
    fixture.pass(225);
    leader.control(Control::Pause).unwrap();
    fixture.pass(3000);
    assert_eq!(first.numbers(), second.numbers());
    assert_eq!(first.numbers().len(), 5);
    leader.control(Control::SetRate(2.0)).unwrap();
    leader.control(Control::Resume).unwrap();
    fixture.pass(100);
    seek(&leader, at_ms(1000)).unwrap();
    leader.wait();
    fixture.settle();
    let apart = |n: usize| (first.times()[n] - second.times()[n]).abs();
    assert_eq!(first.numbers(), second.numbers());
    assert!(
        (0..first.numbers().len()).all(|n| apart(n) <= 11),
        "one tick apart at most"
    );
    drop(follower);
}

#[test]
fn two_publishers_are_reported_by_name() {
    let fixture = Fixture::new();
    let _driver = Driver::new(&fixture, "gazebo");
    let player = fixture.player(
        &fixture.bag("bag", &lines(3, 100)),
        Options {
            clock: every(10),
            ..Options::default()
        },
    );
    fixture.settle();
    let nodes = vec!["/gazebo".to_owned(), "/rosbag2_player".to_owned()];
    let mut notices = fixture.notices();
    for notice in &mut notices {
        if let Notice::ManyClocks { nodes } = notice {
            nodes.sort();
        }
    }
    assert_eq!(notices, [Notice::ManyClocks { nodes }]);
    drop(player);
}

#[test]
fn jump_handlers_are_called_for_seeks_loops_and_steps() {
    let fixture = Fixture::new();
    let heard: Arc<Mutex<Vec<(i64, i64)>>> = Arc::default();
    let player = fixture.player(
        &fixture.bag("bag", &lines(3, 100)),
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
    fixture.pass(50);
    assert_eq!(seek(&player, at_ms(1150)), Ok(Answer::At(at_ms(1150))));
    fixture.pass(60);
    player.control(Control::Pause).unwrap();
    assert!(next(&player));
    assert_eq!(
        heard.lock().unwrap()[..],
        [(1050, 1150), (1200, 1000), (1010, 1100)]
    );
}
