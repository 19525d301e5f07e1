//! Points in time, durations and their wire form.
//!
//! Test names that end in an upstream name re-create the assertions of that test.

use std::cmp::Ordering;
use std::panic::catch_unwind;

use proptest::prelude::*;
use timeloom_time::{
    AnyTime, Duration, KindId, KindOperation, Ros, RosSteady, SourceState, Steady, System, Time,
    TimeError, WireDuration, WireTime,
};

const SECOND: i64 = 1_000_000_000;

fn ros(nanos: i64) -> Time<Ros> {
    Time::from_nanos(nanos)
}

fn wire(sec: i32, nanosec: u32) -> WireTime {
    WireTime { sec, nanosec }
}

#[test]
fn a_point_is_eight_bytes() {
    assert_eq!(size_of::<Time<Ros>>(), 8);
    assert_eq!(size_of::<Option<Duration>>(), 16);
}

#[test]
fn zero_means_uninitialised() {
    assert!(Time::<Ros>::default().is_zero());
    assert!(!ros(1).is_zero());
    assert!(!ros(-1).is_zero());
}

#[test]
fn text_has_nine_decimals_and_a_sign() {
    assert_eq!(ros(1_500_000_000).to_string(), "1.500000000");
    assert_eq!(ros(-1_500_000_000).to_string(), "-1.500000000");
    assert_eq!(ros(-1).to_string(), "-0.000000001");
    assert_eq!(format!("{:.3}", ros(1_999_999_999)), "1.999");
    assert_eq!(format!("{:.0}", ros(1_999_999_999)), "1");
    assert_eq!(format!("{:10.3}", ros(1_999_999_999)), "     1.999");
    assert_eq!(format!("{:>12}", ros(0)), " 0.000000000");
    assert_eq!(Time::<Ros>::MIN.to_string(), "-9223372036.854775808");
    assert_eq!(
        format!("{:?}", Time::<RosSteady>::from_nanos(5)),
        "ros-steady(0.000000005)"
    );
}

/// rclcpp `conversions`, except that negative points are legal here (`sick_scan_xd` #460,
/// rclcpp #525: they throw in the middle of arithmetic there).
#[test]
fn time_conversions() {
    let half = WireTime::try_from(ros(SECOND / 2)).unwrap();
    assert_eq!(half, wire(0, 500_000_000));
    assert_eq!(WireTime::try_from(ros(SECOND)).unwrap(), wire(1, 0));
    assert_eq!(
        WireTime::try_from(ros(SECOND * 3 / 2)).unwrap(),
        wire(1, 500_000_000)
    );
    assert_eq!(
        WireTime::try_from(ros(-SECOND * 3 / 2)).unwrap(),
        wire(-2, 500_000_000)
    );
    assert_eq!(WireTime::try_from(ros(-1)).unwrap(), wire(-1, 999_999_999));
    let system: Time<System> = wire(12345, 67890).into();
    assert_eq!(system.nanos(), 12_345_000_067_890);
}

/// rclcpp `seconds`: nanoseconds beyond a second are carried.
#[test]
fn time_seconds() {
    let carried = Time::<Ros>::from_secs_nanos(0, 2_500_000_000).unwrap();
    assert_eq!(carried.nanos(), 2_500_000_000);
    assert!((carried.as_secs_f64() - 2.5).abs() < f64::EPSILON);
    assert_eq!(Time::<Ros>::from(wire(0, 2_500_000_000)), carried);
    assert!(!wire(0, 2_500_000_000).is_normalized());
    assert_eq!(
        Time::<Ros>::from_secs_nanos(-1, 1),
        Ok(ros(1 - SECOND)),
        "nanoseconds always add"
    );
}

