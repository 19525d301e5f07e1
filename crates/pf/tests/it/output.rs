//! What can be asked of a device: sectors, points, every n-th scan, other settings on the way.

use timeloom_pf::pfsdp::Command;
use timeloom_pf::simulator::{
    PacketSource, Product, ScanOutput, SimulatedClock, SimulatedLidar, SimulatorOptions,
};
use timeloom_pf::{Arrival, Client, LidarEvent, Packet, PacketType, Scan, ScanAssembler};
use timeloom_sync::StampSource;
use timeloom_time::{CancelToken, Duration, Steady, Time, TimeBase};

use crate::watcher::{Watcher, drive, options, settings, simulate};

const START: Time<Steady> = Time::from_nanos(1_000_000_000_000);

/// The first scans of a device that was asked for this, with the true times of their first points.
fn scans(options: &SimulatorOptions, output: ScanOutput) -> Vec<(Scan, Time<Steady>)> {
    let clock = SimulatedClock::new(options.clock, START);
    let mut source = PacketSource::new(options, output, clock, START);
    let mut assembler = ScanAssembler::new(output.skip_scans);
    let mut begun = START;
    let mut scans = Vec::new();
    while scans.len() < 20 {
        let sent = source.next_packet().unwrap();
        let packet = Packet::parse(&sent.bytes).unwrap();
        if packet.header.first_index == 0 {
            begun = sent.first_point;
        }
        let arrival = Arrival {
            at: sent.arrives,
            source: StampSource::User,
        };
        let taken = assembler.push(&packet, arrival).unwrap();
        scans.extend(taken.scans.into_iter().map(|scan| (scan, begun)));
    }
    let counters = assembler.counters();
    assert_eq!((counters.packets_lost, counters.renumbered), (0, 0));
    scans
}

#[test]
fn a_sector_has_the_times_and_the_angles_of_its_points() {
    let options = SimulatorOptions {
        samples_per_scan: 5_040,
        scan_frequency: 40.0,
        ..SimulatorOptions::default()
    };
    let output = ScanOutput {
        start_angle: 1_700_000,
        max_num_points_scan: 1_000,
        ..ScanOutput::from(PacketType::C)
    };
    let turn = 25e6 * (1.0 + options.rotation_error_ppm * 1e-6);
    for (scan, begun) in &scans(&options, output)[1..] {
        assert_eq!(scan.points.len(), 1_000);
        // As fast as in a full turn, though there are fewer points; within a grain of the stamps.
        let error = scan.point_period_ns * 5_040.0 / turn - 1.0;
        assert!(error.abs() < 2e-3, "{error}");
        assert!((scan.first_angle - 170.0).abs() < 1e-4);
        // The header says 0.0714, and the angles go over the half turn.
        let increment = scan.angle_increment;
        assert!((increment - 360.0 / 5_040.0).abs() < 1e-6, "{increment}");
        let clock = SimulatedClock::new(options.clock, START);
        let error = clock.host_of(scan.first_stamp) - *begun;
        assert!(error.nanos().abs() < 3_000, "{error:?}");
    }
}

#[test]
fn an_r2300_measures_ninety_thousand_points_a_second() {
    let options = SimulatorOptions {
        product: Product::R2300,
        samples_per_scan: 1_000,
        scan_frequency: 50.0,
        rotation_error_ppm: 0.0,
        ..SimulatorOptions::default()
    };
    for (scan, _) in scans(&options, PacketType::C1.into()) {
        let rate = 1e9 / scan.point_period_ns;
        assert!((rate / 90e3 - 1.0).abs() < 2e-3, "{rate}");
        assert!((scan.first_angle + 50.0).abs() < 1e-9);
        assert!((scan.angle_increment - 0.1).abs() < 1e-6);
        let period = scan.scan_period.as_secs_f64();
        assert!((period - 0.02).abs() < 1e-4, "{period}");
    }
}

#[test]
fn the_driver_asks_for_a_sector_of_every_third_scan_and_gets_it() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let mut settings = settings(&device);
    settings.start_angle = Some(-900_000);
    settings.max_num_points_scan = Some(360);
    settings.skip_scans = 2;
    let lidar = drive(settings, &watcher);
    watcher.wait_for_scans(20);
    let status = lidar.status();
    assert_eq!(status.scans.scans_lost + status.scans.renumbered, 0);
    let clock = device.clock();
    let scans = watcher.scans.lock().unwrap();
    for (scan, stamp) in scans.iter().filter(|(scan, _)| scan.is_complete()) {
        assert_eq!(scan.points.len(), 360);
        assert!((scan.first_angle + 90.0).abs() < 1e-3);
        let truth = clock.host_of(scan.first_stamp);
        let bounds = stamp.mapped.unwrap().bounds;
        assert!(bounds.contain(truth), "{truth:?} not in {bounds:?}");
        // An upper bound is the end of a packet and its way: with a wrong time from point to point it would not hold.
        let period = scan.point_period_ns * 720.0 / 1e9;
        assert!((period / 0.02 - 1.0).abs() < 2e-3, "{period}");
    }
}

fn ask(device: &SimulatedLidar, command: &Command) {
    let token = CancelToken::new();
    let timeout = Duration::from_secs(50);
    let base = TimeBase::machine();
    Client::new(device.address(), timeout, &base, &token)
        .call(command)
        .unwrap();
}

#[test]
fn settings_changed_on_the_device_cause_no_loss_and_no_new_epoch() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(20);
    let wanted = [("scan_frequency", "25"), ("samples_per_scan", "1000")];
    let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
    ask(&device, &Command::SetParameters(wanted.to_vec()));
    watcher.wait_for(
        "the flag",
        |event| matches!(event, LidarEvent::Status(flags) if flags.0 == 2),
    );
    let so_far = watcher.scans.lock().unwrap().len();
    watcher.wait_for_scans(so_far + 10);
    let status = lidar.status();
    let scans = watcher.scans.lock().unwrap();
    let (scan, stamp) = scans.last().unwrap();
    assert_eq!(
        (scan.points.len(), scan.header.scan_frequency),
        (1_000, 25_000)
    );
    let truth = device.clock().host_of(scan.first_stamp);
    let mapped = stamp.mapped.unwrap();
    assert!(mapped.bounds.contain(truth), "{truth:?} not in {mapped:?}");
    assert_eq!(mapped.epoch, 0);
    let counters = status.scans;
    assert_eq!((counters.restarts, counters.renumbered), (0, 0));
    assert_eq!((counters.packets_lost, status.connections), (0, 1));
}

#[test]
fn a_device_that_does_not_tell_its_time_still_gives_scans_with_stamps() {
    let device = simulate(SimulatorOptions {
        has_time: false,
        ..options()
    });
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(30);
    let status = lidar.status();
    assert_eq!((status.requests_answered, status.requests_failed), (0, 0));
    let clock = device.clock();
    for (scan, stamp) in watcher.scans.lock().unwrap().iter() {
        let bounds = stamp.mapped.unwrap().bounds;
        assert!(bounds.contain(clock.host_of(scan.first_stamp)));
        assert!(bounds.lower.is_none(), "nothing bounds from below");
    }
}
