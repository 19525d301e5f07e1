use crate::jump::{ClockChange, JumpCause};
use crate::playback_rate::PlaybackRate;
use crate::raw_jump::RawJump;
use crate::segment::Segment;

/// The current origin of a clock's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The machine's (or the virtual base's) own clock.
    Passthrough,
    /// A segment: set by a source, controlled, paused or extrapolated.
    Steered,
}

/// Everything that determines the time of a clock. Readers see it through
/// [`SnapshotCell`](crate::snapshot_cell::SnapshotCell); changes are pure functions of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockState {
    pub(crate) mode: Mode,
    /// The time of a steered clock; for a clock in passthrough, its time when activated.
    pub(crate) segment: Segment,
    /// The rate to resume with; a paused clock keeps it.
    pub(crate) rate: PlaybackRate,
    pub(crate) paused: bool,
    /// A controlled clock stops here until the ceiling is raised; `i64::MAX` for none.
    pub(crate) ceiling: i64,
    /// Whether the segment is a time; false until a source sends something other than zero.
    pub(crate) started: bool,
    /// The last step forward of a source; zero while none is known.
    pub(crate) last_step: i64,
    /// Counts jumps and source changes: two readings of one epoch are comparable.
    pub(crate) epoch: u64,
    /// Counts the events that handlers and waits get: jumps, source changes, and ticks that are a jump for one of them.
    pub(crate) revision: u64,
}

/// Readings of the time base at the moment of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseNow {
    /// Steady time, the argument of segments.
    pub(crate) steady: i64,
    /// The time of the clock in passthrough.
    pub(crate) passthrough: i64,
}

impl BaseNow {
    /// Passthrough time minus steady time.
    pub(crate) fn offset(self) -> i64 {
        self.passthrough.wrapping_sub(self.steady)
    }
}

/// A change of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A source sets the time.
    Tick(i64),
    /// A source's sample, extrapolated; `jump` when the source itself jumped.
    Steer { segment: Segment, jump: bool },
    /// The source takes over from the machine's clock.
    Activate,
    /// The machine's clock takes over from the source.
    Deactivate,
    /// Time stops.
    Pause,
    /// Time continues from where it stopped.
    Resume,
    /// Time continues at another rate.
    SetRate(PlaybackRate),
    /// Time jumps.
    JumpTo(i64),
    /// Time stops at this ceiling.
    SetCeiling(i64),
    /// The machine's system clock was set, by this much.
    SystemStepped(i64),
}

impl Operation {
    /// Whether it is an operation of a time source, and not of a call.
    pub(crate) fn is_of_source(self) -> bool {
        matches!(
            self,
            Self::Tick(_) | Self::Steer { .. } | Self::Activate | Self::Deactivate
        )
    }
}

/// The result of an operation: the state to publish and the jump, if it is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) state: ClockState,
    pub(crate) jump: Option<RawJump>,
}

impl ClockState {
    pub(crate) fn passthrough() -> Self {
        Self {
            mode: Mode::Passthrough,
            segment: Segment::fixed(0),
            rate: PlaybackRate::REAL_TIME,
            paused: false,
            ceiling: i64::MAX,
            started: false,
            last_step: 0,
            epoch: 0,
            revision: 0,
        }
    }

    /// Whether the clock has a time.
    pub(crate) fn is_started(&self) -> bool {
        self.mode == Mode::Passthrough || self.started
    }

    /// The time of the clock.
    pub(crate) fn now(&self, base: BaseNow) -> i64 {
        match self.mode {
            Mode::Passthrough => base.passthrough,
            Mode::Steered => self.segment.eval(base.steady),
        }
    }

    /// Whether the clock shows a fixed time.
    pub(crate) fn is_fixed(&self) -> bool {
        self.mode == Mode::Steered && self.segment.is_fixed()
    }

    /// The latest time that is reached by waiting alone.
    pub(crate) fn horizon(&self) -> i64 {
        match self.mode {
            Mode::Passthrough => i64::MAX,
            Mode::Steered => self.segment.horizon(),
        }
    }