#[test]
fn the_year_2038_is_an_error_or_an_explicit_saturation() {
    let last = ros(i64::from(i32::MAX) * SECOND + 999_999_999);
    assert_eq!(WireTime::try_from(last), Ok(WireTime::MAX));
    let first_bad = last + Duration::NANOSECOND;
    assert_eq!(
        WireTime::try_from(first_bad),
        Err(TimeError::WireRange {
            seconds: 2_147_483_648
        })
    );
    assert_eq!(WireTime::saturating_from(first_bad), WireTime::MAX);
    assert_eq!(
        WireTime::saturating_from(Time::<System>::MIN),
        WireTime::MIN
    );
    assert_eq!(WireTime::saturating_from(ros(-1)), wire(-1, 999_999_999));

    // rclcpp saturates a duration to nanosec 4294967295, which no message may hold.
    let long = WireDuration::saturating_from(Duration::MAX);
    assert_eq!((long.sec, long.nanosec), (i32::MAX, 999_999_999));
    assert!(long.is_normalized());
    let short = WireDuration::saturating_from(Duration::MIN);
    assert_eq!((short.sec, short.nanosec), (i32::MIN, 0));
    assert!(WireDuration::try_from(Duration::MAX).is_err());
    let negative = WireDuration::try_from(Duration::from_millis(-1500)).unwrap();
    assert_eq!((negative.sec, negative.nanosec), (-2, 500_000_000));
}

/// rclcpp `overflows` and the over/underflow message tests.
#[test]
fn time_overflows() {
    assert_eq!(Time::<Ros>::MAX.checked_add(Duration::NANOSECOND), None);
    assert_eq!(Time::<Ros>::MIN.checked_sub(Duration::NANOSECOND), None);
    assert_eq!(Time::<Ros>::MAX.saturating_add(Duration::SECOND), Time::MAX);
    assert_eq!(Time::<Ros>::MIN.saturating_sub(Duration::SECOND), Time::MIN);
    assert_eq!(Time::<Ros>::MAX.checked_since(ros(-1)), None);
    assert_eq!(Time::<Ros>::MAX - ros(-1), Duration::MAX);
    assert_eq!(ros(-2) - Time::<Ros>::MAX, Duration::MIN);
    assert!(Time::<Ros>::from_secs_nanos(i64::MAX, 0).is_err());
    assert_eq!(
        Time::<Ros>::from_secs_nanos(-9_223_372_037, 145_224_192),
        Ok(Time::MIN),
        "only the sum has to fit"
    );
    assert!(catch_unwind(|| Time::<Ros>::MAX + Duration::NANOSECOND).is_err());
    assert!(catch_unwind(|| Time::<Ros>::MIN - Duration::NANOSECOND).is_err());
    // Crossing zero is not an error.
    assert_eq!(ros(1) - Duration::SECOND, ros(1 - SECOND));
}

/// rcl `rcl_time_difference` and `rcl_time_difference_signed` (regression of rcl #204).
#[test]
fn rcl_time_difference_signed() {
    let bound = 2_147_483_647;
    let a = AnyTime::new(KindId::Ros, 0);
    let b = AnyTime::new(KindId::Ros, bound);
    assert_eq!(b.try_since(a), Ok(Duration::from_nanos(bound)));
    assert_eq!(a.try_since(b), Ok(Duration::from_nanos(-bound)));
    let zero = AnyTime::new(KindId::System, 1);
    assert_eq!(
        a.try_since(zero),
        Err(TimeError::KindMismatch {
            operation: KindOperation::Subtract,
            left: KindId::Ros,
            right: KindId::System
        })
    );
    assert_eq!(
        a.try_since(zero).unwrap_err().to_string(),
        "can't subtract ros time and system time"
    );
}

#[test]
fn ros_and_system_time_mix_only_without_a_source() {
    let stamp = ros(7);
    let wall = Time::<System>::from_nanos(5);
    let inactive = SourceState::Inactive;
    assert_eq!(stamp.try_as_system(inactive), Ok(Time::from_nanos(7)));
    assert_eq!(wall.try_as_ros(inactive), Ok(ros(5)));
    assert_eq!(
        stamp.try_since_base(wall, inactive),
        Ok(Duration::from_nanos(2))
    );
    assert_eq!(stamp.try_cmp_base(wall, inactive), Ok(Ordering::Greater));
    let steady = Time::<Steady>::from_nanos(7);
    assert_eq!(
        Time::<RosSteady>::from_nanos(7).try_cmp_base(steady, inactive),
        Ok(Ordering::Equal)
    );

    let active = SourceState::Active;
    assert_eq!(
        stamp.try_since_base(wall, active).unwrap_err().to_string(),
        "can't subtract ros time and system time while a time source is active"
    );
    assert_eq!(
        wall.try_as_ros(active).unwrap_err().to_string(),
        "can't convert system time to ros time while a time source is active"
    );
    assert!(stamp.try_as_system(active).is_err());
    assert!(stamp.try_cmp_base(wall, active).is_err());
}

