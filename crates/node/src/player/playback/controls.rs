use std::sync::atomic::Ordering;

use timeloom_time::{ControlRefused, Duration, Ros, Time};

use super::super::control::{Answer, Control, Mark, Refusal};
use super::super::external_jumps::NANOSECOND;
use super::super::loader::Query;
use super::super::mailbox::{Reply, Request};
use super::super::options::MessageOrder;
use super::super::rate::sane_rate;
use super::super::run::{Burst, RunRange};
use super::super::source::Position;
use super::super::status::State;
use super::{Playback, RunPhase};

impl Playback {
    /// Executes a control, or defers it until playing begins.
    pub(super) fn execute_or_defer(&mut self, request: Request) {
        if let Some(action) = self
            .is_external()
            .then(|| change_of_time(&request.control))
            .flatten()
        {
            (request.reply)(Err(ControlRefused { action }.into()));
            return;
        }
        let moves = matches!(
            request.control,
            Control::Seek(_)
                | Control::SeekBy(_)
                | Control::PlayNext
                | Control::StepBack
                | Control::Burst(_)
                | Control::SetLoop(_)
                | Control::Mark(_)
        );
        match (moves, self.state.phase) {
            (true, RunPhase::Idle) => (request.reply)(Err(Refusal::NotPlaying)),
            (true, phase) if phase != RunPhase::Playing => self.state.deferred.push_back(request),
            // Keys may come faster than messages: steps are executed in order.
            _ if self.is_bursting()
                && (is_step(&request.control) || moves && self.is_stepping()) =>
            {
                self.state.deferred.push_back(request);
            }
            _ => self.execute(request),
        }
    }

    /// Executes the next deferred control; false if there is none, or a burst is in progress.
    pub(super) fn take_up_deferred(&mut self) -> bool {
        if self.is_bursting() {
            return false;
        }
        let next = self.state.deferred.pop_front();
        next.map(|request| self.execute(request)).is_some()
    }

    /// Whether a single message is about to be published, or controls are deferred: later ones must wait for these.
    fn is_stepping(&self) -> bool {
        let burst = self.state.run.as_ref().and_then(|run| run.burst.as_ref());
        let single = burst.is_some_and(|burst| burst.left == Some(1));
        single || !self.state.deferred.is_empty()
    }

    fn is_bursting(&self) -> bool {
        let run = self.state.run.as_ref();
        run.is_some_and(|run| run.burst.is_some())
    }

    pub(super) fn refuse_deferred(&mut self) {
        for request in std::mem::take(&mut self.state.deferred) {
            (request.reply)(Err(Refusal::NotPlaying));
        }
    }

    fn execute(&mut self, request: Request) {
        let answer = match request.control {
            Control::PlayNext => return self.begin_burst(1, request.reply),
            Control::Burst(count) => return self.begin_burst(count, request.reply),
            Control::Play(_) if self.state.phase != RunPhase::Idle => Err(Refusal::AlreadyPlaying),
            Control::Play(range) => self.begin(&range).map(|()| Answer::Done),
            Control::Pause => self.set_paused(true),
            Control::Resume => self.set_paused(false),
            Control::TogglePaused => self.set_paused(!self.state.paused),
            Control::SetRate(rate) => self.set_rate(rate),
            Control::Seek(time) => self.seek_shown(time),
            Control::SeekBy(step) => self.seek_by(step),
            Control::StepBack => self.step_back(),
            Control::SetLoop(part) => self.set_loop(part),
            Control::Mark(mark) => self.mark(mark),
            Control::SetClockFrequency(hertz) => self.set_clock_frequency(hertz),
            Control::Finish => {
                if self.state.phase != RunPhase::Idle {
                    self.finish();
                }
                Ok(Answer::Done)
            }
            Control::Stop => {
                self.end_run(State::Stopped);
                // Answered before the end is signalled: the services end with it.
                (request.reply)(Ok(Answer::Done));
                self.ended.set();
                return;
            }
        };
        (request.reply)(answer);
    }

