//! Writing samples and results as CSV text.

use std::fmt::Write as _;

use timeloom_time::{Steady, Time};

use crate::device_time::DeviceTime;
use crate::mapped::Mapped;
use crate::sample::{Sample, StampSource};

/// Samples as CSV, with every column that [`read_samples`](super::read_samples) knows.
pub fn write_samples<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> String {
    let mut text = String::from("kind,device_ns,host_rx_ns,host_tx_ns,device_tx_ns,source\n");
    for sample in samples {
        let (device, rx) = (sample.device().nanos(), sample.host_rx().nanos());
        let line = match sample {
            Sample::Passive(sample) => {
                let tx = sample.device_tx.map(DeviceTime::nanos);
                let tx = tx.map(|nanos| nanos.to_string()).unwrap_or_default();
                let source = match sample.source {
                    StampSource::Kernel => "kernel",
                    StampSource::User => "user",
                };
                writeln!(text, "passive,{device},{rx},,{tx},{source}")
            }
            Sample::Active(sample) => {
                let tx = sample.host_tx.nanos();
                writeln!(text, "active,{device},{rx},{tx},,")
            }
        };
        // Writing to a string cannot fail.
        debug_assert!(line.is_ok());
    }
    text
}

/// Results as CSV: `device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch`; bounds that are not there are empty.
pub fn write_mapped<'a>(rows: impl IntoIterator<Item = (DeviceTime, &'a Mapped)>) -> String {
    let mut text = String::from("device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch\n");
    for (device, mapped) in rows {
        let bound = |bound: Option<Time<Steady>>| {
            bound
                .map(|time| time.nanos().to_string())
                .unwrap_or_default()
        };
        let line = writeln!(
            text,
            "{},{},{},{},{},{},{}",
            device.nanos(),
            mapped.host.nanos(),
            mapped.sigma.nanos(),
            bound(mapped.bounds.lower),
            bound(mapped.bounds.upper),
            mapped.health,
            mapped.epoch
        );
        // Writing to a string cannot fail.
        debug_assert!(line.is_ok());
    }
    text
}
