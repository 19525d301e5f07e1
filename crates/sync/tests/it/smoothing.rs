//! Smoothing a recording is better than the live view.

use timeloom_sync::simulate::{Family, HostClock, Scenario, score, score_smoothed};
use timeloom_sync::{Limits, Method};

#[test]
fn smoothing_beats_live_and_keeps_bounds_and_order() {
    for family in [
        Family::Loaded40Hz,
        Family::Reboot,
        Family::HeavyRequests,
        Family::Mixed,
    ] {
        let whole = family.scenario();
        let scenario = Scenario {
            rate_hz: whole.rate_hz.map(|rate| rate.min(40.0)),
            ..whole
        };
        let limits = Limits::default();
        let clock = Method::Envelope.clock(limits);
        let live = score(&scenario, 1, clock, HostClock::Steady);
        let smoothed = score_smoothed(&scenario, 1, &limits).unwrap();
        assert!(
            smoothed.p50_ns < live.p50_ns && smoothed.p99_ns < live.p99_ns,
            "{family}: {:.0} and {:.0} ns, live {:.0} and {:.0} ns",
            smoothed.p50_ns,
            smoothed.p99_ns,
            live.p50_ns,
            live.p99_ns
        );
        assert_eq!(smoothed.bound_violations, 0, "{family}");
        assert_eq!(smoothed.backwards, 0, "{family}");
        assert_eq!(smoothed.epochs, live.epochs, "{family}");
    }
}
