//! Two players in step lose nothing: the follower publishes the same as the leader, whatever is done to the leader.

use std::sync::Arc;

use proptest::prelude::*;
use timeloom_node::player::{
    ClockMode, ClockPublishing, ClockTrigger, Control, Options, Player, Repeat,
};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Connection, Faults, Scope};

use super::fixture::{BagMessage, Fixture, Listener, at_ms, play};

/// An action on the leader.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// This many milliseconds pass.
    Pass(i64),
    Pause,
    Resume,
    Rate(f64),
    /// To this part of the bag, in per cent.
    Seek(i64),
    Next,
    StepBack,
    Burst(u64),
    Frequency(f64),
    /// The follower receives nothing while the leader does this.
    Cut(i64, CutControl),
}

/// A control of the leader during a network failure.
#[derive(Clone, Copy, Debug)]
enum CutControl {
    Nothing,
    Seek(i64),
    Next,
}

const MESSAGES: u32 = 30;
/// The time between two messages.
const STEP: i64 = 37;
const START: i64 = 1000;

struct Pair {
    fixture: Fixture,
    leader: Player,
    follower: Player,
    heard: (Arc<Listener>, Arc<Listener>),
}

impl Pair {
    fn new(period: i64, repeat: Repeat, extrapolate: bool) -> Self {
        let fixture = Fixture::new();
        let heard = (fixture.listener("/first"), fixture.listener("/second"));
        let bag = |topic, name| {
            let lines: Vec<_> = (0..MESSAGES)
                .map(|n| BagMessage(topic, START + STEP * i64::from(n), n))
                .collect();
            fixture.bag(name, &lines)
        };
        let follower = fixture.player_named(
            "follower",
            &[&bag("/second", "two")],
            Options {
                time: ClockMode::External { extrapolate },
                repeat: Repeat::JumpBack,
                ..Options::default()
            },
        );
        play(&follower);
        let leader = fixture.player_named(
            "leader",
            &[&bag("/first", "one")],
            Options {
                clock: ClockPublishing {
                    period: Some(Duration::from_millis(period)),
                    before: ClockTrigger::None,
                },
                repeat,
                ..Options::default()
            },
        );
        play(&leader);
        // The first message is read.
        fixture.settle();
        Self {
            fixture,
            leader,
            follower,
            heard,
        }
    }

    fn act(&self, act: Act) {
        let control = match act {
            Act::Pass(millis) => return self.fixture.pass(millis),
            Act::Pause => Control::Pause,
            Act::Resume => Control::Resume,
            Act::Rate(rate) => Control::SetRate(rate),
            Act::Seek(percent) => {
                let length = STEP * i64::from(MESSAGES);
                // Every other time at the very time of a message.
                let late = if percent % 2 == 0 { 5 } else { 0 };
                let to = START + length * percent / 100 / STEP * STEP + late;
                Control::Seek(at_ms(to))
            }
            Act::Next => Control::PlayNext,
            Act::StepBack => Control::StepBack,
            Act::Burst(count) => Control::Burst(count),
            Act::Frequency(hertz) => Control::SetClockFrequency(hertz),
            Act::Cut(millis, control) => return self.cut(millis, control),
        };
        // A control that is not possible now is refused and changes nothing.
        let _answer = self.leader.control(control);
    }

    /// Cuts the network between leader and follower for a while.
    fn cut(&self, millis: i64, control: CutControl) {
        self.connect(Connection::Down);
        self.fixture.pass(millis);
        match control {
            CutControl::Nothing => {}
            CutControl::Seek(percent) => self.act(Act::Seek(percent)),
            CutControl::Next => self.act(Act::Next),
        }
        self.fixture.pass(millis);
        self.connect(Connection::Up);
        // The next sample of /clock comes within the longest period.
        self.fixture.pass(201);
    }

    fn connect(&self, connection: Connection) {
        let faults = Faults {
            connection,
            ..Faults::default()
        };
        let scope = Scope::between("leader", "follower");
        self.fixture.network.set_faults(scope, faults);
    }

