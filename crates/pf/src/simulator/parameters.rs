use serde_json::{Value, json};
use timeloom_time::{Steady, Time};

use super::clock_model::SimulatedClock;
use super::options::{Product, SimulatorOptions};
use super::packet_source::LAYERS;
use crate::pfsdp::ErrorCode;

/// The parameters that a simulated device has.
const NAMES: [&str; 15] = [
    "vendor",
    "product",
    "serial",
    "revision_fw",
    "device_family",
    "radial_range_min",
    "radial_range_max",
    "scan_frequency",
    "scan_frequency_measured",
    "samples_per_scan",
    "layer_count",
    "layer_inclination",
    "up_time",
    "system_time_raw",
    "temperature_current",
];

/// The parameters of a device with these options.
pub(super) fn names(options: &SimulatorOptions) -> Vec<&'static str> {
    let layered = options.product == Product::R2300;
    let has = |name: &&str| match *name {
        "system_time_raw" => options.has_time,
        "layer_inclination" => layered,
        _ => true,
    };
    NAMES.into_iter().filter(has).collect()
}

/// The value of a parameter.
pub(super) fn get(
    name: &str,
    options: &SimulatorOptions,
    clock: &SimulatedClock,
    now: Time<Steady>,
) -> Option<Value> {
    let turning = options.scan_frequency / (1.0 + options.rotation_error_ppm * 1e-6);
    let r2000 = options.product == Product::R2000;
    Some(match name {
        "vendor" => json!("Pepperl+Fuchs (simulated)"),
        "product" => json!(options.product.name()),
        "serial" => json!(format!("sim-{}", options.seed)),
        "revision_fw" => json!(20),
        "device_family" => json!(if r2000 { 1 } else { 5 }),
        "radial_range_min" => json!(0.1),
        "radial_range_max" => json!(if r2000 { 60.0 } else { 10.0 }),
        "scan_frequency" => json!(options.scan_frequency),
        "scan_frequency_measured" => json!(turning),
        "samples_per_scan" => json!(options.samples_per_scan),
        "layer_count" => json!(if r2000 { 1 } else { 4 }),
        "layer_inclination" if !r2000 => json!(LAYERS),
        "up_time" => json!((now - clock.on_since()).nanos() / 60_000_000_000),
        "system_time_raw" if options.faults.bad_time => json!("soon"),
        "system_time_raw" if options.has_time => json!(clock.stamp(now)),
        "temperature_current" => json!(38),
        _ => return None,
    })
}

/// Sets a parameter, if it can be set and the value is possible.
pub(super) fn set(
    name: &str,
    value: &str,
    options: &mut SimulatorOptions,
) -> Result<(), ErrorCode> {
    let mut changed = options.clone();
    match name {
        "scan_frequency" => {
            changed.scan_frequency = value
                .parse()
                .map_err(|_no_number| ErrorCode::INVALID_VALUE)?;
        }
        "samples_per_scan" => {
            changed.samples_per_scan = value
                .parse()
                .map_err(|_no_number| ErrorCode::INVALID_VALUE)?;
        }
        known if NAMES.contains(&known) => return Err(ErrorCode::READ_ONLY),
        _ => return Err(ErrorCode::UNKNOWN_PARAMETER),
    }
    changed
        .check()
        .map_err(|_outside| ErrorCode::OUT_OF_RANGE)?;
    *options = changed;
    Ok(())
}

/// Resets a parameter to its factory default.
pub(super) fn reset(name: &str, options: &mut SimulatorOptions) -> Result<(), ErrorCode> {
    let new = SimulatorOptions::default();
    match name {
        "scan_frequency" => options.scan_frequency = new.scan_frequency,
        "samples_per_scan" => options.samples_per_scan = new.samples_per_scan,
        known if NAMES.contains(&known) => return Err(ErrorCode::READ_ONLY),
        _ => return Err(ErrorCode::UNKNOWN_PARAMETER),
    }
    Ok(())
}
