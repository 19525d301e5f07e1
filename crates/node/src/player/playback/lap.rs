use std::sync::atomic::Ordering;

use timeloom_time::Duration;

use super::super::clock_publisher::{CLOCK_TOPIC, period_of};
use super::super::control::{Answer, Refusal};
use super::super::live_status::add;
use super::super::options::{ClockTrigger, Repeat};
use super::super::source::Position;
use super::super::status::State;
use super::{Playback, RunPhase};

/// The longest period of `/clock` before playing begins.
const WAITING_PERIOD: Duration = Duration::from_millis(25);

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
            // A range ends at its end, the whole bag with its last message.
            if let Some(end) = run.loop_range.map(|part| run.due(part.end)) {
                self.hold(end);
                if !self.reach(end) {
                    return;
                }
            }
            if self.is_too_early() {
                return;
            }
        }
        if !self.was_suspended() {
            self.turn(lap);
        }
    }

    /// Keeps a very short loop from flooding: waits, and returns true, while the lap is too short.
    fn is_too_early(&self) -> bool {
        let Some(run) = &self.state.run else {
            return false;
        };
        let earliest = self.state.lap_began.saturating_add(run.least_lap());
        let early = self.steady.now() < earliest;
        if early {
            self.rest_until(earliest);
        }
        early
    }

    fn turn(&mut self, lap: u64) {
        let run = self.state.run.as_ref();
        let jumps_back = run.is_some_and(|run| run.repeat != Repeat::Monotonic);
        // The old lap ends before anything is changed for the new one.
        let flow = jumps_back.then(|| self.leave());
        let Some(run) = &mut self.state.run else {
            return;
        };
        run.turn(lap);
        let start = run.due(run.lap_range().start);
        let plan = run.plan(Position::at(run.lap_range().start), true);
        self.live.offset.store(run.offset, Ordering::SeqCst);
        add(&self.live.laps, 1);
        self.restart.set_plan(Some(plan));
        self.state.lap_began = self.steady.now();
        if let Some(flow) = flow {
            self.clock_output.announce_jump(start);
            self.moved_to(start);
            self.jump_along(start);
            self.arrive(flow);
            self.live.forget_rate();
        }
    }

    /// Changes the frequency of `/clock`.
    pub(super) fn set_clock_frequency(&mut self, hertz: f64) -> Result<Answer, Refusal> {
        let period = period_of(hertz)?;
        if period.is_some() && self.outputs.iter().any(|output| output.name == CLOCK_TOPIC) {
            return Err(Refusal::ClockIsPlayed);
        }
        let changed = self.clock_output.set_period(period);
        changed.map_err(|_reason| Refusal::ClockFrequency { hertz })?;
        self.show_frequency();
        match self.state.phase {
            RunPhase::Playing => self.start_clock(),
            RunPhase::Idle => {}
            _ => self.start_clock_early(),
        }
        Ok(Answer::Done)
    }

    /// Publishes `/clock` from now on, if it is wanted.
    pub(super) fn start_clock(&mut self) {
        self.show_frequency();
        // Without a thread there is no /clock, and messages are still played.
        let _started = self.clock_output.start();
    }

    /// Publishes the start on `/clock` while the player waits for subscriptions: a node that has just discovered this
    /// player has its time before the first message. `/clock` is best effort, and one sample may be too early for it.
    pub(super) fn start_clock_early(&mut self) {
        let period = self.clock_output.period();
        if period.is_some() || self.options.clock.before != ClockTrigger::None {
            let period = period.unwrap_or(WAITING_PERIOD).min(WAITING_PERIOD);
            let _started = self.clock_output.start_every(Some(period));
        }
    }

    fn show_frequency(&self) {
        let hertz = self.clock_output.frequency();
        let frequency = &self.live.clock_frequency;
        frequency.store(hertz.to_bits(), Ordering::SeqCst);
    }

    /// All messages are published.
    pub(super) fn finish(&mut self) {
        self.live.set_state(State::Finishing);
        self.report_last_clocks();
        // Followers reach the same time as this player.
        self.publish_time();
        self.finish_requests();
        self.wait_for_acks();
        self.end(State::Ended);
    }

    /// Ends the run, and the waits for its end.
    pub(super) fn end(&mut self, state: State) {
        self.end_run(state);
        self.ended.set();
    }

    /// Ends the run, but not the waits for its end.
    pub(super) fn end_run(&mut self, state: State) {
        self.finish_burst();
        self.refuse_deferred();
        if self.state.phase != RunPhase::Idle {
            if state == State::Stopped {
                // Followers reach the same time as this player.
                self.leave();
                self.report_unnamed_clocks();
            }
            self.clock_output.stop();
            self.pacing.acknowledged();
            self.state.recovering = false;
            // Time is stopped until the next run; an external clock cannot be stopped.
            if let Some(following) = &mut self.following {
                following.end();
            } else {
                let _paused = self.clock.pause();
                let _free = self.clock.set_ceiling(None);
            }
            self.restart.set_plan(None);
            self.feed.invalidate();
            self.state.run = None;
            self.state.phase = RunPhase::Idle;
            self.live.next_due.store(i64::MAX, Ordering::Relaxed);
            self.live.set_state(state);
        }
    }
}
