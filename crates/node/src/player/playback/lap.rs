use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_time::Duration;

use super::super::board::add;
use super::super::clock_publisher::{CLOCK_TOPIC, ClockPublisher, Ticker, hertz_of, period_of};
use super::super::control::{Answer, Refusal};
use super::super::options::Repeat;
use super::super::source::Position;
use super::super::status::State;
use super::{Leader, Playback, Stage};

/// How often `/clock` is published before playing begins, at least.
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
            // A part ends at its end, the whole with its last message.
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
        if !self.was_stopped() {
            self.turn(lap);
        }
    }

    /// Keeps a loop over next to nothing from flooding: waits, and says true, while the lap is too short.
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
        self.board.offset.store(run.offset, Ordering::SeqCst);
        add(&self.board.laps, 1);
        self.jumps.set_plan(Some(plan));
        self.state.lap_began = self.steady.now();
        if let Some(flow) = flow {
            self.announce_jump(start);
            self.moved_to(start);
            self.jump_along(start);
            self.arrive(flow);
            self.board.forget_rate();
        }
    }

    /// Publishes `/clock` more or less often, or not at all.
    pub(super) fn set_clock_frequency(&mut self, hertz: f64) -> Result<Answer, Refusal> {
        let period = period_of(hertz)?;
        if period.is_some() && self.outlets.iter().any(|outlet| outlet.name == CLOCK_TOPIC) {
            return Err(Refusal::ClockIsPlayed);
        }
        self.state.ticker = None;
        if let Some(period) = period
            && !self
                .clock_publisher
                .as_ref()
                .is_some_and(|known| known.keeps_deadline(period))
        {
            let qos = self.options.qos_overrides.get(CLOCK_TOPIC).copied();
            // Two publishers at a time would be two owners.
            self.clock_publisher = None;
            let made =
                ClockPublisher::new(&self.node, &self.clock, qos, Some(period), &self.reporter);
            let made = made.map_err(|_reason| Refusal::ClockFrequency { hertz })?;
            self.clock_publisher = Some(Arc::new(made));
        }
        self.options.clock.period = period;
        self.show_frequency();
        match self.state.stage {
            Stage::Playing => self.start_ticker(),
            Stage::Idle => {}
            _ => self.start_waiting_ticker(),
        }
        Ok(Answer::Done)
    }

    /// Begins to publish `/clock`, if it is wanted.
    pub(super) fn start_ticker(&mut self) {
        self.show_frequency();
        self.state.ticker = None;
        if let (Some(publisher), Some(period)) = (&self.clock_publisher, self.options.clock.period)
        {
            // Without a thread there is no /clock; the player itself still plays.
            self.state.ticker = Ticker::start(publisher, period).ok();
        }
    }

    /// Publishes the start on `/clock` while subscriptions are waited for: a node that has just found this player has
    /// its time before the first message comes. `/clock` is best effort, and one sample may come too early for it.
    pub(super) fn start_waiting_ticker(&mut self) {
        if let Some(publisher) = self
            .clock_publisher
            .as_ref()
            .filter(|_| self.options.clock.is_on())
        {
            let period = self.options.clock.period.unwrap_or(WAITING_PERIOD);
            self.state.ticker = Ticker::start(publisher, period.min(WAITING_PERIOD)).ok();
        }
    }

    fn show_frequency(&self) {
        let hertz = hertz_of(self.options.clock.period);
        let frequency = &self.board.clock_frequency;
        frequency.store(hertz.to_bits(), Ordering::SeqCst);
    }

    /// All messages are out.
    pub(super) fn finish(&mut self) {
        self.board.set_state(State::Finishing);
        self.report_last_clocks();
        // Whoever follows /clock gets as far as this player got.
        self.tell_time();
        self.finish_requests();
        self.wait_for_acks();
        self.end(State::Ended);
    }

    /// Ends the run, and the waits for its end.
    pub(super) fn end(&mut self, state: State) {
        self.end_run(state);
        self.ended.set();
    }

    /// Ends the run; whoever waits for its end is not told yet.
    pub(super) fn end_run(&mut self, state: State) {
        self.finish_burst();
        self.refuse_deferred();
        if self.state.stage != Stage::Idle {
            if state == State::Stopped {
                // Whoever follows /clock gets as far as this player got.
                self.leave();
                self.report_unnamed_clocks();
            }
            self.state.ticker = None;
            self.state.unacknowledged = None;
            self.state.recovering = false;
            self.state.leader = Leader::Present;
            // Time stands until the next run; a follower's is not ours to stop.
            if let Some(following) = &self.following {
                following.jumps.end();
            } else {
                let _paused = self.clock.pause();
                let _free = self.clock.set_ceiling(None);
            }
            self.jumps.set_plan(None);
            self.read_ahead.invalidate();
            self.state.run = None;
            self.state.stage = Stage::Idle;
            self.board.next_due.store(i64::MAX, Ordering::Relaxed);
            self.board.set_state(state);
        }
    }
}
