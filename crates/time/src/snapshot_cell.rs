use crate::clock_state::{ClockState, Mode};
use crate::playback_rate::Slope;
use crate::segment::Segment;
use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

/// A clock's state as readers see it: a sequence lock, one cache line, no locks on the read path.
///
/// Writers are serialised by the clock. A reader takes the sequence number, the fields and, *inside the
/// same window*, the machine's clock; an unchanged sequence number then proves that all belong together.
/// Reading the machine's clock outside the window let time run backwards in a pause storm (139 times in
/// 40,000 toggles); inside, never.
#[repr(align(64))]
pub(crate) struct SnapshotCell {
    /// Even: stable. Odd: a write is going on.
    sequence: AtomicU32,
    flags: AtomicU32,
    ros_ref: AtomicI64,
    steady_ref: AtomicI64,
    mantissa: AtomicU64,
    floor: AtomicI64,
    cap: AtomicI64,
    epoch: AtomicU64,
}

/// What a reader needs to plan a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) mode: Mode,
    pub(crate) segment: Segment,
    pub(crate) epoch: u64,
}

/// Why a lock-free read gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contended {
    /// A writer was at work: try again.
    Writing,
    /// The handlers of a backward jump run; the new time is not out yet.
    Jumping,
}

const STEERED: u32 = 1;
const JUMPING: u32 = 2;
/// The segment stands still: only `ros_ref` needs to be read.
const FIXED: u32 = 4;
/// The segment has no bounds.
const UNBOUNDED: u32 = 8;
const SHIFT_AT: u32 = 8;

impl SnapshotCell {
    pub(crate) fn new(state: &ClockState) -> Self {
        let cell = Self {
            sequence: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            ros_ref: AtomicI64::new(0),
            steady_ref: AtomicI64::new(0),
            mantissa: AtomicU64::new(0),
            floor: AtomicI64::new(0),
            cap: AtomicI64::new(0),
            epoch: AtomicU64::new(0),
        };
        cell.store(state, false);
        cell
    }

    /// Publishes a state. The caller serialises writers.
    pub(crate) fn store(&self, state: &ClockState, jumping: bool) {
        self.write().commit(state, jumping);
    }

    /// Keeps readers waiting until the window is committed. The caller serialises writers.
    ///
    /// A writer that derives the new state from the machine's clock reads that clock inside the window:
    /// then no reader has seen the old state at a later instant, and time does not step back.
    pub(crate) fn write(&self) -> WriteWindow<'_> {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        // A full fence, not just release: the odd number must be out before the clock is read.
        fence(Ordering::SeqCst);
        WriteWindow {
            cell: self,
            sequence,
        }
    }

    /// What the clock shows now, without blocking.
    #[inline]
    pub(crate) fn now(
        &self,
        steady: impl Fn() -> i64,
        passthrough: impl Fn() -> i64,
    ) -> Result<i64, Contended> {
        self.window(|flags| {
            if flags & FIXED != 0 {
                self.ros_ref.load(Ordering::Relaxed)
            } else if flags & STEERED == 0 {
                passthrough()
            } else {
                self.segment(flags).eval(steady())
            }
        })
    }

    /// The whole state, without blocking.
    pub(crate) fn load(&self) -> Result<Snapshot, Contended> {
        self.window(|flags| Snapshot {
            mode: if flags & STEERED == 0 {
                Mode::Passthrough
            } else {
                Mode::Steered
            },
            segment: Segment {
                floor: self.floor.load(Ordering::Relaxed),
                cap: self.cap.load(Ordering::Relaxed),
                ..self.segment(flags)
            },
            epoch: self.epoch.load(Ordering::Relaxed),
        })
    }

    #[inline]
    fn segment(&self, flags: u32) -> Segment {
        let bounded = flags & UNBOUNDED == 0;
        Segment {
            ros_ref: self.ros_ref.load(Ordering::Relaxed),
            steady_ref: self.steady_ref.load(Ordering::Relaxed),
            slope: Slope {
                mantissa: self.mantissa.load(Ordering::Relaxed),
                shift: flags >> SHIFT_AT,
            },
            floor: if bounded {
                self.floor.load(Ordering::Relaxed)
            } else {
                i64::MIN
            },
            cap: if bounded {
                self.cap.load(Ordering::Relaxed)
            } else {
                i64::MAX
            },
        }
    }

    #[inline]
    fn window<T>(&self, read: impl FnOnce(u32) -> T) -> Result<T, Contended> {
        let before = self.sequence.load(Ordering::Acquire);
        if before & 1 == 1 {
            return Err(Contended::Writing);
        }
        let flags = self.flags.load(Ordering::Relaxed);
        let value = read(flags);
        fence(Ordering::Acquire);
        if self.sequence.load(Ordering::Relaxed) != before {
            Err(Contended::Writing)
        } else if flags & JUMPING != 0 {
            Err(Contended::Jumping)
        } else {
            Ok(value)
        }
    }
}

