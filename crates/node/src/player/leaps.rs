use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_time::{
    ClockChange, Duration, JumpHandle, JumpHandler, JumpThreshold, PlayerClock, Ros, TimeJump,
};

use super::clock_beat::ClockBeat;
use super::mailbox::Mailbox;
use super::options::ClockSteps;

/// More wait only when a source does nothing but jump; then the last ones become one.
const MOST: usize = 1 << 16;

/// The leaps of an external clock, in order: the places where it did not run on, but went elsewhere.
///
/// A source may loop within microseconds: when the playback thread looks, the clock shows the time after the leap, and
/// messages from before it are still to be published. So every leap is kept with the time that it left.
pub(super) struct Leaps {
    course: Mutex<Course>,
    steps: ClockSteps,
    mailbox: Arc<Mailbox>,
    beat: Arc<Mutex<ClockBeat>>,
}

/// A place where an external clock went elsewhere; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leap {
    /// Messages up to here are due.
    pub(super) from: i64,
    /// Where it went on.
    pub(super) to: i64,
    /// Whether the clock shows it already.
    pub(super) done: bool,
    pub(super) kind: LeapKind,
}

/// What is known of a leap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeapKind {
    /// Time was moved by its owner: what lies between is not played, and nobody misses it.
    Move,
    /// A large step forward, or one that the time that has passed does not explain: its owner knows whether it moved
    /// time or time ran on.
    Step,
    /// A large step forward whose messages the user wants to skip.
    Skip,
}

/// Samples of a clock that ticks are further apart than this, in nanoseconds.
const MOMENT: i64 = 1_000_000;
/// How much faster than before time may go for a moment: samples do not come evenly.
const UNEVEN: i128 = 4;

#[derive(Default)]
struct Course {
    /// Whether anybody plays by it.
    followed: bool,
    /// The first time since then.
    first: Option<i64>,
    /// How far the last step went in how much steady time.
    pace: Option<(i64, i64)>,
    leaps: VecDeque<Leap>,
}

impl Course {
    /// Takes a step; whether it is larger than the steady time that has passed explains.
    fn is_sudden(&mut self, passed: i64, step: i64) -> bool {
        let (usual_step, usual_passed) = self.pace.unwrap_or((1, 1));
        let sudden = i128::from(step) * i128::from(usual_passed)
            > UNEVEN * i128::from(usual_step) * i128::from(passed);
        // A sudden step that took its time may be a new rate.
        if step > 0 && passed > if sudden { MOMENT } else { 0 } {
            self.pace = Some((step, passed));
        }
        sudden
    }
}

impl Leaps {
    pub(super) fn new(
        steps: ClockSteps,
        mailbox: &Arc<Mailbox>,
        beat: &Arc<Mutex<ClockBeat>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            course: Mutex::default(),
            steps,
            mailbox: Arc::clone(mailbox),
            beat: Arc::clone(beat),
        })
    }

    /// Notes the leaps of a clock until the handle is dropped.
    pub(super) fn watch(self: &Arc<Self>, clock: &dyn PlayerClock) -> JumpHandle {
        let (before, after) = (Arc::clone(self), Arc::clone(self));
        clock.add_jump_handler(
            JumpHandler::new("player", JumpThreshold::ANY)
                .before(move |jump| before.note(jump))
                .after(move |_| after.settle()),
        )
    }

    /// Follows the clock from now on: from the time that it shows, or from the first that it will show.
    pub(super) fn begin(&self, clock: &dyn PlayerClock) {
        *self.course() = Course {
            followed: true,
            ..Course::default()
        };
        if clock.clock().started() {
            let now = clock.now().nanos();
            self.course().first.get_or_insert(now);
        }
    }

    /// Follows it no more.
    pub(super) fn end(&self) {
        *self.course() = Course::default();
    }

    /// The first time since [`begin`](Self::begin).
    pub(super) fn first(&self) -> Option<i64> {
        self.course().first
    }

    /// The next leap.
    pub(super) fn next(&self) -> Option<Leap> {
        self.course().leaps.front().copied()
    }

    /// A step was explained: by a move of its owner between two times, or by none.
    pub(super) fn explained(&self, moved: Option<(i64, i64)>) {
        let mut course = self.course();
        let Some(leap) = course.leaps.front_mut() else {
            return;
        };
        if let Some((from, to)) = moved {
            leap.kind = LeapKind::Move;
            (leap.from, leap.to) = (from, to);
        } else if self.is_skipped(leap.to.saturating_sub(leap.from)) {
            leap.kind = LeapKind::Skip;
        } else {
            course.leaps.pop_front();
        }
    }

    /// The next leap was followed.
    pub(super) fn pop(&self) {
        self.course().leaps.pop_front();
    }

    /// Called before the clock shows the new time: who sees that time knows of the leap.
    fn note(&self, jump: &TimeJump<Ros>) {
        let mut course = self.course();
        if !course.followed {
            return;
        }
        let (from, to) = (jump.old.nanos(), jump.new.nanos());
        if course.first.is_none() {
            course.first = Some(to);
            return;
        }
        let gap = self
            .beat
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .gap();
        let sudden = gap.is_some_and(|passed| course.is_sudden(passed, jump.delta.nanos()));
        let back = jump.change != ClockChange::NoChange || jump.delta < Duration::ZERO;
        let kind = if back {
            LeapKind::Move
        } else if sudden || self.is_skipped(jump.delta.nanos()) {
            LeapKind::Step
        } else {
            return;
        };
        if course.leaps.len() >= MOST
            && let Some(last) = course.leaps.back_mut()
        {
            last.to = to;
        } else {
            course.leaps.push_back(Leap {
                from,
                to,
                done: false,
                kind,
            });
        }
        drop(course);
        self.mailbox.ring();
    }

    /// Whether the user wants to skip what lies in a step forward.
    fn is_skipped(&self, step: i64) -> bool {
        match self.steps {
            ClockSteps::PlayAll => false,
            ClockSteps::SkipBeyond(most) => step > most.nanos(),
        }
    }

    fn settle(&self) {
        let mut course = self.course();
        let mut news = false;
        for leap in course.leaps.iter_mut().rev().take_while(|leap| !leap.done) {
            leap.done = true;
            news = true;
        }
        drop(course);
        if news {
            self.mailbox.ring();
        }
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
