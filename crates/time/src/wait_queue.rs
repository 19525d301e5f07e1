use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::clock_state::BaseNow;
use crate::jump::{ClockChange, JumpCause, JumpThreshold};
use crate::raw_jump::RawJump;
use crate::wait::OnJump;
use crate::wait_cell::WaitCell;

/// The waits on one clock, ordered by the clock time each waits for.
#[derive(Default)]
pub(crate) struct WaitQueue {
    entries: BTreeMap<(i64, WaitId), WaitEntry>,
    /// The time under which each wait is filed; a rebased wait moves.
    targets: HashMap<WaitId, i64>,
    /// Number of waits for each smallest forward step that counts as a jump.
    forward: BTreeMap<i64, usize>,
    last_id: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WaitId(u64);

/// One wait.
pub(crate) struct WaitEntry {
    pub(crate) cell: Arc<WaitCell>,
    pub(crate) on_jump: OnJump,
    pub(crate) threshold: JumpThreshold,
    /// The clock's revision at the last look of this wait.
    pub(crate) revision: u64,
    /// The effect of the start of time on the wait.
    pub(crate) at_start: AtStart,
    /// The time base at the last look of this wait.
    pub(crate) base: BaseNow,
    /// A jump that ends the wait.
    pub(crate) jump: Option<RawJump>,
}

/// The reaction of a wait to the first sample of its clock's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtStart {
    /// The same as at any jump.
    Jump,
    /// Keeps waiting for its point in time, like a sleep of rclcpp: there was no time to jump from.
    GoOn,
    /// Ends: it waited for the start.
    Reach,
}

/// A clock is notified of a step of the system clock a little later; waits begun this long before may have seen it.
const STEP_NOTICE: i64 = 2_000_000_000;

/// The effect of a jump on a wait.
enum Effect {
    Nothing,
    End,
    /// The end moves with the clock.
    Move,
    Reach,
}

impl WaitEntry {
    fn takes(&self, jump: &RawJump) -> Effect {
        let started = jump.change == ClockChange::RosTimeStarted;
        if started && self.at_start == AtStart::Reach {
            return Effect::Reach;
        }
        if !jump.counts(self.threshold) {
            return Effect::Nothing;
        }
        match (self.on_jump, self.at_start) {
            (OnJump::Return, AtStart::GoOn) if started => Effect::Nothing,
            (OnJump::Return, _) => Effect::End,
            // A source that sends its time in steps: with a threshold below them no sleep would ever end.
            (OnJump::Rebase, _) if !jump.is_usual_step() => Effect::Move,
            (OnJump::Rebase | OnJump::Ignore, _) => Effect::Nothing,
        }
    }

    /// Whether the wait began after the system clock was set, but before the clock learned of it.
    fn knows_step(&self, jump: &RawJump, base: BaseNow) -> bool {
        // Decided by whether it is nearer to having seen all of the step or nothing of it: offsets are measured.
        let missed = base.offset().abs_diff(self.base.offset());
        jump.cause == JumpCause::SystemStep
            && base.steady.saturating_sub(self.base.steady) < STEP_NOTICE
            && missed < jump.shift().unsigned_abs() / 2
    }
}

impl WaitQueue {
    pub(crate) fn insert(&mut self, target: i64, entry: WaitEntry) -> WaitId {
        self.last_id += 1;
        let id = WaitId(self.last_id);
        *self
            .forward
            .entry(entry.threshold.forward_interest())
            .or_default() += 1;
        self.targets.insert(id, target);
        self.entries.insert((target, id), entry);
        id
    }

    pub(crate) fn remove(&mut self, id: WaitId) -> Option<WaitEntry> {
        let target = self.targets.remove(&id)?;
        let entry = self.entries.remove(&(target, id))?;
        let interest = entry.threshold.forward_interest();
        if let Some(count) = self.forward.get_mut(&interest) {
            *count -= 1;
            if *count == 0 {
                self.forward.remove(&interest);
            }
        }
        Some(entry)
    }

    pub(crate) fn get(&self, id: WaitId) -> Option<(i64, &WaitEntry)> {
        let target = *self.targets.get(&id)?;
        Some((target, self.entries.get(&(target, id))?))
    }

    /// The earliest deadline of all waits; `i64::MAX` without waits.
    pub(crate) fn next(&self) -> i64 {
        self.entries
            .keys()
            .next()
            .map_or(i64::MAX, |(target, _)| *target)
    }

