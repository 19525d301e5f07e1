use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_time::{
    ClockChange, Duration, JumpHandle, JumpHandler, JumpThreshold, PlayerClock, Ros, TimeJump,
};

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
}

#[derive(Default)]
struct Course {
    /// Whether anybody plays by it.
    followed: bool,
    /// The first time since then.
    first: Option<i64>,
    leaps: VecDeque<Leap>,
}

impl Leaps {
    pub(super) fn new(steps: ClockSteps, mailbox: &Arc<Mailbox>) -> Arc<Self> {
        Arc::new(Self {
            course: Mutex::default(),
            steps,
            mailbox: Arc::clone(mailbox),
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
        if !self.is_leap(jump) {
            return;
        }
        if course.leaps.len() >= MOST
            && let Some(last) = course.leaps.back_mut()
        {
            last.to = to;
        } else {
            let done = false;
            course.leaps.push_back(Leap { from, to, done });
        }
        drop(course);
        self.mailbox.ring();
    }

    fn is_leap(&self, jump: &TimeJump<Ros>) -> bool {
        let skipped = match self.steps {
            ClockSteps::PlayAll => false,
            ClockSteps::SkipBeyond(most) => jump.delta > most,
        };
        jump.change != ClockChange::NoChange || jump.delta < Duration::ZERO || skipped
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