/// rclcpp `test_duration`: `operators`, `overflows`, `negative_duration`, `exceptions`.
#[test]
fn duration_overflows() {
    assert_eq!(Duration::MAX.checked_add(Duration::NANOSECOND), None);
    assert_eq!(Duration::MIN.checked_sub(Duration::NANOSECOND), None);
    assert_eq!(Duration::MAX.checked_mul(2), None);
    assert_eq!(Duration::MIN.checked_neg(), None);
    assert_eq!(Duration::MIN.checked_abs(), None);
    assert_eq!(Duration::MIN.checked_div(-1), None);
    assert_eq!(Duration::SECOND.checked_div(0), None);
    assert_eq!(Duration::MIN.saturating_neg(), Duration::MAX);
    assert_eq!(Duration::MIN.saturating_abs(), Duration::MAX);
    assert_eq!(Duration::MAX.saturating_mul(-2), Duration::MIN);
    assert_eq!(
        Duration::MAX.saturating_add(Duration::SECOND),
        Duration::MAX
    );
    assert_eq!(
        Duration::MIN.saturating_sub(Duration::SECOND),
        Duration::MIN
    );
    assert!(catch_unwind(|| Duration::MAX + Duration::NANOSECOND).is_err());
    assert!(catch_unwind(|| Duration::MIN - Duration::NANOSECOND).is_err());
    assert!(catch_unwind(|| Duration::MAX * 2).is_err());
    assert!(catch_unwind(|| -Duration::MIN).is_err());
    assert!(catch_unwind(|| Duration::SECOND / 0).is_err());
    assert_eq!(
        Duration::SECOND * -3 / 2 + Duration::MILLISECOND,
        Duration::from_millis(-1499)
    );
}

#[test]
fn duration_constructors_saturate_or_return_none() {
    assert_eq!(Duration::from_secs(i64::MAX), Duration::MAX);
    assert_eq!(Duration::from_millis(i64::MIN), Duration::MIN);
    assert_eq!(Duration::from_micros(i64::MAX), Duration::MAX);
    assert_eq!(Duration::checked_from_secs(i64::MAX), None);
    assert_eq!(
        Duration::checked_from_secs(-2),
        Some(Duration::from_secs(-2))
    );
}

/// rclcpp `from_seconds` (there: truncation, and undefined behaviour for the rest).
#[test]
fn duration_from_seconds() {
    let secs = Duration::try_from_secs_f64;
    assert_eq!(secs(1.5), Some(Duration::from_millis(1500)));
    assert_eq!(secs(-1.5), Some(Duration::from_millis(-1500)));
    assert_eq!(secs(0.000_000_000_6), Some(Duration::NANOSECOND));
    assert_eq!(secs(-0.000_000_000_6), Some(Duration::from_nanos(-1)));
    assert_eq!(
        secs(1_700_000_000.5),
        Some(Duration::from_millis(1_700_000_000_500))
    );
    assert_eq!(
        secs(-9_223_372_036.0),
        Some(Duration::from_secs(-9_223_372_036))
    );
    for bad in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e300,
        -1e300,
        9_223_372_036.9,
    ] {
        assert_eq!(secs(bad), None, "{bad}");
        assert_eq!(Time::<Ros>::try_from_secs_f64(bad), None, "{bad}");
    }
}