    /// The smallest step forward that counts as a jump for any wait; `i64::MAX` for none.
    pub(crate) fn forward_interest(&self) -> i64 {
        self.forward.keys().next().copied().unwrap_or(i64::MAX)
    }

    /// The cells of every wait for `horizon` or earlier.
    pub(crate) fn up_to(&self, horizon: i64) -> Vec<Arc<WaitCell>> {
        self.entries
            .range(..=(horizon, WaitId(u64::MAX)))
            .map(|(_, entry)| Arc::clone(&entry.cell))
            .collect()
    }

    /// Notifies every wait that began before the jump; returns the cells to signal.
    pub(crate) fn deliver(&mut self, jump: &RawJump, base: BaseNow) -> Vec<Arc<WaitCell>> {
        let mut moved = Vec::new();
        for ((target, id), entry) in &mut self.entries {
            if entry.revision >= jump.revision {
                continue;
            }
            entry.revision = jump.revision;
            if entry.knows_step(jump, base) {
                continue;
            }
            entry.base = base;
            match entry.takes(jump) {
                Effect::End => entry.jump = entry.jump.or(Some(*jump)),
                Effect::Move => {
                    moved.push((*target, *id, target.saturating_add(jump.shift())));
                }
                Effect::Reach => moved.push((*target, *id, i64::MIN)),
                Effect::Nothing => {}
            }
        }
        for (target, id, moved_to) in moved {
            if let Some(entry) = self.entries.remove(&(target, id)) {
                self.targets.insert(id, moved_to);
                self.entries.insert((moved_to, id), entry);
            }
        }
        self.up_to(i64::MAX)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::wait_cell::Party;

    const BASE: BaseNow = BaseNow {
        steady: 0,
        passthrough: 0,
    };

    fn entry(on_jump: OnJump) -> WaitEntry {
        WaitEntry {
            cell: WaitCell::new(Party::Thread, None),
            on_jump,
            threshold: JumpThreshold::DISRUPTIVE,
            revision: 0,
            at_start: AtStart::Jump,
            base: BASE,
            jump: None,
        }
    }

    fn jump(old: i64, new: i64) -> RawJump {
        RawJump {
            change: ClockChange::NoChange,
            cause: JumpCause::Source,
            old,
            new,
            usual_step: 0,
            epoch: 1,
            revision: 1,
        }
    }

    #[test]
    fn the_earliest_deadline_is_first_and_removed_waits_leave_nothing() {
        let mut queue = WaitQueue::default();
        assert_eq!(queue.next(), i64::MAX);
        let late = queue.insert(20, entry(OnJump::Ignore));
        let early = queue.insert(10, entry(OnJump::Ignore));
        assert_eq!(queue.next(), 10);
        assert!(queue.remove(early).is_some());
        assert!(queue.remove(early).is_none());
        assert_eq!(queue.next(), 20);
        assert!(queue.remove(late).is_some());
        assert!(queue.targets.is_empty());
        assert_eq!(queue.forward_interest(), i64::MAX);
    }

    #[test]
    fn only_due_waits_are_found() {
        let mut queue = WaitQueue::default();
        let due = queue.insert(10, entry(OnJump::Ignore));
        let later = queue.insert(11, entry(OnJump::Ignore));
        let cells = queue.up_to(10);
        assert_eq!(cells.len(), 1);
        assert!(Arc::ptr_eq(&cells[0], &queue.get(due).unwrap().1.cell));
        assert!(queue.get(later).is_some());
    }

    #[test]
    fn each_wait_handles_a_jump_by_its_policy() {
        let mut queue = WaitQueue::default();
        let [returns, ignores, rebases] = [OnJump::Return, OnJump::Ignore, OnJump::Rebase]
            .map(|on_jump| queue.insert(50, entry(on_jump)));
        queue.deliver(&jump(40, 10), BASE);
        assert_eq!(queue.get(returns).unwrap().1.jump, Some(jump(40, 10)));
        assert_eq!(queue.get(ignores).unwrap().0, 50);
        assert_eq!(
            queue.get(rebases).unwrap().0,
            20,
            "ten remained, ten remain"
        );
        assert_eq!(queue.next(), 20);
    }

    #[test]
    fn a_wait_that_began_after_the_jump_is_not_notified() {
        let mut queue = WaitQueue::default();
        let fresh = queue.insert(
            50,
            WaitEntry {
                revision: 1,
                ..entry(OnJump::Return)
            },
        );
        queue.deliver(&jump(40, 10), BASE);
        assert!(queue.get(fresh).unwrap().1.jump.is_none());
    }
}
