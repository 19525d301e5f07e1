//! The clock of a sensor: packets with device time come in late, and leave with the time of their event on the
//! host's clock, an error and hard bounds.
//!
//! `cargo run --example sensor_clock -p timeloom-examples`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use timeloom_sync::{
    ActiveSample, ClockPair, ClockSpec, Error, HostStamps, Mapped, PassiveSample, Sample,
    SensorClock, TickCounter,
};
use timeloom_time::{Duration, Steady, System, Time};

/// Nanoseconds on the steady clock.
fn steady(nanos: i64) -> Time<Steady> {
    Time::from_nanos(nanos)
}

/// The true time of the last event, in nanoseconds.
const LAST_EVENT: i64 = 60_000_000_000;

fn main() -> Result<(), Error> {
    let Some((mapped, drift_ppm)) = last_stamp()? else {
        return Ok(());
    };
    println!("health   {}", mapped.health);
    println!("drift    {drift_ppm:.1} ppm");
    println!("sigma    {} ns", mapped.sigma.nanos());
    let width = mapped.bounds.width().map_or(0, Duration::nanos);
    println!("bounds   {width} ns wide");
    println!("error    {} ns", mapped.host.nanos() - LAST_EVENT);

    // For a ROS message: the same moment on the system clock.
    let now = ClockPair::<System>::new(steady(0), Time::from_nanos(1_700_000_000_000_000_000));
    println!("stamp    {}", now.from_steady(mapped.host).nanos());
    Ok(())
}

/// The host time of the last packet, and the drift.
fn last_stamp() -> Result<Option<(Mapped, f64)>, Error> {
    // An IMU that counts microseconds in 32 bits, is 80 ppm fast and sends 200 packets per second.
    let mut ticks = TickCounter::new(ClockSpec::MICROSECONDS_32);
    let mut clock = SensorClock::default();
    clock.set_host_stamps(HostStamps::Steady);
    let counter = |event: i64| u64::try_from((event + event / 12_500) / 1_000).unwrap_or(0);

    let mut newest = 0;
    for packet in 1..=12_000_i64 {
        let event = packet * 5_000_000;
        // The packet is on its way for 0.4 ms to 2.4 ms.
        let delay = 400_000 + packet * 7_919 % 2_000 * 1_000;
        newest = counter(event);
        let device = ticks.unwrap(newest)?;
        let arrived = steady(event + delay);
        clock.push(&Sample::Passive(PassiveSample::new(device, arrived)))?;

        // Twice per second the host asks for the device's time: that gives a lower bound, too.
        if packet % 100 == 0 {
            let asked = event + 1_000_000;
            clock.push(&Sample::Active(ActiveSample {
                host_tx: steady(asked),
                device: ticks.unwrap(counter(asked + 300_000))?,
                host_rx: steady(asked + 600_000),
            }))?;
        }
    }

    let mapped = clock.convert(ticks.unwrap(newest)?);
    let state = clock.diagnostics();
    Ok(mapped.zip(state.map(|state| state.skew_ppm)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_sync::Health;

    #[test]
    fn the_last_stamp_is_near_the_event_and_within_its_bounds() {
        main().expect("it prints");
        let (mapped, drift_ppm) = last_stamp().expect("samples").expect("a stamp");
        assert_eq!(mapped.health, Health::Locked);
        assert!(mapped.bounds.contain(steady(LAST_EVENT)), "{mapped:?}");
        let error = mapped.host.nanos() - LAST_EVENT;
        assert!(error.abs() < 200_000, "{error} ns");
        assert!((drift_ppm + 80.0).abs() < 2.0, "{drift_ppm} ppm");
    }
}
