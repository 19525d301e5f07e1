use timeloom_time::{Duration, Ros, Time, WaitOptions, Woke};

use super::super::external_jumps::{ExternalJump, JumpKind};
use super::super::live_status::add;
use super::super::notice::Notice;
use super::super::options::Repeat;
use super::super::source::{Part, Position};
use super::feed::NextMessage;
use super::following::{Explanation, Following, Leader};
use super::{Playback, RunPhase};

/// An external clock this far before the bag is reported.
const FAR: i64 = 3600 * 1_000_000_000;
/// An external clock without a sample for this long is reported.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// An owner of an external clock that is not in the graph and has sent no sample for this long does not return: one
/// that was only suspended is rediscovered within its lease, mostly 10 s, and the time of its suspension.
const ABSENCE: Duration = Duration::from_secs(30);
/// Time after which an owner that does not answer is asked again.
const RETRY: Duration = Duration::from_millis(200);

impl Playback {
    /// Waits for the first sample of an external clock; the player's own clock is always ready.
    pub(super) fn wait_for_clock(&mut self) {
        if !self.is_external() {
            self.start_time();
            return;
        }
        if self.clock.clock().started() {
            self.join_clock();
            return;
        }
        let Some(token) = self.mailbox.arm() else {
            return;
        };
        let mut options = WaitOptions::new().cancel(&token);
        let following = self.following.as_ref();
        if !following.is_some_and(Following::is_silence_reported) {
            options = options.real_timeout(SILENCE);
        }
        let woke = self.clock.clock().wait_until_started(&options);
        if woke == Woke::TimedOut
            && self
                .following
                .as_mut()
                .is_some_and(Following::report_silence)
        {
            self.reporter.report(Notice::ClockSilent {
                source: String::new(),
            });
        }
    }

    /// Starts playing from the time of the external clock when playing was requested, or from its first sample: messages
    /// that became due while the player waited for subscriptions are not lost.
    fn join_clock(&mut self) {
        let (Some(run), Some(following)) = (&self.state.run, &mut self.following) else {
            return;
        };
        let now = following
            .first_time()
            .unwrap_or_else(|| self.clock.now().nanos());
        let range = run.range;
        if now > range.end && self.options.repeat == Repeat::Once {
            self.reporter.report(Notice::ClockPastEnd {
                clock_ns: now,
                end_ns: range.end,
            });
        } else if now < range.start.saturating_sub(FAR) {
            self.reporter.report(Notice::ClockElsewhere {
                clock_ns: now,
                bag_ns: (range.start, range.end),
            });
        }
        following.silence_over();
        self.pacing.set_arrived(Time::from_nanos(now));
        let plan = run.plan(Position::at(now.max(range.start)), true);
        self.feed.restart(plan);
        self.enter(RunPhase::Playing);
        self.find_owner();
    }

    /// Follows the next jump of an external clock, a message at a time; false if there is none.
    ///
    /// Messages up to the time that it left are published, those that it skipped are counted, and reading continues at
    /// its new time.
    pub(super) fn follow_jump(&mut self) -> bool {
        let following = self.following.as_ref();
        let Some(jump) = following.and_then(Following::next_jump) else {
            return false;
        };
        match self.front() {
            NextMessage::Starved => self.starve(),
            NextMessage::Message(_, Part::Latched(_)) => self.publish_latched(),
            NextMessage::Message(time, Part::Lap(_)) if self.was_due_before(time, jump) => {
                self.publish_owed(time);
            }
            _ if jump.kind == JumpKind::Unexplained => self.explain(jump),
            NextMessage::Message(time, Part::Lap(_)) if time < jump.to => self.step_over(jump),
            // The clock shows the old time for another moment.
            _ if !jump.is_shown => self.rest(),
            _ => self.go_to(jump),
        }
        true
    }

    /// Whether time ran to a message, or past it, before a jump.
    fn was_due_before(&self, time: i64, jump: ExternalJump) -> bool {
        let arrived = self.pacing.arrived().nanos();
        time < jump.from || time == jump.from && time != arrived
    }