    /// Ends the leader; returns the messages that both have published.
    fn end(self) -> (Vec<u32>, Vec<u32>) {
        let _stopped = self.leader.control(Control::Stop);
        self.fixture.pass(1000);
        drop(self.follower);
        (self.heard.0.numbers(), self.heard.1.numbers())
    }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (1..700_i64).prop_map(Act::Pass),
        1 => Just(Act::Pause),
        2 => Just(Act::Resume),
        2 => prop::sample::select(vec![0.3, 1.0, 2.0, 17.0]).prop_map(Act::Rate),
        2 => (0..100_i64).prop_map(Act::Seek),
        1 => Just(Act::Next),
        1 => Just(Act::StepBack),
        1 => (1..50_u64).prop_map(Act::Burst),
        1 => prop::sample::select(vec![5.0, 40.0, 333.0]).prop_map(Act::Frequency),
        1 => (1..700_i64, cut_control()).prop_map(|(millis, control)| Act::Cut(millis, control)),
    ]
}

fn cut_control() -> impl Strategy<Value = CutControl> {
    prop_oneof![
        Just(CutControl::Nothing),
        (0..100_i64).prop_map(CutControl::Seek),
        Just(CutControl::Next),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn leader_and_follower_publish_the_same(
        acts in prop::collection::vec(act(), 1..25),
        period in prop::sample::select(vec![3_i64, 25, 100]),
        repeat in prop::sample::select(vec![Repeat::Once, Repeat::JumpBack]),
    ) {
        let pair = Pair::new(period, repeat, false);
        for act in acts {
            // A leader that ends meanwhile is not received again.
            if repeat == Repeat::JumpBack || !matches!(act, Act::Cut(..)) {
                pair.act(act);
            }
        }
        let (first, second) = pair.end();
        prop_assert_eq!(first, second);
    }
}

#[test]
fn the_first_and_the_last_message_of_every_lap_are_published() {
    for extrapolate in [false, true] {
        let pair = Pair::new(25, Repeat::JumpBack, extrapolate);
        pair.fixture.pass(5000);
        let (first, second) = pair.end();
        assert!(first.len() > 4 * MESSAGES as usize, "{}", first.len());
        assert_eq!(first, second, "extrapolation: {extrapolate}");
        let mut expected = (0..MESSAGES).cycle();
        assert!(first.iter().all(|number| Some(*number) == expected.next()));
    }
}

#[test]
fn a_jump_back_during_a_network_failure_loses_nothing() {
    let pair = Pair::new(25, Repeat::JumpBack, false);
    pair.fixture.pass(1000);
    // The lap ends 147 ms after this, and another one 1073 ms later.
    pair.cut(650, CutControl::Nothing);
    pair.cut(100, CutControl::Seek(11));
    pair.fixture.pass(1000);
    let (first, second) = pair.end();
    assert!(first.len() > 2 * MESSAGES as usize, "{}", first.len());
    assert_eq!(first, second);
}

#[test]
fn a_message_at_the_time_of_a_paused_leader_is_published_by_none_or_both() {
    for next in [false, true] {
        let pair = Pair::new(25, Repeat::Once, false);
        pair.act(Act::Pause);
        // Message 10.
        pair.act(Act::Seek(35));
        pair.fixture.pass(500);
        let heard = |pair: &Pair| (pair.heard.0.numbers(), pair.heard.1.numbers());
        assert_eq!(heard(&pair), (vec![0], vec![0]));
        if next {
            pair.act(Act::Next);
            pair.fixture.pass(500);
            assert_eq!(heard(&pair), (vec![0, 10], vec![0, 10]));
        }
        let (first, second) = pair.end();
        assert_eq!(first, second);
    }
}

#[test]
fn a_seek_to_the_time_that_the_leader_shows_repeats_no_message() {
    // Behind the last message, and at the time of message 26 while paused.
    let behind = [
        Act::Seek(44),
        Act::Resume,
        Act::Next,
        Act::Seek(98),
        Act::Seek(98),
        Act::Resume,
    ];
    let paused = [Act::Pause, Act::Seek(87), Act::Seek(87)];
    for acts in [behind.as_slice(), paused.as_slice()] {
        for _ in 0..20 {
            let pair = Pair::new(3, Repeat::Once, false);
            for act in acts {
                pair.act(*act);
            }
            let (first, second) = pair.end();
            assert_eq!(first, second, "{acts:?}");
        }
    }
}
