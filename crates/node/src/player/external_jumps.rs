use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_time::{
    ClockChange, Duration, JumpHandle, JumpHandler, JumpThreshold, PlayerClock, Ros, TimeJump,
};
use timeloom_wire::backend::lock;

use super::clock_jumps::ClockJump;
use super::clock_samples::{ClockSamples, SampleId};
use super::mailbox::Mailbox;
use super::options::ClockSteps;

/// Longer queues are possible only with a source that constantly jumps; the last jumps are then merged into one.
const MAX_QUEUED: usize = 1 << 16;

/// The jumps of an external clock that the playback thread has not followed yet, oldest first.
///
/// A source may loop within microseconds: when the playback thread checks, the clock shows the time after the jump, and
/// messages from before it are still to be published. Therefore every jump is queued with the time that it left.
pub(super) struct ExternalJumps {
    queue: Mutex<Queue>,
    steps: ClockSteps,
    mailbox: Arc<Mailbox>,
    samples: Arc<Mutex<ClockSamples>>,
}

/// A jump of an external clock; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExternalJump {
    /// Messages up to here are due.
    pub(super) from: i64,
    /// Time continued from here.
    pub(super) to: i64,
    /// The clock shows the time after the jump.
    pub(super) is_shown: bool,
    pub(super) kind: JumpKind,
    /// The samples of `/clock` before and after it, if they have numbers.
    pub(super) samples: Option<(SampleId, SampleId)>,
}

/// The reason of an [`ExternalJump`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JumpKind {
    /// The owner moved time: the messages in between are not due.
    Moved,
    /// Time may have run or may have been moved; its owner knows. A step forward that is large, or larger than the
    /// elapsed steady time explains, or a step of any kind across lost samples.
    Unexplained,
    /// A large step forward whose messages the user wants to skip.
    Skipped,
}

/// The step by which an owner shows a seek to the time that it is.
pub(super) const NANOSECOND: Duration = Duration::from_nanos(1);
/// Samples of a clock that ticks are further apart than this, in nanoseconds.
const MOMENT: i64 = 1_000_000;
/// Factor by which time may be faster than before for a moment: samples do not arrive evenly.
const UNEVEN: i128 = 4;

#[derive(Default)]
struct Queue {
    /// Whether a run follows the clock.
    is_followed: bool,
    /// The first time since then.
    first: Option<i64>,
    /// Length of the last step, and its steady time.
    pace: Option<(i64, i64)>,
    /// The last step went back by a nanosecond.
    nudged_back: bool,
    jumps: VecDeque<ExternalJump>,
}

impl Queue {
    /// Applies a step; returns whether it ends a seek of the owner to the time that its clock showed already: a
    /// nanosecond back and the same forward again.
    fn is_repeat(&mut self, step: Duration) -> bool {
        let was_back = std::mem::replace(&mut self.nudged_back, step == -NANOSECOND);
        was_back && step == NANOSECOND
    }

    /// Applies a step; returns whether it is larger than the elapsed steady time explains.
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

impl ExternalJumps {
    pub(super) fn new(
        steps: ClockSteps,
        mailbox: &Arc<Mailbox>,
        samples: &Arc<Mutex<ClockSamples>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            steps,
            mailbox: Arc::clone(mailbox),
            samples: Arc::clone(samples),
        })
    }

    /// Queues the jumps of a clock until the handle is dropped.
    pub(super) fn watch(self: &Arc<Self>, clock: &dyn PlayerClock) -> JumpHandle {
        let (before, after) = (Arc::clone(self), Arc::clone(self));
        clock.add_jump_handler(
            JumpHandler::new("player", JumpThreshold::ANY)
                .before(move |jump| before.add(jump))
                .after(move |_| after.mark_shown()),
        )
    }

    /// Follows the clock from now on: from its current time, or from its first time.
    pub(super) fn begin(&self, clock: &dyn PlayerClock) {
        *self.queue() = Queue {
            is_followed: true,
            ..Queue::default()
        };
        if clock.clock().started() {
            let now = clock.now().nanos();
            self.queue().first.get_or_insert(now);
        }
    }

    /// Ends the effect of [`begin`](Self::begin).
    pub(super) fn end(&self) {
        *self.queue() = Queue::default();
    }

    /// The first time since [`begin`](Self::begin).
    pub(super) fn first(&self) -> Option<i64> {
        self.queue().first
    }

    /// The next jump to follow.
    pub(super) fn next(&self) -> Option<ExternalJump> {
        self.queue().jumps.front().copied()
    }

    /// Explains the next jump by the jumps of its owner; none if the owner has no jumps.
    pub(super) fn explained(&self, made: &[ClockJump]) {
        let mut queue = self.queue();
        let Some(jump) = queue.jumps.front_mut() else {
            return;
        };
        if let Some(seen) = (!made.is_empty()).then_some(*jump) {
            queue.jumps.pop_front();
            for (from, to) in made.iter().rev() {
                queue.jumps.push_front(ExternalJump {
                    from: *from,
                    to: *to,
                    kind: JumpKind::Moved,
                    ..seen
                });
            }
        } else if jump.to < jump.from {
            jump.kind = JumpKind::Moved;
        } else if self.is_skipped(jump.to.saturating_sub(jump.from)) {
            jump.kind = JumpKind::Skipped;
        } else {
            queue.jumps.pop_front();
        }
    }

    /// The next jump was followed.
    pub(super) fn pop(&self) {
        self.queue().jumps.pop_front();
    }

    /// Called before the clock shows the new time, so that a thread that sees that time finds the jump.
    fn add(&self, jump: &TimeJump<Ros>) {
        let (from, to) = (jump.old.nanos(), jump.new.nanos());
        let step = lock(&self.samples).step_to(to);
        let mut queue = self.queue();
        if !queue.is_followed {
            return;
        }
        if queue.first.is_none() {
            queue.first = Some(to);
            return;
        }
        let sudden = step
            .as_ref()
            .is_some_and(|step| queue.is_sudden(step.passed, jump.delta.nanos()));
        let lost = step.as_ref().is_some_and(|step| step.lost_samples);
        let back = jump.change != ClockChange::NoChange || jump.delta < Duration::ZERO;
        let repeats = queue.is_repeat(jump.delta);
        let kind = if lost || !back && (sudden || self.is_skipped(jump.delta.nanos())) {
            JumpKind::Unexplained
        } else if back || repeats {
            JumpKind::Moved
        } else {
            return;
        };
        if queue.jumps.len() >= MAX_QUEUED
            && let Some(last) = queue.jumps.back_mut()
        {
            last.to = to;
        } else {
            queue.jumps.push_back(ExternalJump {
                from,
                to,
                is_shown: false,
                kind,
                samples: step.and_then(|step| step.samples),
            });
        }
        drop(queue);
        self.mailbox.ring();
    }

    /// Whether the user wants to skip the messages of a step forward.
    fn is_skipped(&self, step: i64) -> bool {
        match self.steps {
            ClockSteps::PlayAll => false,
            ClockSteps::SkipBeyond(most) => step > most.nanos(),
        }
    }

    fn mark_shown(&self) {
        let mut queue = self.queue();
        let mut changed = false;
        let jumps = queue.jumps.iter_mut().rev();
        for jump in jumps.take_while(|jump| !jump.is_shown) {
            jump.is_shown = true;
            changed = true;
        }
        drop(queue);
        if changed {
            self.mailbox.ring();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }
}
