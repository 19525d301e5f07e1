use std::sync::atomic::Ordering;

use timeloom_time::{Duration, OnJump, Time, WaitOptions};
use timeloom_wire::Publisher;

use super::super::control::Refusal;
use super::super::live_status::add;
use super::super::notice::Notice;
use super::super::options::{AckWait, PlayRange};
use super::super::output::{Output, SubscriptionWait};
use super::super::run::{Run, RunRange};
use super::super::source::Position;
use super::super::status::State;
use super::{Playback, RunPhase};

/// Time for which a wait for acknowledgements ignores controls.
const ACK_STEP: Duration = Duration::from_millis(50);
/// The default wait for acknowledgements at the end.
const BRIEFLY: Duration = Duration::from_secs(1);

impl Playback {
    /// Begins a run: reading starts at once, publishing when the waits of the options are over.
    ///
    /// # Errors
    /// When the part to repeat is outside of the played range, or has no message.
    pub(super) fn begin(&mut self, asked: &PlayRange) -> Result<(), Refusal> {
        self.ended.clear();
        let begun = self.begin_run(asked);
        if begun.is_err() {
            self.ended.set();
        }
        begun
    }

    fn begin_run(&mut self, asked: &PlayRange) -> Result<(), Refusal> {
        let range = PlayRange {
            start: asked.start.or(self.options.range.start),
            duration: asked.duration.or(self.options.range.duration),
            until: asked.until.or(self.options.range.until),
        };
        let Some(range) = self.bag.map(|bag| RunRange::of(&range, bag)) else {
            self.live.set_state(State::Ended);
            self.ended.set();
            return Ok(());
        };
        let run = Run::new(range, &self.options)?;
        if let Some(part) = run.loop_range {
            self.check_loop(part)?;
        }
        self.live.offset.store(0, Ordering::SeqCst);
        self.live.laps.store(0, Ordering::SeqCst);
        {
            let mut details = self.live.details();
            details.range = Some(range.times());
            details.loop_range = run.loop_range.map(RunRange::times);
        }
        if let Some(following) = &self.following {
            following.begin(&*self.clock);
        } else {
            // Time is stopped here until playing begins.
            self.moved_to(run.due(range.start));
            self.clock_output.announce_jump(run.due(range.start));
            self.jump_along(run.due(range.start));
            self.feed.restart(run.plan(Position::at(range.start), true));
        }
        self.state.run = Some(run);
        self.enter(RunPhase::Settle(self.steady.now()));
        // Phases without a wait are over before the next control is executed.
        while self.is_prepared() && self.state.phase != RunPhase::Playing {
            self.prepare(self.state.phase);
        }
        if self.state.phase != RunPhase::Playing {
            self.start_clock_early();
        }
        Ok(())
    }

    /// Whether a phase has nothing to wait for.
    fn is_prepared(&self) -> bool {
        match self.state.phase {
            RunPhase::Settle(since) => self.settled(since).is_none(),
            RunPhase::Subscribers => self.has_subscribers(),
            RunPhase::StartAt => self
                .options
                .start_at
                .is_none_or(|due| self.system.now() >= due),
            RunPhase::Delay(until) => self.steady.now() >= until,
            RunPhase::ClockStart => !self.is_external() || self.clock.clock().started(),
            RunPhase::Idle | RunPhase::Playing => true,
        }
    }

    fn has_subscribers(&self) -> bool {
        self.unmatched().next().is_none()
    }

    /// The topics that lack subscriptions, and their numbers of subscriptions.
    fn unmatched(&self) -> impl Iterator<Item = (String, usize)> {
        let wanted = self.options.wait_for_subscribers;
        let outputs = self.outputs.iter();
        let outputs = outputs.filter(|output| output.wait == SubscriptionWait::Wanted);
        outputs.filter_map(move |output| {
            let matched = output.matched();
            (matched < wanted).then(|| (output.name.clone(), matched))
        })
    }

    fn report_unmatched(&mut self) {
        if !std::mem::replace(&mut self.state.unmatched_reported, true) {
            self.reporter.report(Notice::WaitingForSubscribers {
                wanted: self.options.wait_for_subscribers,
                topics: self.unmatched().collect(),
            });
        }
    }

    pub(super) fn enter(&mut self, phase: RunPhase) {
        self.state.phase = phase;
        self.show_state();
    }

