use timeloom_time::{Duration, Ros, Time, WaitOptions, Woke};

use super::super::board::add;
use super::super::clock_jumps::JumpsBetween;
use super::super::external_jumps::{ExternalJump, JumpKind};
use super::super::notice::Notice;
use super::super::options::Repeat;
use super::super::source::{Part, Position};
use super::{Following, Front, Leader, Playback, Stage};

/// An external clock this far before the bag is told of.
const FAR: i64 = 3600 * 1_000_000_000;
/// An external clock that says nothing for so long is told of.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// An owner of an external clock that is gone and says nothing for so long does not come back: one that was only
/// stopped is found again within its lease, mostly 10 s, and the time that it was stopped for.
const ABSENCE: Duration = Duration::from_secs(30);
/// How often an owner that does not answer is asked again, and after how long.
const RETRIES: u32 = 3;
const RETRY: Duration = Duration::from_millis(200);

impl Playback {
    /// Waits for the first sample of an external clock; the player's own clock is there.
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
        if !self.state.told.silence {
            options = options.real_timeout(SILENCE);
        }
        let woke = self.clock.clock().wait_until_started(&options);
        if woke == Woke::TimedOut {
            self.state.told.silence = true;
            self.reporter.report(Notice::ClockSilent {
                source: String::new(),
            });
        }
    }

    /// Playing begins where the external clock was when it was asked for, or at its first sample: what came due while
    /// subscriptions were waited for is not lost.
    fn join_clock(&mut self) {
        let (Some(run), Some(Following { jumps, .. })) = (&self.state.run, &self.following) else {
            return;
        };
        let now = jumps.first().unwrap_or_else(|| self.clock.now().nanos());
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
        self.state.told.silence = false;
        self.state.arrived = Time::from_nanos(now);
        let plan = run.plan(Position::at(now.max(range.start)), true);
        self.read_ahead.restart(plan);
        self.enter(Stage::Playing);
        self.clock_owner();
    }

    /// Follows the next jump of an external clock, a message at a time; false if there is none.
    ///
    /// Messages up to the time that it left are published, those that it skipped are counted, and reading goes on where
    /// it went.
    pub(super) fn follow_jump(&mut self) -> bool {
        let following = self.following.as_ref();
        let Some(jump) = following.and_then(|following| following.jumps.next()) else {
            return false;
        };
        match self.front() {
            Front::Starved => self.starve(),
            Front::Message(_, Part::Latched(_)) => self.publish_latched(),
            Front::Message(time, Part::Lap(_)) if self.was_due_before(time, jump) => {
                self.publish_owed(time);
            }
            _ if jump.kind == JumpKind::Unexplained => self.explain(jump),
            Front::Message(time, Part::Lap(_)) if time < jump.to => self.step_over(jump),
            // The clock shows the old time for another moment.
            _ if !jump.is_shown => self.rest(),
            _ => self.go_to(jump),
        }
        true
    }

    /// Whether time ran to a message, or past it, before a jump.
    fn was_due_before(&self, time: i64, jump: ExternalJump) -> bool {
        let arrived = self.state.arrived.nanos();
        time < jump.from || time == jump.from && time != arrived
    }

    /// Asks the owner which jumps it made; without any, time ran on, and all that lies between is played.
    fn explain(&mut self, jump: ExternalJump) {
        let owner = self.clock_owner();
        let Some(following) = &mut self.following else {
            return;
        };
        let answer = match (&owner, jump.samples) {
            (Some(owner), Some(samples)) => {
                let answer = following.inquiry.jumps_between(&self.node, owner, samples);
                if answer.is_none() && following.unanswered < RETRIES {
                    // After a network failure, services are found again later than topics.
                    following.unanswered += 1;
                    return self.rest_until(self.steady.now().saturating_add(RETRY));
                }
                answer.unwrap_or_default()
            }
            _ => JumpsBetween::default(),
        };
        following.unanswered = 0;
        following.jumps.explained(&answer.jumps);
        if answer.is_cut {
            self.reporter.report(Notice::ClockJumpsLost {
                step_ns: (jump.from, jump.to),
            });
        }
    }

    /// The only node that publishes `/clock`, if it answers for its parameters; the last one that was found while there
    /// is none.
    fn clock_owner(&mut self) -> Option<String> {
        let watch = self.clock_watch.as_ref()?;
        let mut owners = watch.owners();
        owners.sort();
        owners.dedup();
        let following = self.following.as_mut()?;
        match owners.as_slice() {
            [owner] if watch.has_parameters(owner) => following.owner = Some(owner.clone()),
            [owner] if following.owner.as_ref() == Some(owner) => {}
            [] => {}
            _ => return None,
        }
        following.owner.clone()
    }

    /// Publishes the message at the front, whose time came before the clock went elsewhere.
    fn publish_owed(&mut self, time: i64) {
        if let Some(item) = self.pop() {
            self.publish(&item);
            self.state.last_due = Time::from_nanos(time);
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
        self.state.stepped_over += 1;
        if let Some(counters) = self.board.topics.get(item.topic.index()) {
            add(&counters.stepped_over, 1);
        }
    }

    fn go_to(&mut self, jump: ExternalJump) {
        if let Some(following) = &self.following {
            following.jumps.pop();
        }
        let messages = std::mem::take(&mut self.state.stepped_over);
        if messages > 0 {
            self.reporter.report(Notice::MessagesSkipped {
                messages,
                step_ns: (jump.from, jump.to),
            });
        }
        let Some(run) = &self.state.run else { return };
        let place = Position::at(jump.to.max(run.range.start));
        self.read_ahead.restart(run.plan(place, true));
        self.board.forget_rate();
        self.moved_to(Time::from_nanos(jump.to));
        if jump.kind == JumpKind::Skipped {
            // Time ran there.
            self.state.arrived = Time::MIN;
        }
    }

    /// Whether the owner of the external clock is still there. With `--loop` it is waited for.
    fn leader(&self) -> Leader {
        let last = self.following.as_ref().and_then(|it| it.follower.last());
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

    /// Counts the messages that are left, whose time will not come, and ends.
    pub(super) fn give_up(&mut self) {
        match self.front() {
            Front::Starved => self.starve(),
            Front::Message(_, Part::Latched(_)) => drop(self.pop()),
            Front::Message(_, Part::Lap(_)) => self.leave_out(),
            Front::End => {
                self.reporter.report(Notice::ClockGone {
                    messages: std::mem::take(&mut self.state.stepped_over),
                    clock_ns: self.clock.now().nanos(),
                });
                self.finish();
            }
        }
    }

    /// Tells once that the external clock has stopped; gives up when its owner stays away.
    pub(super) fn watch_silence(&mut self, woke: &Woke<Ros>) {
        match woke {
            Woke::Stalled => {
                if !std::mem::replace(&mut self.state.told.silence, true) {
                    let shown = self.clock.now().as_secs_f64();
                    let source = format!("it shows {shown:.3} s for {SILENCE} now");
                    self.reporter.report(Notice::ClockSilent { source });
                }
                self.clock_owner();
                self.state.leader = self.leader();
            }
            Woke::Reached | Woke::Jumped(_) => self.state.told.silence = false,
            _ => {}
        }
    }
}
