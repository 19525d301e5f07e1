//! The setups of the vendor's document on time synchronisation, and the defaults.

use timeloom_lidar::{LidarNode, LidarOptions};
use timeloom_node::{NodeOptions, ParameterValue};
use timeloom_pf::simulator::Product;
use timeloom_pf::{TimesyncMethod, TimesyncSettings};
use timeloom_sync::{Averaging, Method};
use timeloom_time::Duration;

use super::Robot;

/// Runs a node with exactly these parameters.
fn timesync(parameters: &[(&str, ParameterValue)]) -> TimesyncSettings {
    let robot = Robot::new(Product::R2000);
    let mut options = NodeOptions::new("pf_driver");
    let pairs = parameters
        .iter()
        .map(|(name, value)| ((*name).into(), value.clone()));
    options.parameters.extend(pairs);
    let node = robot.node(options);
    let settings = timeloom_pf::LidarSettings::new(robot.device.address().to_string());
    let lidar = LidarNode::new(&node, LidarOptions::new(settings)).expect("a lidar");
    lidar.options().settings.timesync
}

fn milliseconds(interval: i64, period: i64) -> [(&'static str, ParameterValue); 2] {
    [
        ("timesync_interval", interval.into()),
        ("timesync_period", period.into()),
    ]
}

#[test]
fn defaults_are_the_vendors_but_for_the_method() {
    let defaults = timesync(&[]);
    assert_eq!(defaults.method, TimesyncMethod::Estimator(Method::Envelope));
    assert_eq!(defaults.interval, Duration::from_millis(250));
    assert_eq!(defaults.period, Duration::from_secs(10));
    assert!(defaults.offset.is_zero() && !defaults.send_stamps);
}

#[test]
fn no_averaging() {
    let settings = timesync(&milliseconds(0, 0));
    assert_eq!(settings.method, TimesyncMethod::Simple);
    assert!(!settings.asks());
}

#[test]
fn smoothed_from_packet_reception_time() {
    let settings = timesync(&milliseconds(0, 10_000));
    assert!(settings.method.uses_packets() && !settings.asks());
    assert_eq!(settings.method, TimesyncMethod::default());
    let mut parameters = milliseconds(0, 10_000).to_vec();
    parameters.push(("timesync_method", "average".into()));
    let vendors = timesync(&parameters);
    assert_eq!(vendors.method, TimesyncMethod::Average(Averaging::Mean));
    assert!(!vendors.asks());
}

#[test]
fn smoothed_from_extra_http_requests() {
    let settings = timesync(&milliseconds(250, 10_000));
    assert!(settings.asks());
    let mut parameters = milliseconds(250, 10_000).to_vec();
    parameters.push(("timesync_method", "requests".into()));
    let vendors = timesync(&parameters);
    assert_eq!(vendors.method, TimesyncMethod::Requests(Averaging::Mean));
    assert!(vendors.asks() && !vendors.method.uses_packets());
}

#[test]
fn an_interval_selects_requests_also_with_a_regression() {
    let with = |interval: Option<i64>, name: &'static str, value: ParameterValue| {
        let interval = interval.map(|interval| ("timesync_interval", interval.into()));
        let parameters: Vec<_> = interval.into_iter().chain([(name, value)]).collect();
        timesync(&parameters).method
    };
    let regression = Averaging::Regression;
    for (name, value) in [
        ("timesync_regression", ParameterValue::from(true)),
        ("timesync_averaging", "regression".into()),
    ] {
        let over_requests = with(Some(250), name, value.clone());
        assert_eq!(over_requests, TimesyncMethod::Requests(regression));
        for without in [Some(0), None] {
            let over_packets = with(without, name, value.clone());
            assert_eq!(over_packets, TimesyncMethod::Average(regression));
        }
    }
    // Who names a method gets it, whatever else is set.
    let parameters = [
        ("timesync_method", "envelope".into()),
        ("timesync_regression", true.into()),
        ("timesync_period", 0_i64.into()),
    ];
    assert_eq!(timesync(&parameters).method, TimesyncMethod::default());
    let none = [("timesync_method", "none".into())];
    assert_eq!(timesync(&none).method, TimesyncMethod::Off);
}