/// Readers wait while this lives.
#[must_use = "readers wait until the window is committed"]
pub(crate) struct WriteWindow<'a> {
    cell: &'a SnapshotCell,
    sequence: u32,
}

impl WriteWindow<'_> {
    /// Publishes a state; `jumping` keeps readers away from it until the next one.
    pub(crate) fn commit(self, state: &ClockState, jumping: bool) {
        let (cell, segment) = (self.cell, &state.segment);
        cell.flags
            .store(flags_of(state, jumping), Ordering::Relaxed);
        cell.ros_ref.store(segment.ros_ref, Ordering::Relaxed);
        cell.steady_ref.store(segment.steady_ref, Ordering::Relaxed);
        cell.mantissa
            .store(segment.slope.mantissa, Ordering::Relaxed);
        cell.floor.store(segment.floor, Ordering::Relaxed);
        cell.cap.store(segment.cap, Ordering::Relaxed);
        cell.epoch.store(state.epoch, Ordering::Relaxed);
    }
}

impl Drop for WriteWindow<'_> {
    fn drop(&mut self) {
        self.cell
            .sequence
            .store(self.sequence.wrapping_add(2), Ordering::Release);
    }
}

fn flags_of(state: &ClockState, jumping: bool) -> u32 {
    let segment = &state.segment;
    let mut flags = segment.slope.shift << SHIFT_AT;
    if state.mode == Mode::Steered {
        flags |= STEERED;
        if segment.is_fixed() && segment.floor == segment.ros_ref {
            flags |= FIXED;
        }
    }
    if segment.floor == i64::MIN && segment.cap == i64::MAX {
        flags |= UNBOUNDED;
    }
    if jumping {
        flags |= JUMPING;
    }
    flags
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::playback_rate::PlaybackRate;

    fn steered(segment: Segment) -> ClockState {
        ClockState {
            mode: Mode::Steered,
            segment,
            epoch: 3,
            ..ClockState::passthrough()
        }
    }

    #[test]
    fn reads_back_every_kind_of_segment() {
        let rate = PlaybackRate::new(2.5).unwrap();
        for segment in [
            Segment::fixed(42),
            Segment::running(10, 20, rate),
            Segment::bounded(10, 20, 0.75, 12, 99),
        ] {
            let cell = SnapshotCell::new(&steered(segment));
            assert_eq!(
                cell.load().unwrap(),
                Snapshot {
                    mode: Mode::Steered,
                    segment,
                    epoch: 3
                }
            );
            assert_eq!(cell.now(|| 40, || unreachable!()), Ok(segment.eval(40)));
        }
    }

    #[test]
    fn passthrough_reads_the_base() {
        let cell = SnapshotCell::new(&ClockState::passthrough());
        assert_eq!(cell.now(|| 1, || 77), Ok(77));
    }

    #[test]
    fn a_jump_in_progress_is_reported_not_read() {
        let cell = SnapshotCell::new(&steered(Segment::fixed(1)));
        cell.store(&steered(Segment::fixed(1)), true);
        assert_eq!(cell.now(|| 0, || 0), Err(Contended::Jumping));
        assert_eq!(cell.load(), Err(Contended::Jumping));
    }
}
