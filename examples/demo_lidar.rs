//! The third part of the demo: a simulated lidar on 127.0.0.1, and how far its stamps are from the truth.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_pf::simulator::{SimulatedClock, SimulatedLidar, SimulatorOptions};
use timeloom_pf::{Lidar, LidarSettings, LidarSink, Scan, ScanStamp};
use timeloom_time::TimeBase;

use super::{Outcome, verdict};

/// About four seconds at 35 Hz, and as many scans as the estimate needs to settle.
const SCANS: usize = 140;
const SETTLING: usize = 35;

/// Sends scans to whoever looks at them.
struct Scans(Mutex<Sender<(Scan, ScanStamp)>>);

impl LidarSink for Scans {
    fn scan(&self, scan: &Scan, stamp: &ScanStamp) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody looks any more when the demo is over.
        let _unseen = sender.send((scan.clone(), *stamp));
    }
}

/// The largest minus the smallest error of stamps, in milliseconds, and whether every bound held.
struct Errors {
    arrival: f64,
    estimate: f64,
    bounded: bool,
}

pub(super) fn lidar() -> Outcome {
    println!(
        "\n3. A lidar with a clock of its own (simulated, over UDP): when was its first point?\n"
    );
    let base = TimeBase::machine();
    let device = SimulatedLidar::start(SimulatorOptions::default(), &base)?;
    let (sender, scans) = channel();
    let sink = Arc::new(Scans(Mutex::new(sender)));
    let settings = LidarSettings::new(device.address().to_string());
    let _lidar = Lidar::start(settings, &base, sink)?;
    let errors = compare(&scans, &device.clock())?;
    println!(
        "   by its arrival   stamps vary by {:8.3} ms",
        errors.arrival
    );
    println!(
        "   estimated        stamps vary by {:8.3} ms",
        errors.estimate
    );
    let holds = errors.bounded && errors.estimate < errors.arrival;
    println!(
        "   {} steadier than arrivals, and every truth within its bounds",
        verdict(holds)
    );
    Ok(holds)
}

fn compare(
    scans: &Receiver<(Scan, ScanStamp)>,
    clock: &SimulatedClock,
) -> Result<Errors, Box<dyn std::error::Error>> {
    let (mut arrivals, mut estimates) = (Vec::new(), Vec::new());
    let mut bounded = true;
    for number in 0..SCANS {
        let (scan, stamp) = scans.recv()?;
        let truth = clock.host_of(scan.first_stamp);
        bounded &= stamp
            .mapped
            .is_some_and(|mapped| mapped.bounds.contain(truth));
        if number >= SETTLING {
            let begun = scan.first_arrival.at - scan.first_packet_time();
            arrivals.push((begun - truth).nanos());
            estimates.push((stamp.host - truth).nanos());
        }
    }
    Ok(Errors {
        arrival: spread(&arrivals),
        estimate: spread(&estimates),
        bounded,
    })
}

fn spread(errors: &[i64]) -> f64 {
    let most = errors.iter().max().copied().unwrap_or(0);
    let least = errors.iter().min().copied().unwrap_or(0);
    (most - least) as f64 / 1e6
}
