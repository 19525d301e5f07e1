use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_time::Duration;

use super::super::board::add;
use super::super::clock_publisher::{CLOCK_TOPIC, ClockPublisher, Ticker};
use super::super::control::{Answer, Refusal};
use super::super::source::Position;
use super::super::status::State;
use super::{Playback, Stage};

/// More is a mistake.
const MOST_HERTZ: f64 = 10_000.0;

impl Playback {
    /// The next message is one of the next lap.
    pub(super) fn next_lap(&mut self, lap: u64) {
        let Some(run) = &self.state.run else { return };
        let unlimited = run.burst.as_ref().is_some_and(|burst| burst.left.is_none());
        if unlimited {
            // All of it was played.
            self.finish_burst();
            return;
        }
        if run.burst.is_none() {
            if self.state.paused {
                self.rest();
                return;
            }
            // A part ends at its end, the whole with its last message.
            if let Some(end) = run.loop_range.map(|part| run.due(part.end)) {
                self.hold(end);
                if !self.reach(end) {
                    return;
                }
            }
        }
        self.turn(lap);
    }

    fn turn(&mut self, lap: u64) {
        let Some(run) = &mut self.state.run else {
            return;
        };
        let back = run.turn(lap);
        let start = run.due(run.lap_range().start);
        let plan = run.plan(Position::at(run.lap_range().start), true);
        self.board.offset.store(run.offset, Ordering::SeqCst);
        add(&self.board.laps, 1);
        self.jumps.set_plan(Some(plan));
        if back {
            self.moved_to(start);
            self.jump_along(start);
            self.board.forget_rate();
            self.tell_time();
        }
    }

    /// `/clock` tells of every change at once.
    pub(super) fn tell_time(&self) {
        if let (Some(publisher), Some(_)) = (&self.clock_publisher, &self.state.ticker) {
            publisher.publish();
        }
    }

    /// Publishes `/clock` more or less often, or not at all.
    pub(super) fn set_clock_frequency(&mut self, hertz: f64) -> Result<Answer, Refusal> {
        let refused = Refusal::ClockFrequency { hertz };
        let period = if hertz.is_nan() || hertz > MOST_HERTZ {
            return Err(refused);
        } else if hertz <= 0.0 {
            None
        } else {
            Some(Duration::try_from_hertz(hertz).map_err(|_reason| refused)?)
        };
        if self.is_external() {
            let action = "publish /clock";
            return Err(timeloom_time::ControlRefused { action }.into());
        }
        if period.is_some() && self.outlets.iter().any(|outlet| outlet.name == CLOCK_TOPIC) {
            return Err(Refusal::ClockIsPlayed);
        }
        if self.clock_publisher.is_none() && period.is_some() {
            let publisher = ClockPublisher::new(&self.node, &self.clock, None);
            self.clock_publisher = Some(Arc::new(publisher.map_err(|_reason| refused)?));
        }
        self.options.clock.period = period;
        self.state.ticker = None;
        if self.state.stage == Stage::Playing {
            self.start_ticker();
        }
        Ok(Answer::Done)
    }

    /// Begins to publish `/clock`, if it is wanted.
    pub(super) fn start_ticker(&mut self) {
        if let (Some(publisher), Some(period)) = (&self.clock_publisher, self.options.clock.period)
        {
            // Without a thread there is no /clock; the player itself still plays.
            self.state.ticker = Ticker::start(publisher, period).ok();
        }
    }

    /// All messages are out.
    pub(super) fn finish(&mut self) {
        self.board.set_state(State::Finishing);
        // Whoever follows /clock gets as far as this player got.
        self.tell_time();
        self.finish_requests();
        self.wait_for_acks();
        self.end(State::Ended);
    }

    /// Ends the run.
    pub(super) fn end(&mut self, state: State) {
        self.finish_burst();
        self.refuse_deferred();
        if self.state.stage != Stage::Idle {
            self.state.ticker = None;
            self.state.unacknowledged = None;
            self.release();
            // Time stands until the next run; a follower's is not ours to stop.
            if !self.is_external() {
                let _paused = self.clock.pause();
            }
            self.jumps.set_plan(None);
            self.read_ahead.invalidate();
            self.state.run = None;
            self.state.stage = Stage::Idle;
            self.board.next_due.store(i64::MAX, Ordering::Relaxed);
            self.board.set_state(state);
        }
        self.ended.set();
    }
}
