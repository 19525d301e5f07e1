use std::ffi::CStr;
use std::ptr::{null, null_mut};

use timeloom_capi::{
    TimeloomOptions, TimeloomReport, TimeloomStatus, TimeloomTime, timeloom_clock_convert,
    timeloom_clock_free, timeloom_clock_new, timeloom_clock_push, timeloom_clock_push_request,
    timeloom_clock_report, timeloom_clock_restart, timeloom_options, timeloom_status_text,
    timeloom_steady_now, timeloom_system_from_steady,
};

#[test]
fn null_pointers_are_refused() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        assert!(timeloom_clock_new(null()).is_null());
        timeloom_clock_free(null_mut());
        let refused = TimeloomStatus::NullPointer;
        assert_eq!(timeloom_clock_push(null_mut(), 1, 2), refused);
        assert_eq!(timeloom_clock_push_request(null_mut(), 1, 2, 3), refused);
        assert_eq!(timeloom_clock_convert(null_mut(), 1, null_mut()), refused);
        assert_eq!(timeloom_clock_report(null(), null_mut()), refused);
        assert_eq!(timeloom_clock_restart(null_mut()), refused);
    }
}

#[test]
fn impossible_options_make_no_clock() {
    let usual = timeloom_options();
    for options in [
        TimeloomOptions {
            ticks_per_second: 0,
            ..usual
        },
        TimeloomOptions {
            counter_bits: 65,
            ..usual
        },
        TimeloomOptions {
            max_skew_ppm: f64::NAN,
            ..usual
        },
        TimeloomOptions {
            least_delay_ns: -1,
            ..usual
        },
        TimeloomOptions {
            estimator: 77,
            ..usual
        },
    ] {
        // SAFETY: the options are there.
        assert!(unsafe { timeloom_clock_new(&raw const options) }.is_null());
    }
}

#[test]
fn invalid_input_has_a_status_with_text() {
    let options = TimeloomOptions {
        counter_bits: 24,
        ..timeloom_options()
    };
    // SAFETY: the clock is made here, used by this thread and given back at the end.
    unsafe {
        let clock = timeloom_clock_new(&raw const options);
        let mut time = std::mem::zeroed::<TimeloomTime>();
        let unsynced = timeloom_clock_convert(clock, 5, &raw mut time);
        assert_eq!(unsynced, TimeloomStatus::Unsynced);
        let mut report = std::mem::zeroed::<TimeloomReport>();
        let unsynced = timeloom_clock_report(clock, &raw mut report);
        assert_eq!(unsynced, TimeloomStatus::Unsynced);
        let wide = timeloom_clock_push(clock, 1 << 24, 5);
        assert_eq!(wide, TimeloomStatus::OutOfRange);
        let words = CStr::from_ptr(timeloom_status_text(wide as u32));
        assert_eq!(
            words.to_str(),
            Ok("a counter value or a time is out of range")
        );
        let early = timeloom_clock_push_request(clock, 10, 5, 9);
        assert_eq!(early, TimeloomStatus::AnswerBeforeRequest);
        assert_eq!(timeloom_clock_push(clock, 5, 1_000), TimeloomStatus::Ok);
        assert_eq!(
            timeloom_clock_convert(clock, 5, &raw mut time),
            TimeloomStatus::Ok
        );
        assert_eq!((time.epoch, time.lower_ns), (0, i64::MIN));
        assert_eq!(timeloom_clock_restart(clock), TimeloomStatus::Ok);
        let unsynced = timeloom_clock_convert(clock, 5, &raw mut time);
        assert_eq!(unsynced, TimeloomStatus::Unsynced);
        timeloom_clock_free(clock);
    }
}

#[test]
fn steady_times_become_system_times() {
    let steady = timeloom_steady_now();
    let system = timeloom_system_from_steady(steady);
    // 2020 has been.
    assert!(system > 1_577_836_800_000_000_000, "{system}");
    let later = timeloom_system_from_steady(steady + 1_000_000_000);
    assert!(later > system);
}