#[test]
fn frequencies_become_periods() {
    assert_eq!(
        Duration::try_from_hertz(4.0),
        Ok(Duration::from_millis(250))
    );
    assert_eq!(Duration::try_from_hertz(1e9), Ok(Duration::NANOSECOND));
    for bad in [0.0, -0.0, -1.0, f64::NEG_INFINITY] {
        assert_eq!(
            Duration::try_from_hertz(bad),
            Err(TimeError::RateNotPositive { hertz: bad })
        );
    }
    assert!(matches!(
        Duration::try_from_hertz(f64::NAN),
        Err(TimeError::RateNotPositive { .. })
    ));
    for bad in [f64::INFINITY, 1e10, 1e-11, f64::MIN_POSITIVE] {
        assert_eq!(
            Duration::try_from_hertz(bad),
            Err(TimeError::RateOutOfRange { hertz: bad })
        );
    }
}

#[test]
fn std_durations_convert_without_loss_or_fail() {
    let std_duration = std::time::Duration::from_millis(1500);
    let duration = Duration::try_from(std_duration).unwrap();
    assert_eq!(duration, Duration::from_millis(1500));
    assert_eq!(std::time::Duration::try_from(duration), Ok(std_duration));
    assert_eq!(
        std::time::Duration::try_from(Duration::from_nanos(-1)),
        Err(TimeError::NegativeDuration { nanoseconds: -1 })
    );
    assert!(Duration::try_from(std::time::Duration::MAX).is_err());
}

/// rclcpp `overflow_detectors`: every pair of bytes, scaled to the ends of the range.
#[test]
fn overflow_is_detected_for_every_pair_of_bytes() {
    let scale = 1_i64 << 56;
    for x in i8::MIN..=i8::MAX {
        for y in i8::MIN..=i8::MAX {
            let (a, b) = (i64::from(x) * scale, i64::from(y) * scale);
            let (left, right) = (Duration::from_nanos(a), Duration::from_nanos(b));
            let fits = |exact: i16| i8::try_from(exact).is_ok();
            let (x, y) = (i16::from(x), i16::from(y));
            assert_eq!(left.checked_add(right).is_some(), fits(x + y));
            assert_eq!(left.checked_sub(right).is_some(), fits(x - y));
            assert_eq!(ros(a).checked_add(right).is_some(), fits(x + y));
            assert_eq!(ros(a).checked_since(ros(b)).is_some(), fits(x - y));
        }
    }
}

proptest! {
    #[test]
    fn wire_round_trip_is_exact(nanos in any::<i64>()) {
        match WireTime::try_from(ros(nanos)) {
            Ok(wire) => {
                prop_assert!(wire.is_normalized());
                prop_assert_eq!(Time::<Ros>::from(wire).nanos(), nanos);
                prop_assert_eq!(WireTime::saturating_from(ros(nanos)), wire);
            }
            Err(_) => prop_assert!(i32::try_from(nanos.div_euclid(SECOND)).is_err()),
        }
    }

    #[test]
    fn reading_any_message_never_fails(sec in any::<i32>(), nanosec in any::<u32>()) {
        let time = Time::<Ros>::from(wire(sec, nanosec));
        prop_assert_eq!(Ok(time), Time::from_secs_nanos(i64::from(sec), nanosec));
    }

    #[test]
    fn add_then_since_is_identity(start in any::<i64>(), step in any::<i64>()) {
        let step = Duration::from_nanos(step);
        if let Some(end) = ros(start).checked_add(step) {
            prop_assert_eq!(end - ros(start), step);
            prop_assert_eq!(end.checked_sub(step), Some(ros(start)));
        }
    }

    #[test]
    fn seconds_round_trip_within_the_precision_of_a_double(nanos in -(1_i64 << 62)..1_i64 << 62) {
        let duration = Duration::from_nanos(nanos);
        let back = Duration::try_from_secs_f64(duration.as_secs_f64()).unwrap();
        // Half a unit in the last place of the seconds, and half a nanosecond of rounding.
        let tolerance = nanos.abs() / (1_i64 << 52) + 1;
        prop_assert!((back - duration).saturating_abs().nanos() <= tolerance);
    }

    #[test]
    fn multiplication_agrees_with_integers(nanos in any::<i64>(), factor in -1_000_000_i32..1_000_000) {
        let duration = Duration::from_nanos(nanos);
        prop_assert_eq!(
            duration.checked_mul_f64(f64::from(factor)),
            duration.checked_mul(i64::from(factor))
        );
    }
}