    fn set_paused(&mut self, paused: bool) -> Result<Answer, Refusal> {
        if paused || self.state.phase != RunPhase::Playing {
            self.leave();
            self.clock.pause()?;
        } else {
            self.clock.resume()?;
            self.finish_burst();
        }
        self.state.paused = paused;
        self.live.paused.store(paused, Ordering::SeqCst);
        self.live.forget_rate();
        self.show_state();
        self.publish_time();
        Ok(Answer::Paused(paused))
    }

    fn set_rate(&mut self, rate: f64) -> Result<Answer, Refusal> {
        self.clock.set_rate(sane_rate(rate)?)?;
        self.state.rate = rate;
        self.feed.set_rate(rate);
        self.live.forget_rate();
        self.publish_time();
        Ok(Answer::Rate(rate))
    }

    /// Jumps to a time of the bag; the jump of the clock restarts the read-ahead.
    fn seek(&mut self, time: Time<Ros>) -> Result<Answer, Refusal> {
        let flow = self.leave();
        let run = self.state.run.as_mut().ok_or(Refusal::NotPlaying)?;
        let time = run.clamp(time.nanos());
        let due = run.due(time);
        run.position = Position::at(time);
        let (plan, epoch) = (run.plan(Position::at(time), true), self.feed.epoch());
        let repeats = time <= run.range.end && self.clock.now() == due;
        if repeats && self.clock_output.running().is_some() {
            // Messages at this very time are played again: followers see it by a step back. Behind the end there are
            // none, and the step would reach the last message.
            let before = due.saturating_sub(NANOSECOND);
            self.clock_output.announce_jump(before);
            self.jump_along(before);
            self.publish_time();
        }
        self.clock_output.announce_jump(due);
        self.clock.jump(due)?;
        if self.feed.epoch() == epoch {
            // The clock did not jump: it shows this time already.
            self.feed.restart(plan);
        }
        self.state.lap_began = self.steady.now();
        self.moved_to(due);
        self.arrive(flow);
        Ok(Answer::At(Time::from_nanos(time)))
    }

    /// Jumps to a time of the bag, or to one that the player's clock shows in this lap.
    fn seek_shown(&mut self, time: Time<Ros>) -> Result<Answer, Refusal> {
        let run = self.state.run.as_ref().ok_or(Refusal::NotPlaying)?;
        self.seek(Time::from_nanos(run.bag_time(time.nanos())))
    }

    fn seek_by(&mut self, step: Duration) -> Result<Answer, Refusal> {
        let now = self.bag_time()?;
        self.seek(now.saturating_add(step))
    }

    /// The current time of the bag.
    fn bag_time(&self) -> Result<Time<Ros>, Refusal> {
        let run = self.state.run.as_ref().ok_or(Refusal::NotPlaying)?;
        Ok(self
            .clock
            .now()
            .saturating_sub(Duration::from_nanos(run.offset)))
    }

    fn begin_burst(&mut self, count: u64, reply: Reply) {
        let refusal = match &self.state.run {
            _ if !self.state.paused => Some(Refusal::NotPaused),
            None => Some(Refusal::NotPlaying),
            Some(run) if run.burst.is_some() => Some(Refusal::Bursting),
            Some(_) => None,
        };
        match (refusal, &mut self.state.run) {
            (None, Some(run)) => {
                run.burst = Some(Burst {
                    left: (count > 0).then_some(count),
                    played: 0,
                    reply,
                });
            }
            (refusal, _) => reply(Err(refusal.unwrap_or(Refusal::NotPlaying))),
        }
    }

