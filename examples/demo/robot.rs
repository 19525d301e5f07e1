//! The robot, in a process of its own: a simulated lidar, its driver, and four tracked nodes.

mod ledger;
mod pipeline;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use timeloom_lidar::{LidarNode, LidarOptions};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_pf::LidarSettings;
use timeloom_pf::simulator::{ClockModel, SimulatedLidar, SimulatorOptions};
use timeloom_time::{Clock, Duration, Steady, TimeBase};
use timeloom_wire::{EndpointKind, WatchedGraph};

use self::ledger::Ledger;
pub(crate) use self::pipeline::Pipeline;
use crate::domain::{Domain, LOST_PER_MILLE};
use crate::truth::{DriverReport, TOPICS};
use crate::{Failure, recording};

/// Run time of the robot once it is recorded.
const RUN: Duration = Duration::from_secs(10);
/// Time that the robot waits for its recorder.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time for the last messages to arrive.
const SETTLE: Duration = Duration::from_millis(700);

/// Runs the robot: says `ready` when it can be recorded, waits for the recorder, runs, writes the truth, says `done`,
/// and goes when stdin is closed.
pub(crate) fn run(domain: Domain, directory: &Path) -> Result<(), Failure> {
    let clock = Clock::<Steady>::new();
    let participant = domain.join(LOST_PER_MILLE)?;
    let graph = WatchedGraph::new(&*participant);
    let pipeline = Pipeline::new(&participant, true)?;
    let ledger = Ledger::new(&participant)?;
    // The driver is there before its device: it asks again and again, as on a robot that is switched on.
    let port = free_port()?;
    let driver = RosNode::new(Arc::clone(&participant), NodeOptions::new("lidar_driver"))?;
    let lidar = LidarNode::new(&driver, lidar_options(port))?;
    say("ready")?;

    let recorded = |topic: &str| {
        let graph = graph.lock();
        let recorder = |info: &timeloom_wire::EndpointInfo| {
            info.node
                .as_ref()
                .is_some_and(|node| node.name() == recording::NODE)
        };
        graph.on(topic, EndpointKind::Subscription).any(recorder)
    };
    let end = clock.now() + PATIENCE;
    while !TOPICS.iter().all(|(topic, _)| recorded(topic)) {
        if clock.now() > end {
            return Err("no recorder subscribed to the robot".into());
        }
        let _woke = clock.sleep_for(Duration::from_millis(20));
    }
    let device = SimulatedLidar::start(simulator(port), &TimeBase::machine())?;
    let running = pipeline.start();
    let _woke = clock.sleep_for(RUN);
    drop(running);
    let device_clock = device.clock();
    let report = report(&lidar);
    drop(device);
    let _woke = clock.sleep_for(SETTLE);

    let mut truth = ledger.truth(&device_clock, &pipeline)?;
    truth.report = report;
    let (heard, published) = (truth.of("/scan").len() as u64, lidar.published());
    if heard != published {
        let text = format!("the demo itself is wrong: {heard} of {published} scans heard");
        return Err(text.into());
    }
    truth.write(directory)?;
    say("done")?;
    let _closed = std::io::stdin().read(&mut [0])?;
    Ok(())
}

/// The driver's own error estimate.
fn report(lidar: &LidarNode) -> Option<DriverReport> {
    let newest = lidar.status().clock?.newest;
    let (lower, upper) = (newest.bounds.lower?, newest.bounds.upper?);
    Some(DriverReport {
        sigma_ns: newest.sigma.nanos(),
        bias_ns: ((newest.host - upper).nanos(), (newest.host - lower).nanos()),
    })
}

/// A lidar whose clock started two hours ago, runs 60 ppm fast and gets faster while it warms up.
pub(crate) fn simulator(port: u16) -> SimulatorOptions {
    SimulatorOptions {
        port,
        scan_frequency: 30.0,
        samples_per_scan: 720,
        clock: ClockModel {
            start_s: 7_200.0,
            skew_ppm: 60.0,
            warming_ppm: 20.0,
            warming_s: 8.0,
            ..ClockModel::default()
        },
        ..SimulatorOptions::default()
    }
}

pub(crate) fn lidar_options(port: u16) -> LidarOptions {
    let mut settings = LidarSettings::new(format!("127.0.0.1:{port}"));
    settings.back_off.first = Duration::from_millis(100);
    settings.back_off.most = Duration::from_millis(200);
    settings.timesync.interval = Duration::from_millis(200);
    let mut options = LidarOptions::new(settings);
    // Its topic is there before the device answers, so that no scan precedes the recorder.
    options.device = "R2000".into();
    options
}

pub(crate) fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

pub(crate) fn say(word: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{word}")?;
    Ok(out.flush()?)
}
