//! Stamps of a sensor's own clock as times of the host's clock.

use timeloom_sync::{DeviceTime, Limits, Mapping, PassiveSample, Sample, smooth};
use timeloom_time::Time;

use crate::{Error, Result};

/// The host times of the stamps of a topic, from when its messages were received, as [`retime`](crate::retime) finds them.
///
/// A stamp that is not a device time has no host time.
///
/// # Errors
///
/// [`Error::NoDeviceTimes`] if no stamp is one; [`Error::Sync`] if they cannot be related to the host's clock.
pub fn host_times(
    topic: &str,
    stamps: &[Option<i64>],
    log_times: &[i64],
) -> Result<Vec<Option<i64>>> {
    let received = stamps.iter().zip(log_times);
    let samples: Vec<Sample> = received
        .clone()
        .filter_map(|(stamp, log_time)| {
            let device = DeviceTime::from_nanos((*stamp)?);
            let sample = PassiveSample::new(device, Time::from_nanos(*log_time));
            Some(Sample::Passive(sample)).filter(|sample| sample.check().is_ok())
        })
        .collect();
    if samples.is_empty() {
        let topic = topic.to_owned();
        return Err(Error::NoDeviceTimes { topic });
    }
    let limits = Limits::default();
    let rows = smooth(&samples, &limits)?;
    let mapping = Mapping::new(samples.iter().map(Sample::device).zip(rows), &limits);
    let host = |(stamp, log_time): (&Option<i64>, &i64)| {
        let near = Time::from_nanos(*log_time);
        let mapped = mapping.convert_near(DeviceTime::from_nanos((*stamp)?), near);
        mapped.ok().map(|mapped| mapped.host.nanos())
    };
    Ok(received.map(host).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_hours_behind_is_mapped_and_gaps_stay() {
        const HOURS: i64 = 3 * 3_600_000_000_000;
        let log_times: Vec<i64> = (0..2_000)
            .map(|number| 1_700_000_000_000_000_000 + number * 10_000_000)
            .collect();
        // Messages take 1 to 3 ms.
        let sent = log_times.iter().zip(0_i64..).map(|(log_time, number)| {
            let delay = 1_000_000 + (number * 7_919) % 2_000_000;
            Some(log_time - delay - HOURS).filter(|_| number % 100 != 7)
        });
        let stamps: Vec<Option<i64>> = sent.collect();
        let times = host_times("/scan", &stamps, &log_times).unwrap();
        for ((time, stamp), log_time) in times.iter().zip(&stamps).zip(&log_times) {
            assert_eq!(time.is_some(), stamp.is_some());
            let Some(time) = time else { continue };
            assert!((0..=3_100_000).contains(&(log_time - time)), "{time}");
        }
    }

    #[test]
    fn stamps_that_are_no_times_are_refused() {
        let error = host_times("/scan", &[None, None], &[1, 2]).unwrap_err();
        assert_eq!(error.to_string(), "/scan shows no device times");
    }
}