    /// Applies an operation; pure.
    pub(crate) fn apply(&self, operation: Operation, base: BaseNow) -> Transition {
        match operation {
            Operation::Tick(time) => self.steer(Segment::fixed(time), false, base),
            // Extrapolated time that is ahead of its source waits for it; only a jump goes back.
            Operation::Steer {
                segment,
                jump: false,
            } if self.mode == Mode::Steered => {
                self.steer(segment.with_floor(self.now(base)), false, base)
            }
            Operation::Steer { segment, jump } => self.steer(segment, jump, base),
            Operation::Activate => self.switch(Mode::Steered, base),
            Operation::Deactivate => self.switch(Mode::Passthrough, base),
            Operation::Pause => self.run(true, self.rate, base),
            Operation::Resume => self.run(false, self.rate, base),
            Operation::SetRate(rate) => self.run(self.paused, rate, base),
            Operation::JumpTo(time) => self.jump_to(time, base),
            Operation::SetCeiling(ceiling) => self.limit(ceiling, base),
            Operation::SystemStepped(delta) => self.stepped(delta, base),
        }
    }

    fn steer(&self, segment: Segment, jump: bool, base: BaseNow) -> Transition {
        let mut state = Self { segment, ..*self };
        let new = segment.eval(base.steady);
        // Zero means that there is no time yet. After the first other value it is a valid time: a simulator that is
        // reset starts there.
        state.started = self.started || new != 0;
        if self.mode == Mode::Passthrough {
            return Transition { state, jump: None };
        }
        let old = self.now(base);
        // The first sample starts the clock: it is not a jump of fifty years.
        let change = if state.started && !self.started {
            ClockChange::RosTimeStarted
        } else {
            ClockChange::NoChange
        };
        if new < old || jump || change != ClockChange::NoChange {
            state.jumped(change, JumpCause::Source, old, new)
        } else {
            state.tick(old, new)
        }
    }

    /// A step forward: relevant only for handlers and waits that request forward jumps.
    fn tick(mut self, old: i64, new: i64) -> Transition {
        if new <= old {
            return Transition {
                state: self,
                jump: None,
            };
        }
        let jump = RawJump {
            change: ClockChange::NoChange,
            cause: JumpCause::Source,
            old,
            new,
            usual_step: self.last_step,
            epoch: self.epoch,
            revision: self.revision,
        };
        self.last_step = new.saturating_sub(old);
        Transition {
            state: self,
            jump: Some(jump),
        }
    }

    fn switch(&self, mode: Mode, base: BaseNow) -> Transition {
        if self.mode == mode {
            return Transition {
                state: *self,
                jump: None,
            };
        }
        let mut state = Self { mode, ..*self };
        let (old, new) = (self.now(base), state.now(base));
        let change = match mode {
            Mode::Steered => ClockChange::RosTimeActivated,
            Mode::Passthrough => {
                state.segment = Segment::fixed(0);
                state.started = false;
                state.last_step = 0;
                ClockChange::RosTimeDeactivated
            }
        };
        state.jumped(change, JumpCause::Source, old, new)
    }

    fn run(&self, paused: bool, rate: PlaybackRate, base: BaseNow) -> Transition {
        let now = self.segment.eval(base.steady);
        let segment = if paused {
            Segment::fixed(now).anchored_at(base.steady)
        } else {
            Segment::running(now, base.steady, rate).with_cap(self.ceiling.max(now))
        };
        let state = Self {
            segment,
            rate,
            paused,
            ..*self
        };
        Transition { state, jump: None }
    }

    fn jump_to(&self, time: i64, base: BaseNow) -> Transition {
        let segment = if self.paused {
            Segment::fixed(time).anchored_at(base.steady)
        } else {
            Segment::running(time, base.steady, self.rate).with_cap(self.ceiling.max(time))
        };
        let state = Self { segment, ..*self };
        state.jumped(
            ClockChange::NoChange,
            JumpCause::Control,
            self.now(base),
            time,
        )
    }

    /// Time that stopped at the old ceiling continues from there; time that was below it is not touched, so that
    /// repeated calls do not accumulate rounding.
    fn limit(&self, ceiling: i64, base: BaseNow) -> Transition {
        let state = Self { ceiling, ..*self };
        if self.paused {
            return Transition { state, jump: None };
        }
        let now = self.segment.eval(base.steady);
        let segment = if now >= self.segment.cap {
            Segment::running(now, base.steady, self.rate)
        } else {
            self.segment
        };
        let segment = segment.with_cap(ceiling.max(now));
        Transition {
            state: Self { segment, ..state },
            jump: None,
        }
    }

