//! The anchor's rules, one by one.

use timeloom_sync::{
    ActiveSample, Anchor, AnchorConfig, Averaging, DeviceStatus, DeviceTime, Estimator, Outcome,
    PassiveSample, Reason,
};
use timeloom_time::{Duration, Time};

const MS: i64 = 1_000_000;

fn anchor(averaging: Averaging) -> Anchor {
    Anchor::new(AnchorConfig::new(averaging, Duration::from_secs(10)).expect("10 s can be used"))
}

fn packet(anchor: &mut Anchor, device_ms: i64, host_ms: i64) -> Outcome {
    let host = Time::from_nanos(host_ms * MS);
    anchor.passive(&PassiveSample::new(
        DeviceTime::from_nanos(device_ms * MS),
        host,
    ))
}

fn host_ms(anchor: &Anchor, device_ms: i64) -> f64 {
    let device = DeviceTime::from_nanos(device_ms * MS);
    let estimate = anchor.estimate(device).expect("there are samples");
    estimate.host.nanos() as f64 / MS as f64
}

#[test]
fn samples_closer_than_a_two_hundredth_of_the_period_are_ignored() {
    let mut anchor = anchor(Averaging::Mean);
    assert_eq!(packet(&mut anchor, 0, 100), Outcome::Used);
    assert_eq!(packet(&mut anchor, 49, 149), Outcome::Ignored);
    assert_eq!(packet(&mut anchor, 50, 150), Outcome::Used);
}

#[test]
fn jumps_beyond_the_limits_restart_the_average() {
    let mut anchor = anchor(Averaging::Mean);
    packet(&mut anchor, 0, 100);
    let restarted = Outcome::Restarted(Reason::EstimatorLimit);
    assert_eq!(packet(&mut anchor, 1_000, 1_100), Outcome::Used);
    assert_eq!(packet(&mut anchor, 2_001, 2_101), restarted);
    assert_eq!(packet(&mut anchor, 2_101, 17_102), restarted);
    assert_eq!(packet(&mut anchor, 1_000, 17_200), restarted, "backwards");
}

#[test]
fn the_mean_belongs_to_the_middle_of_the_window_and_is_used_at_its_end() {
    let mut anchor = anchor(Averaging::Mean);
    // 1000 ppm: over 10 s the mean offset lags by 5 ms.
    for step in 0..=100 {
        packet(&mut anchor, step * 100, step * 100);
        let host = Time::from_nanos(step * 100 * MS + step * MS / 10);
        let device = DeviceTime::from_nanos((step * 100 + 50) * MS);
        anchor.passive(&PassiveSample::new(
            device,
            host.saturating_add(Duration::from_millis(50)),
        ));
    }
    let lag = host_ms(&anchor, 10_050) - (10_050.0 + 10.0);
    assert!((-8.0..-4.0).contains(&lag), "{lag}");
}

#[test]
fn a_regression_follows_a_line() {
    let mut anchor = anchor(Averaging::Regression);
    for step in 0..100 {
        let host = Time::from_nanos(step * 100 * MS + step * MS / 100);
        let device = DeviceTime::from_nanos(step * 100 * MS);
        anchor.passive(&PassiveSample::new(device, host));
    }
    assert!((host_ms(&anchor, 20_000) - 20_002.0).abs() < 1e-3);
    assert!((anchor.skew_ppm().unwrap() - 100.0).abs() < 1e-3);
}

#[test]
fn slow_requests_are_left_out_and_others_count_from_their_sending() {
    let mut anchor = anchor(Averaging::Mean);
    let request = |tx: i64, rx: i64| ActiveSample {
        host_tx: Time::from_nanos(tx * MS),
        device: DeviceTime::from_nanos(0),
        host_rx: Time::from_nanos(rx * MS),
    };
    let slow = Outcome::TooSlow(Duration::from_millis(51));
    assert_eq!(anchor.active(&request(100, 151)), slow);
    assert_eq!(anchor.active(&request(100, 150)), Outcome::Used);
    assert!((host_ms(&anchor, 0) - 100.0).abs() < 1e-9);
}

#[test]
fn requests_every_two_seconds_are_not_jumps() {
    let mut anchor = anchor(Averaging::Mean);
    let mut request = |device_ms: i64, host_ms: i64| {
        anchor.active(&ActiveSample {
            host_tx: Time::from_nanos(host_ms * MS),
            device: DeviceTime::from_nanos(device_ms * MS),
            host_rx: Time::from_nanos((host_ms + 5) * MS),
        })
    };
    for second in (0..60).step_by(2) {
        assert_eq!(request(second * 1_000, second * 1_000 + 100), Outcome::Used);
    }
    let restarted = Outcome::Restarted(Reason::EstimatorLimit);
    assert_eq!(request(60_000, 62_000), restarted, "the host jumped");
    assert_eq!(request(1_000, 64_000), restarted, "the device restarted");
}

#[test]
fn an_unsettled_device_restarts_the_average() {
    let mut anchor = anchor(Averaging::Mean);
    packet(&mut anchor, 0, 100);
    assert_eq!(anchor.status(DeviceStatus::Normal), Outcome::Ignored);
    let restarted = Outcome::Restarted(Reason::DeviceStatus);
    assert_eq!(anchor.status(DeviceStatus::Unsettled), restarted);
    assert_eq!(anchor.estimate(DeviceTime::default()), None);
}

#[test]
fn impossible_periods_are_refused() {
    for period in [Duration::from_secs(-1), Duration::from_secs(86_401)] {
        assert!(AnchorConfig::new(Averaging::Mean, period).is_err());
    }
}
