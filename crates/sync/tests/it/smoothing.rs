//! Smoothing a recording is better than the live view.

use timeloom_sync::simulate::{Family, HostClock, Scenario, score, score_smoothed};
use timeloom_sync::{Limits, Method};

fn smoothing_is_better(family: Family, duration_s: f64) {
    let whole = family.scenario();
    let scenario = Scenario {
        rate_hz: whole.rate_hz.map(|rate| rate.min(20.0)),
        duration_s,
        ..whole
    };
    let limits = Limits::default();
    let clock = Method::Envelope.clock(limits);
    let live = score(&scenario, 1, clock, HostClock::Steady);
    let smoothed = score_smoothed(&scenario, 1, &limits).expect("possible samples");
    // With packets and requests, the median is the constant part of the error, which later samples do not change.
    let constant = if scenario.requests.is_some() {
        2e3
    } else {
        0.0
    };
    assert!(
        smoothed.p50_ns < live.p50_ns + constant && smoothed.p99_ns < live.p99_ns,
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

#[test]
fn smoothing_packets_beats_live_and_keeps_bounds_and_order() {
    smoothing_is_better(Family::Loaded40Hz, 200.0);
}

#[test]
fn smoothing_keeps_epochs_apart() {
    smoothing_is_better(Family::Reboot, 400.0);
}

#[test]
fn smoothing_requests_beats_live_and_keeps_bounds_and_order() {
    smoothing_is_better(Family::HeavyRequests, 200.0);
    smoothing_is_better(Family::Mixed, 150.0);
}