    /// Asks the owner which jumps it made; without any, time ran, and the messages in between are played.
    fn explain(&mut self, jump: ExternalJump) {
        let Some(following) = &mut self.following else {
            return;
        };
        match following.explain(jump, &self.node, self.clock_watch.as_deref()) {
            // After a network failure, services are rediscovered later than topics.
            Explanation::Retry => self.rest_until(self.steady.now().saturating_add(RETRY)),
            Explanation::Done { is_cut: true } => self.reporter.report(Notice::ClockJumpsLost {
                step_ns: (jump.from, jump.to),
            }),
            Explanation::Done { is_cut: false } => {}
        }
    }

    /// Looks up the owner of `/clock` while it is in the graph: after a network failure it may be missing for a while.
    fn find_owner(&mut self) {
        if let (Some(following), Some(watch)) = (&mut self.following, &self.clock_watch) {
            following.find_owner(watch);
        }
    }

    /// Publishes the message at the front, which was due before the clock jumped.
    fn publish_owed(&mut self, time: i64) {
        if let Some(item) = self.pop() {
            self.publish(item);
            self.pacing.passed(Time::from_nanos(time));
        }
    }

    /// Drops the message at the front, which the clock jumped over. It is not lost if the owner moved time.
    fn step_over(&mut self, jump: ExternalJump) {
        if jump.kind == JumpKind::Moved {
            drop(self.pop());
        } else {
            self.leave_out();
        }
    }

    /// Counts the message at the front as lost.
    fn leave_out(&mut self) {
        let Some(item) = self.pop() else { return };
        if let Some(following) = &mut self.following {
            following.skip();
        }
        if let Some(counters) = self.live.topics.get(item.topic.index()) {
            add(&counters.stepped_over, 1);
        }
    }

    fn go_to(&mut self, jump: ExternalJump) {
        let messages = self.following.as_mut().map_or(0, Following::jump_done);
        if messages > 0 {
            self.reporter.report(Notice::MessagesSkipped {
                messages,
                step_ns: (jump.from, jump.to),
            });
        }
        let Some(run) = &self.state.run else { return };
        let place = Position::at(jump.to.max(run.range.start));
        self.feed.restart(run.plan(place, true));
        self.live.forget_rate();
        self.moved_to(Time::from_nanos(jump.to));
        if jump.kind == JumpKind::Skipped {
            // Time ran there.
            self.pacing.set_arrived(Time::MIN);
        }
    }

    /// The state of the owner of the external clock. With `--loop` the player waits for it.
    fn leader(&self) -> Leader {
        let last = self.following.as_ref().and_then(Following::last_sample);
        let watch = self.clock_watch.as_ref();
        let is_gone = self.options.repeat == Repeat::Once
            && watch.is_some_and(|watch| watch.is_gone())
            && last.is_some_and(|last| self.steady.now() - last >= ABSENCE);
        if is_gone {
            Leader::Gone
        } else {
            Leader::Present
        }
    }

    /// Counts the remaining messages, which will not become due, and ends.
    pub(super) fn give_up(&mut self) {
        match self.front() {
            NextMessage::Starved => self.starve(),
            NextMessage::Message(_, Part::Latched(_)) => drop(self.pop()),
            NextMessage::Message(_, Part::Lap(_)) => self.leave_out(),
            NextMessage::End => {
                self.reporter.report(Notice::ClockGone {
                    messages: self.following.as_mut().map_or(0, Following::take_skipped),
                    clock_ns: self.clock.now().nanos(),
                });
                self.finish();
            }
        }
    }

    /// Reports once that the external clock has stopped; gives up when its owner does not return.
    pub(super) fn watch_silence(&mut self, woke: &Woke<Ros>) {
        match woke {
            Woke::Stalled => {
                if self
                    .following
                    .as_mut()
                    .is_some_and(Following::report_silence)
                {
                    let shown = self.clock.now().as_secs_f64();
                    let source = format!("it shows {shown:.3} s for {SILENCE} now");
                    self.reporter.report(Notice::ClockSilent { source });
                }
                self.find_owner();
                let leader = self.leader();
                if let Some(following) = &mut self.following {
                    following.set_leader(leader);
                }
            }
            Woke::Reached | Woke::Jumped(_) => {
                if let Some(following) = &mut self.following {
                    following.silence_over();
                }
            }
            _ => {}
        }
    }
}