    /// Publishes the message before the last one; playing continues after it.
    fn step_back(&mut self) -> Result<Answer, Refusal> {
        if !self.state.paused {
            return Err(Refusal::NotPaused);
        }
        if self.options.order == MessageOrder::Sent {
            return Err(Refusal::NoWayBack);
        }
        let run = self.state.run.as_ref().ok_or(Refusal::NotPlaying)?;
        if run.burst.is_some() {
            return Err(Refusal::Bursting);
        }
        let (here, start) = (run.position, run.range.start);
        // After a message, the one before it; after a seek, the one before the position.
        let at = Position {
            skip: here.skip.saturating_sub(1),
            ..here
        };
        let before = self.feed.find(Query::Previous { before: at, start });
        let behind = before
            .as_ref()
            .map_or(here, super::super::source::Item::after);
        self.read_from(behind);
        let Some(item) = before else {
            return Ok(Answer::Played(0));
        };
        let due = self.set_position(Position::at(item.time));
        self.clock_output.announce_jump(due);
        self.jump_along(due);
        self.pacing.set_arrived(due);
        self.publish_time();
        let sent = self.publish(item);
        self.set_position(behind);
        self.publish_time();
        Ok(Answer::Played(u64::from(sent)))
    }

    /// Sets the position of playing; returns its time on the player's clock.
    fn set_position(&mut self, position: Position) -> Time<Ros> {
        let Some(run) = &mut self.state.run else {
            return self.clock.now();
        };
        run.position = position;
        run.due(position.time)
    }

    /// Reads from a position; the latched topics have their state of that position already.
    fn read_from(&self, place: Position) {
        if let Some(run) = &self.state.run {
            let plan = run.plan(place, false);
            self.restart.set_plan(Some(plan));
            self.feed.restart(plan);
        }
    }

    fn set_loop(&mut self, part: Option<(Time<Ros>, Time<Ros>)>) -> Result<Answer, Refusal> {
        let now = self.bag_time()?.nanos();
        let run = self.state.run.as_ref().ok_or(Refusal::NotPlaying)?;
        let position = run.position;
        let part = part.map(|part| run.part(part)).transpose()?;
        let checked = part.map_or(Ok(()), |part| self.check_loop(part));
        if checked.is_err() {
            // The check dropped the read-ahead.
            self.read_from(position);
            checked?;
        }
        let run = self.state.run.as_mut().ok_or(Refusal::NotPlaying)?;
        run.loop_range = part;
        self.live.details().loop_range = run.loop_range.map(RunRange::times);
        let outside = run
            .loop_range
            .is_some_and(|part| now < part.start || now > part.end);
        let start = run.lap_range().start;
        self.limit_time();
        self.read_from(position);
        if outside {
            return self.seek(Time::from_nanos(start));
        }
        Ok(Answer::Done)
    }

    /// Refuses a loop without messages. The read-ahead is void afterwards.
    pub(super) fn check_loop(&self, part: RunRange) -> Result<(), Refusal> {
        let (start, end) = (part.start, part.end);
        let found = self.feed.find(Query::First { start, end });
        let (from, to) = part.times();
        found
            .map(drop)
            .ok_or(Refusal::LoopWithoutMessages { from, to })
    }

    fn mark(&mut self, mark: Mark) -> Result<Answer, Refusal> {
        let now = self.bag_time()?;
        let run = self.state.run.as_ref().ok_or(Refusal::NotPlaying)?;
        let (from, to) = run.loop_range.unwrap_or(run.range).times();
        match mark {
            Mark::A => self.set_loop(Some((now, to.max(now)))),
            Mark::B => self.set_loop(Some((from.min(now), now))),
        }
    }
}

/// The change of time that a control requests; `None` for the controls that an external clock allows.
fn change_of_time(control: &Control) -> Option<&'static str> {
    Some(match control {
        Control::Pause => "pause",
        Control::Resume => "resume",
        Control::TogglePaused => "pause or resume",
        Control::SetRate(_) => "set the rate",
        Control::Seek(_) | Control::SeekBy(_) => "seek",
        Control::PlayNext | Control::Burst(_) => "play single messages",
        Control::StepBack => "step back",
        Control::SetLoop(_) | Control::Mark(_) => "repeat a part",
        Control::SetClockFrequency(_) => "publish /clock",
        Control::Play(_) | Control::Finish | Control::Stop => return None,
    })
}

/// Whether a control publishes messages while time is stopped.
fn is_step(control: &Control) -> bool {
    matches!(
        control,
        Control::PlayNext | Control::Burst(_) | Control::StepBack
    )
}
