use timeloom_time::{Duration, Ros, Time, WaitOptions, Woke};

use super::super::board::add;
use super::super::leaps::{Leap, LeapKind};
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
        let (Some(run), Some(Following { leaps, .. })) = (&self.state.run, &self.following) else {
            return;
        };
        let now = leaps.first().unwrap_or_else(|| self.clock.now().nanos());
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
        let plan = run.plan(Position::at(now.max(range.start)), true);
        self.read_ahead.restart(plan);
        self.enter(Stage::Playing);
    }

    /// Follows the next leap of an external clock, a message at a time; false if there is none.
    ///
    /// Messages up to the time that it left are published, those that it stepped over are counted, and reading goes on
    /// where it went.
    pub(super) fn follow_leap(&mut self) -> bool {
        let following = self.following.as_ref();
        let Some(leap) = following.and_then(|following| following.leaps.next()) else {
            return false;
        };
        match self.front() {
            Front::Starved => self.starve(),
            Front::Message(_, Part::Latched(_)) => self.publish_latched(),
            Front::Message(time, Part::Lap(_)) if time <= leap.from => self.publish_owed(time),
            _ if leap.kind == LeapKind::Step => self.explain(leap),
            Front::Message(time, Part::Lap(_)) if time < leap.to => self.step_over(leap),
            // The clock shows the old time for another moment.
            _ if !leap.done => self.rest(),
            _ => self.go_to(leap),
        }
        true
    }

    /// Learns from the owner whether it moved time; if not, time ran on, and all that lies between is played.
    fn explain(&mut self, leap: Leap) {
        let Some(following) = &mut self.following else {
            return;
        };
        let watch = self.clock_watch.as_ref();
        let owners = watch.map(|watch| {
            let mut owners = watch.owners();
            owners.sort();
            owners.dedup();
            owners
        });
        let moved = watch.and_then(|watch| match owners.as_deref()? {
            [owner] if watch.has_parameters(owner) => {
                following
                    .inquiry
                    .explain(&self.node, owner, (leap.from, leap.to))
            }
            _ => None,
        });
        following.leaps.explained(moved);
    }

    /// Publishes the message at the front, whose time came before the clock went elsewhere.
    fn publish_owed(&mut self, time: i64) {
        if let Some(item) = self.pop() {
            self.publish(&item);
            self.state.last_due = Time::from_nanos(time);
        }
    }

    /// Leaves out the message at the front, which the clock stepped over. A move by its owner loses nothing.
    fn step_over(&mut self, leap: Leap) {
        if leap.kind == LeapKind::Move {
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

    fn go_to(&mut self, leap: Leap) {
        if let Some(following) = &self.following {
            following.leaps.pop();
        }
        let messages = std::mem::take(&mut self.state.stepped_over);
        if messages > 0 {
            self.reporter.report(Notice::MessagesSkipped {
                messages,
                step_ns: (leap.from, leap.to),
            });
        }
        let Some(run) = &self.state.run else { return };
        let place = Position::at(leap.to.max(run.range.start));
        self.read_ahead.restart(run.plan(place, true));
        self.board.forget_rate();
        self.moved_to(Time::from_nanos(leap.to));
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
                self.state.leader = self.leader();
            }
            Woke::Reached | Woke::Jumped(_) => self.state.told.silence = false,
            _ => {}
        }
    }
}
