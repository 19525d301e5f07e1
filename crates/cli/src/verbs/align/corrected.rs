//! Stamps of sensors on the clock of the host.

use timeloom_columns::TopicTimes;
use timeloom_sync::{DeviceTime, Limits, Mapping, PassiveSample, Sample, smooth};
use timeloom_time::Time;

use crate::failure::Failure;

/// Replaces the stamps of a topic by the times of the host's clock, as `sync retime` does.
///
/// A stamp that carries no device time yields no time.
pub(super) fn correct(times: &mut TopicTimes) -> anyhow::Result<()> {
    let stamps = times.times.iter().zip(&times.log_times);
    let samples: Vec<Sample> = stamps
        .filter_map(|(stamp, log_time)| {
            let device = DeviceTime::from_nanos((*stamp)?);
            let sample = PassiveSample::new(device, Time::from_nanos(*log_time));
            Some(Sample::Passive(sample)).filter(|sample| sample.check().is_ok())
        })
        .collect();
    if samples.is_empty() {
        let text = format!("{} shows no device times", times.topic);
        return Err(Failure::new(text).into());
    }
    let limits = Limits::default();
    let rows = smooth(&samples, &limits)?;
    let mapping = Mapping::new(samples.iter().map(Sample::device).zip(rows), &limits);
    for (time, log_time) in times.times.iter_mut().zip(&times.log_times) {
        *time = time.and_then(|stamp| {
            let near = Time::from_nanos(*log_time);
            let mapped = mapping.convert_near(DeviceTime::from_nanos(stamp), near);
            mapped.ok().map(|mapped| mapped.host.nanos())
        });
    }
    Ok(())
}
