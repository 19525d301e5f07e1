//! Writing samples and results as CSV text.

use timeloom_time::{Steady, Time};

use crate::device_time::DeviceTime;
use crate::limits::Limits;
use crate::mapped::Mapped;
use crate::sample::{Sample, StampSource};

/// The columns of [`sample_line`].
pub const SAMPLE_HEADER: &str = "kind,device_ns,host_rx_ns,host_tx_ns,device_tx_ns,source";

/// The columns of [`mapped_line`].
pub const MAPPED_HEADER: &str =
    "device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch,max_skew_ppm,max_drift_ppm";

/// A sample as a line of CSV, without its end.
pub fn sample_line(sample: &Sample) -> String {
    let (device, rx) = (sample.device().nanos(), sample.host_rx().nanos());
    match sample {
        Sample::Passive(sample) => {
            let tx = sample.device_tx.map(DeviceTime::nanos);
            let tx = tx.map(|nanos| nanos.to_string()).unwrap_or_default();
            let source = match sample.source {
                StampSource::Kernel => "kernel",
                StampSource::User => "user",
            };
            format!("passive,{device},{rx},,{tx},{source}")
        }
        Sample::Active(sample) => {
            let tx = sample.host_tx.nanos();
            format!("active,{device},{rx},{tx},,")
        }
    }
}

/// A result as a line of CSV, without its end; bounds that are not there are empty. They hold within `limits`.
pub fn mapped_line(device: DeviceTime, mapped: &Mapped, limits: &Limits) -> String {
    let bound = |bound: Option<Time<Steady>>| {
        let nanos = bound.map(|time| time.nanos().to_string());
        nanos.unwrap_or_default()
    };
    format!(
        "{},{},{},{},{},{},{},{},{}",
        device.nanos(),
        mapped.host.nanos(),
        mapped.sigma.nanos(),
        bound(mapped.bounds.lower),
        bound(mapped.bounds.upper),
        mapped.health,
        mapped.epoch,
        limits.skew_ppm,
        limits.drift_ppm_per_minute,
    )
}

/// Samples as CSV, with every column that [`read_samples`](super::read_samples) knows.
pub fn write_samples<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> String {
    text(SAMPLE_HEADER, samples.into_iter().map(sample_line))
}

/// Results as CSV, with the columns of [`MAPPED_HEADER`]; bounds that are not there are empty.
pub fn write_mapped<'a>(
    rows: impl IntoIterator<Item = (DeviceTime, &'a Mapped)>,
    limits: &Limits,
) -> String {
    let lines = rows
        .into_iter()
        .map(|(device, mapped)| mapped_line(device, mapped, limits));
    text(MAPPED_HEADER, lines)
}

fn text(header: &str, lines: impl Iterator<Item = String>) -> String {
    let mut text = format!("{header}\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}