    fn stepped(&self, delta: i64, base: BaseNow) -> Transition {
        if self.mode == Mode::Steered {
            return Transition {
                state: *self,
                jump: None,
            };
        }
        let new = base.passthrough;
        self.jumped(
            ClockChange::NoChange,
            JumpCause::SystemStep,
            new.saturating_sub(delta),
            new,
        )
    }

    fn jumped(mut self, change: ClockChange, cause: JumpCause, old: i64, new: i64) -> Transition {
        self.epoch += 1;
        self.revision += 1;
        let jump = RawJump {
            change,
            cause,
            old,
            new,
            usual_step: self.last_step,
            epoch: self.epoch,
            revision: self.revision,
        };
        Transition {
            state: self,
            jump: Some(jump),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: BaseNow = BaseNow {
        steady: 100,
        passthrough: 5_000,
    };

    fn at(steady: i64) -> BaseNow {
        BaseNow { steady, ..BASE }
    }

    fn active(value: i64) -> ClockState {
        let started = ClockState::passthrough()
            .apply(Operation::Tick(value), BASE)
            .state;
        started.apply(Operation::Activate, BASE).state
    }

    #[test]
    fn a_tick_while_inactive_is_stored_and_unseen() {
        let transition = ClockState::passthrough().apply(Operation::Tick(7), BASE);
        assert!(transition.jump.is_none());
        assert_eq!(transition.state.now(BASE), 5_000);
        assert_eq!(
            transition
                .state
                .apply(Operation::Activate, BASE)
                .state
                .now(BASE),
            7
        );
    }

    #[test]
    fn deactivation_forgets_the_override() {
        let off = active(7).apply(Operation::Deactivate, BASE);
        assert_eq!(off.jump.unwrap().change, ClockChange::RosTimeDeactivated);
        assert_eq!(off.state.now(BASE), 5_000);
        assert_eq!(
            off.state.apply(Operation::Activate, BASE).state.now(BASE),
            0
        );
    }

    #[test]
    fn the_first_sample_starts_the_clock() {
        let waiting = ClockState::passthrough()
            .apply(Operation::Activate, BASE)
            .state;
        let jump = waiting.apply(Operation::Tick(9), BASE).jump.unwrap();
        assert_eq!(
            (jump.change, jump.old, jump.new),
            (ClockChange::RosTimeStarted, 0, 9)
        );
    }

    #[test]
    fn only_a_step_back_makes_a_new_epoch() {
        let state = active(50);
        let forward = state.apply(Operation::Tick(60), BASE);
        assert_eq!(forward.state.epoch, state.epoch);
        assert_eq!(forward.jump.unwrap().delta(), 10);
        let same = state.apply(Operation::Tick(50), BASE);
        assert!(same.jump.is_none());
        let back = forward.state.apply(Operation::Tick(55), BASE);
        assert_eq!(back.state.epoch, state.epoch + 1);
        assert_eq!(back.jump.unwrap().delta(), -5);
    }

    #[test]
    fn a_rate_set_while_paused_is_kept_for_later() {
        let mut state = active(0);
        state.segment = Segment::running(1_000, 100, PlaybackRate::REAL_TIME);
        let paused = state.apply(Operation::Pause, at(110)).state;
        assert_eq!(paused.now(at(500)), 1_010);
        let faster = paused
            .apply(Operation::SetRate(PlaybackRate::new(3.0).unwrap()), at(500))
            .state;
        assert_eq!(faster.now(at(600)), 1_010);
        let running = faster.apply(Operation::Resume, at(600)).state;
        assert_eq!(running.now(at(610)), 1_040);
    }

    #[test]
    fn a_system_step_is_seen_in_passthrough_only() {
        let seen = ClockState::passthrough().apply(Operation::SystemStepped(-40), BASE);
        assert_eq!(seen.jump.unwrap().delta(), -40);
        assert!(
            active(7)
                .apply(Operation::SystemStepped(-40), BASE)
                .jump
                .is_none()
        );
    }
}