    /// Waits as a phase requires; enters the next one when the wait is over.
    pub(super) fn prepare(&mut self, phase: RunPhase) {
        match phase {
            RunPhase::Settle(since) => match self.settled(since) {
                None => {
                    self.report_settled();
                    self.enter(RunPhase::Subscribers);
                }
                Some(until) => self.rest_until(until),
            },
            RunPhase::Subscribers => {
                if self.has_subscribers() {
                    self.enter(RunPhase::StartAt);
                } else {
                    self.report_unmatched();
                    // Publishers ring when they are matched.
                    self.rest();
                }
            }
            RunPhase::StartAt => self.wait_for_start(),
            RunPhase::Delay(until) => {
                if self.steady.now() >= until {
                    self.enter(RunPhase::ClockStart);
                } else {
                    self.rest_until(until);
                }
            }
            RunPhase::ClockStart => self.wait_for_clock(),
            RunPhase::Idle | RunPhase::Playing => {}
        }
    }

    fn wait_for_start(&mut self) {
        let due = self.options.start_at.unwrap_or(Time::MIN);
        if self.system.now() >= due {
            let until = self.steady.now().saturating_add(self.options.delay);
            self.enter(RunPhase::Delay(until));
        } else if let Some(token) = self.mailbox.arm() {
            let options = WaitOptions::new().cancel(&token).on_jump(OnJump::Ignore);
            let _woke = self.system.sleep_until_with(due, &options);
        }
    }

    /// Time begins to run.
    pub(super) fn start_time(&mut self) {
        let Some(run) = &self.state.run else { return };
        self.restart
            .set_plan(Some(run.plan(Position::at(run.range.start), true)));
        self.state.lap_began = self.steady.now();
        self.enter(RunPhase::Playing);
        self.limit_time();
        // Followers get exactly the start, before time runs.
        self.start_clock();
        if !self.state.paused {
            // Only a controlled clock gets here.
            let _resumed = self.clock.resume();
            self.publish_departure();
        }
    }

    /// At the end, waits until requests that waited for their server are sent; those that are not count as failed.
    pub(super) fn finish_requests(&self) {
        for output in self.outputs.iter() {
            let Some(requests) = output.requests() else {
                continue;
            };
            let failed = requests.finish(|| self.mailbox.wants_end());
            if let Some(counters) = self
                .live
                .topics
                .get(output.id.index())
                .filter(|_| failed > 0)
            {
                counters.played.fetch_sub(failed, Ordering::Relaxed);
                add(&counters.failed, failed);
            }
        }
    }

    /// At the end, waits until reliable subscriptions have acknowledged everything; reports those that have not.
    pub(super) fn wait_for_acks(&mut self) {
        let until = match self.options.wait_for_acks {
            AckWait::Briefly => return self.wait_briefly_for_acks(),
            AckWait::For(timeout) => Some(timeout),
            AckWait::Forever => None,
        };
        let name = |(output, _): (&Output, &dyn Publisher)| output.name.clone();
        let publishers = self.outputs.iter().filter_map(|output| {
            let publisher = output.publisher()?;
            Some((output, publisher))
        });
        let (reliable, rest): (Vec<_>, Vec<_>) =
            publishers.partition(|(output, _)| output.reliable);
        if !rest.is_empty() {
            self.reporter.report(Notice::NoAcknowledgements {
                topics: rest.into_iter().map(name).collect(),
            });
        }
        let missing = reliable.into_iter().filter(|(_, publisher)| {
            let end = until.map(|timeout| self.steady.now().saturating_add(timeout));
            !self.is_acknowledged(*publisher, end)
        });
        let topics: Vec<_> = missing.map(name).collect();
        if !topics.is_empty() {
            self.reporter.report(Notice::NotAcknowledged { topics });
        }
    }

    /// Waits a second: enough for the last messages to reach a subscription that works.
    fn wait_briefly_for_acks(&self) {
        let end = self.steady.now().saturating_add(BRIEFLY);
        let missing = self.outputs.iter().filter(|output| {
            let publisher = output.publisher().filter(|_| output.reliable);
            publisher.is_some_and(|publisher| {
                publisher.matched() > 0 && !self.is_acknowledged(publisher, Some(end))
            })
        });
        let topics: Vec<_> = missing.map(|output| output.name.clone()).collect();
        if !topics.is_empty() && !self.mailbox.wants_end() {
            self.reporter.report(Notice::EndedUnacknowledged { topics });
        }
    }

    fn is_acknowledged(
        &self,
        publisher: &dyn Publisher,
        end: Option<Time<timeloom_time::Steady>>,
    ) -> bool {
        loop {
            let left = end.map_or(ACK_STEP, |end| end - self.steady.now());
            // A transport without acknowledgements has nothing to wait for.
            if publisher
                .wait_for_acknowledgements(left.min(ACK_STEP).max(Duration::ZERO))
                .unwrap_or(true)
            {
                return true;
            }
            if left <= Duration::ZERO || self.mailbox.wants_end() {
                return false;
            }
        }
    }
}
