//! The cases of rcl's `test_time` for a ROS clock, with our own assertions.
//!
//! Not re-created: `failed_get_now` and `fail_ros_time_override` (reading cannot fail, and only clocks that a
//! source can steer have an override, by type), allocation failures, `rcl_time_difference` (in `types.rs`).

use timeloom_time::{
    Clock, ClockChange, JumpHandler, JumpThreshold, Ros, RosSteady, SourceState, System, TimeError,
    VirtualTime,
};

use crate::support::{Log, at, deltas, ns, overridden, secs, watch};

/// `test_rcl_ros_time_set_override`.
#[test]
fn an_override_is_invisible_until_active_and_discarded_after() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    let system = Clock::<System>::on(&world.base());
    let shows_system = |clock: &Clock<Ros>| clock.now().nanos() == system.now().nanos();
    clock.set_override(at(123));
    assert!(shows_system(&clock));
    assert_eq!(clock.source_state(), SourceState::Inactive);
    clock.activate_override();
    assert_eq!(clock.now(), at(123));
    assert_eq!(clock.source_state(), SourceState::Active);
    world.advance(secs(10));
    assert_eq!(clock.now(), at(123));
    clock.set_override(at(456));
    assert_eq!(clock.now(), at(456));
    clock.deactivate_override();
    assert!(shows_system(&clock));
    world.advance(secs(10));
    assert!(shows_system(&clock));
}

/// `test_ros_clock_initially_zero`, `rcl_clock_time_started`.
#[test]
fn an_active_clock_shows_zero_and_has_not_started_before_its_first_time() {
    let clock = Clock::<Ros>::on(&VirtualTime::manual().base());
    assert!(clock.started(), "system time has");
    clock.activate_override();
    assert_eq!(clock.now(), at(0));
    assert!(!clock.started());
    assert_eq!(
        clock.try_now().unwrap_err(),
        timeloom_time::NoTime::NotStarted
    );
    clock.set_override(at(1));
    assert!(clock.started());
    assert_eq!(clock.try_now(), Ok(at(1)));
}

/// `rcl_time_clock_change_callbacks`.
#[test]
fn handlers_are_called_only_for_real_changes_of_the_source() {
    let clock = Clock::<Ros>::on(&VirtualTime::manual().base());
    let (_handle, log) = watch(&clock, JumpThreshold::new().clock_change());
    let changes = || -> Vec<_> {
        let seen = log.take();
        seen.into_iter()
            .map(|(step, jump)| (step, jump.change))
            .collect()
    };
    clock.deactivate_override();
    assert_eq!(changes(), []);
    clock.activate_override();
    let on = ClockChange::RosTimeActivated;
    assert_eq!(changes(), [("before", on), ("after", on)]);
    clock.activate_override();
    assert_eq!(changes(), []);
    clock.deactivate_override();
    let off = ClockChange::RosTimeDeactivated;
    assert_eq!(changes(), [("before", off), ("after", off)]);
    clock.deactivate_override();
    assert_eq!(changes(), []);
}

/// `rcl_time_fail_set_jump_callbacks`, rclpy `test_invalid_jump_threshold`.
#[test]
fn a_threshold_of_the_wrong_sign_is_refused_with_its_number() {
    for bad in [0, -1] {
        let direction = "forward";
        let error = TimeError::JumpThresholdSign {
            direction,
            nanoseconds: bad,
        };
        assert_eq!(JumpThreshold::new().forward(ns(bad)), Err(error));
    }
    for bad in [0, 1] {
        let direction = "backward";
        let error = TimeError::JumpThresholdSign {
            direction,
            nanoseconds: bad,
        };
        assert_eq!(JumpThreshold::new().backward(ns(bad)), Err(error));
    }
    assert!(JumpThreshold::new().is_empty());
}

/// `rcl_time_forward_jump_callbacks`, `rcl_time_backward_jump_callbacks`.
#[test]
fn handlers_are_called_while_active_for_their_direction_with_the_exact_length() {
    let clock = Clock::<Ros>::on(&VirtualTime::manual().base());
    let (_forward, forward) = watch(&clock, JumpThreshold::new().forward(ns(1)).unwrap());
    let (_backward, backward) = watch(&clock, JumpThreshold::new().backward(ns(-1)).unwrap());
    clock.set_override(at(1_000_000_000));
    clock.set_override(at(2_000_000_000));
    assert_eq!(
        (deltas(&forward), deltas(&backward)),
        (vec![], vec![]),
        "not active"
    );
    clock.activate_override();
    for now in [2_000_000_000, 2_000_000_001, 2_000_000_001, 1_999_999_999] {
        clock.set_override(at(now));
    }
    assert_eq!(deltas(&forward), [1]);
    assert_eq!(deltas(&backward), [-2]);
    clock.deactivate_override();
    clock.set_override(at(1));
    assert_eq!((deltas(&forward), deltas(&backward)), (vec![], vec![]));
}

/// rclpy `test_triggered_time_jump_callbacks`.
#[test]
fn thresholds_of_half_a_second_and_a_second_distinguish_jumps() {
    let clock = overridden(at(1));
    let half = ns(500_000_000);
    let (_half, halves) = watch(&clock, JumpThreshold::new().forward(half).unwrap());
    let (_full, full) = watch(&clock, JumpThreshold::new().forward(secs(1)).unwrap());
    clock.set_override(at(1_000_000_000));
    clock.set_override(at(1_400_000_000));
    clock.set_override(at(2_400_000_000));
    assert_eq!(deltas(&halves), [999_999_999, 1_000_000_000]);
    assert_eq!(deltas(&full), [1_000_000_000]);
}

/// `rcl_time_add_jump_callback`, `rcl_time_remove_jump_callback`, `add_remove_add_jump_callback`: rcl refuses a
/// callback that is registered already; here each registration is separate.
#[test]
fn registrations_are_independent_and_keep_their_order() {
    let clock = overridden(at(100));
    let log = Log::new();
    let add = |name: &'static str| {
        let log = log.clone();
        let handler = JumpHandler::new(name, JumpThreshold::ANY);
        clock.add_jump_handler(handler.after(move |_| log.push(name)))
    };
    let (first, second, third) = (add("first"), add("second"), add("third"));
    let twin = add("first");
    clock.set_override(at(101));
    assert_eq!(log.take(), ["first", "second", "third", "first"]);
    drop(second);
    clock.set_override(at(102));
    assert_eq!(log.take(), ["first", "third", "first"]);
    drop(first);
    let again = add("second");
    clock.set_override(at(103));
    assert_eq!(log.take(), ["third", "first", "second"]);
    drop((third, twin, again));
    clock.set_override(at(104));
    assert!(log.take().is_empty());
}

#[test]
fn a_sim_aware_monotonic_clock_has_the_same_override() {
    let world = VirtualTime::manual();
    let clock = Clock::<RosSteady>::on(&world.base());
    let before = clock.now();
    world.step_system_clock(secs(-1_000));
    assert_eq!(clock.now(), before);
    clock.activate_override();
    clock.set_override(timeloom_time::Time::from_nanos(9));
    assert_eq!(clock.now().nanos(), 9);
}
