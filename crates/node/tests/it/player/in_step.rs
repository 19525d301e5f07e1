//! Two players in step lose nothing: the follower publishes what the leader publishes, whatever is done to the leader.

use std::sync::Arc;

use proptest::prelude::*;
use timeloom_node::player::{
    ClockPublishing, ClockTrigger, Control, Options, Player, Repeat, TimeSituation,
};
use timeloom_time::Duration;

use super::theatre::{Audience, Line, Theatre, at_ms, play};

/// What is done to the leader.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// So many milliseconds pass.
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
}

const MESSAGES: u32 = 30;
/// The time between two messages.
const STEP: i64 = 37;
const START: i64 = 1000;

struct Pair {
    theatre: Theatre,
    leader: Player,
    follower: Player,
    heard: (Arc<Audience>, Arc<Audience>),
}

impl Pair {
    fn new(period: i64, repeat: Repeat, extrapolate: bool) -> Self {
        let theatre = Theatre::new();
        let heard = (theatre.audience("/first"), theatre.audience("/second"));
        let bag = |topic, name| {
            let lines: Vec<_> = (0..MESSAGES)
                .map(|n| Line(topic, START + STEP * i64::from(n), n))
                .collect();
            theatre.bag(name, &lines)
        };
        let follower = theatre.player_named(
            "follower",
            &[&bag("/second", "two")],
            Options {
                time: TimeSituation::External { extrapolate },
                repeat: Repeat::JumpBack,
                ..Options::default()
            },
        );
        play(&follower);
        let leader = theatre.player_named(
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
        theatre.settle();
        Self {
            theatre,
            leader,
            follower,
            heard,
        }
    }

    fn act(&self, act: Act) {
        let control = match act {
            Act::Pass(millis) => return self.theatre.pass(millis),
            Act::Pause => Control::Pause,
            Act::Resume => Control::Resume,
            Act::Rate(rate) => Control::SetRate(rate),
            Act::Seek(percent) => {
                let length = STEP * i64::from(MESSAGES);
                // Sometimes at the very time of a message; a paused leader publishes that one later, or never, and for
                // the follower its time has come.
                let late = if percent % 2 == 0 || self.leader.is_paused() {
                    5
                } else {
                    0
                };
                let to = START + length * percent / 100 / STEP * STEP + late;
                Control::Seek(at_ms(to))
            }
            Act::Next => Control::PlayNext,
            Act::StepBack => Control::StepBack,
            Act::Burst(count) => Control::Burst(count),
            Act::Frequency(hertz) => Control::SetClockFrequency(hertz),
        };
        // What is not possible now is refused; it changes nothing.
        let _answer = self.leader.control(control);
    }

    /// Ends the leader; what both have published.
    fn end(self) -> (Vec<u32>, Vec<u32>) {
        let _stopped = self.leader.control(Control::Stop);
        self.theatre.pass(1000);
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
            pair.act(act);
        }
        let (first, second) = pair.end();
        prop_assert_eq!(first, second);
    }
}

#[test]
fn the_first_and_the_last_message_of_every_lap_are_there() {
    for extrapolate in [false, true] {
        let pair = Pair::new(25, Repeat::JumpBack, extrapolate);
        pair.theatre.pass(5000);
        let (first, second) = pair.end();
        assert!(first.len() > 4 * MESSAGES as usize, "{}", first.len());
        assert_eq!(first, second, "extrapolation: {extrapolate}");
        let mut expected = (0..MESSAGES).cycle();
        assert!(first.iter().all(|number| Some(*number) == expected.next()));
    }
}
