//! The driver with a simulated device on real sockets: every transport, packet type and firmware, and the truth.

use timeloom_pf::packet::HeaderForm;
use timeloom_pf::simulator::{Product, SimulatorOptions};
use timeloom_pf::{LidarEvent, PacketType, Scan, ScanStamp, Transport};
use timeloom_sync::{EventKind, Health};
use timeloom_time::Duration;

use crate::watcher::{Watcher, drive, options, settings, simulate, status_when};

/// How far stamps are from the truth, in nanoseconds; fails where the truth is not within the bounds.
fn errors(scans: &[(Scan, ScanStamp)], truth: impl Fn(u64) -> i64) -> Vec<i64> {
    let error = |(scan, stamp): &(Scan, ScanStamp)| {
        let truth = truth(scan.first_stamp);
        let mapped = stamp.mapped.unwrap();
        let host = timeloom_time::Time::from_nanos(truth);
        assert!(
            mapped.bounds.contain(host),
            "{truth} not in {:?}",
            mapped.bounds
        );
        assert!(mapped.bounds.width().is_some(), "requests bound from below");
        stamp.host.nanos() - truth
    };
    scans.iter().map(error).collect()
}

fn spread(errors: &[i64]) -> i64 {
    errors.iter().max().unwrap() - errors.iter().min().unwrap()
}

#[test]
fn stamps_are_within_their_bounds_and_steadier_than_arrivals() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(250);
    let status = lidar.status();
    let clock = device.clock();
    let truth = |stamp| clock.host_of(stamp).nanos();
    let scans = watcher.scans.lock().unwrap().clone();
    let errors = errors(&scans, truth);
    // What the driver of the vendor calls simple: the arrival of the first packet, minus what its points took.
    let naive = |(scan, _): &(Scan, ScanStamp)| {
        let begin = scan.first_arrival.at - scan.first_packet_time();
        begin.nanos() - truth(scan.first_stamp)
    };
    let naive: Vec<i64> = scans.iter().map(naive).collect();
    let (ours, theirs) = (spread(&errors[50..]), spread(&naive[50..]));
    assert!(ours * 3 < theirs, "{ours} ns against {theirs} ns");
    assert!(scans.iter().all(|(scan, _)| scan.points.len() == 720));
    assert!(status.packets.kernel_stamps > 0, "{:?}", status.packets);
    assert_eq!(status.packets.bad + status.packets.foreign, 0);
    let locked = |status: &timeloom_pf::LidarStatus| {
        status
            .clock
            .is_some_and(|clock| clock.newest.health == Health::Locked)
    };
    status_when(&lidar, locked);
    assert!(status.requests_answered > 5);
    assert_eq!(status.device.product, Product::R2000.name());
    assert_eq!(status.device.range_max, Some(60.0));
}

#[test]
fn every_type_of_packet_comes_over_every_transport() {
    for (product, packet_type, transport, header, keep_alive) in [
        (
            Product::R2000,
            PacketType::A,
            Transport::Udp,
            HeaderForm::Full,
            true,
        ),
        (
            Product::R2000,
            PacketType::B,
            Transport::Tcp,
            HeaderForm::Old,
            false,
        ),
        (
            Product::R2000,
            PacketType::C,
            Transport::Tcp,
            HeaderForm::Full,
            true,
        ),
        (
            Product::R2300,
            PacketType::C1,
            Transport::Udp,
            HeaderForm::Full,
            false,
        ),
        (
            Product::R2300,
            PacketType::C1,
            Transport::Tcp,
            HeaderForm::Old,
            true,
        ),
    ] {
        let device = simulate(SimulatorOptions {
            product,
            header,
            keep_alive,
            ..options()
        });
        let watcher = Watcher::new();
        let mut settings = settings(&device);
        settings.transport = transport;
        // None chooses by the product.
        let own = matches!(packet_type, PacketType::C | PacketType::C1);
        settings.packet_type = (!own).then_some(packet_type);
        let lidar = drive(settings, &watcher);
        watcher.wait_for_scans(30);
        let status = lidar.status();
        let scans = watcher.scans.lock().unwrap();
        let whole = scans.iter().filter(|(scan, _)| scan.is_complete()).count();
        assert_eq!(
            whole,
            scans.len(),
            "{packet_type} over {transport}: {:?}",
            status.scans
        );
        let (scan, _) = scans.last().unwrap();
        assert_eq!(scan.header.packet_type, packet_type);
        assert_eq!(scan.header.layer.is_some(), product == Product::R2300);
        assert_eq!(scan.header.iq_stamps.is_some(), header == HeaderForm::Full);
        let seen = scan
            .points
            .iter()
            .filter(|point| point.distance.is_some_and(|mm| mm < 5_100));
        assert!(seen.count() > 700);
        assert_eq!(
            scan.points[0].amplitude.is_some(),
            packet_type != PacketType::A
        );
        let clock = device.clock();
        errors(&scans, |stamp| clock.host_of(stamp).nanos());
    }
}

#[test]
fn a_restart_of_the_device_begins_a_new_epoch_and_stamps_are_right_at_once() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(50);
    let before = device.clock();
    device.reboot(Duration::from_millis(300));
    let old = watcher.scans.lock().unwrap().len();
    watcher.wait_for("restart", |event| *event == LidarEvent::DeviceRestarted);
    watcher.wait_for_scans(old + 60);
    let status = lidar.status();
    drop(lidar);
    let scans = watcher.scans.lock().unwrap().clone();
    let first = before.stamp(before.on_since());
    let (old, new): (Vec<_>, Vec<_>) = scans
        .into_iter()
        .partition(|(scan, _)| scan.first_stamp > first);
    assert!(new.len() >= 50, "{}", new.len());
    errors(&old, |stamp| before.host_of(stamp).nanos());
    let after = device.clock();
    errors(&new, |stamp| after.host_of(stamp).nanos());
    let epochs = |scans: &[(Scan, ScanStamp)]| -> Vec<u32> {
        let mut epochs: Vec<u32> = scans
            .iter()
            .map(|(_, stamp)| stamp.mapped.unwrap().epoch)
            .collect();
        epochs.dedup();
        epochs
    };
    assert_eq!((epochs(&old), epochs(&new)), (vec![0], vec![1]));
    assert_eq!((status.connections, device.boots()), (2, 2));
    let new_epochs = watcher.count(|event| {
        matches!(event, LidarEvent::Sync(event) if matches!(event.kind, EventKind::NewEpoch { .. }))
    });
    assert_eq!(new_epochs, 1);
}

#[test]
fn the_watchdog_is_fed_and_a_driver_that_ends_gives_its_handle_back() {
    let device = simulate(options());
    for round in 0..12 {
        // More rounds than the device has handles.
        let watcher = Watcher::new();
        let mut settings = settings(&device);
        settings.watchdog = Some(Duration::from_millis(if round == 0 { 300 } else { 60_000 }));
        let lidar = drive(settings, &watcher);
        watcher.wait_for_scans(if round == 0 { 60 } else { 2 });
        let status = lidar.status();
        assert_eq!(
            (status.connections, status.last_error),
            (1, None),
            "round {round}"
        );
    }
}

#[test]
fn settings_of_the_device_are_set() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let mut settings = settings(&device);
    let wanted = [("scan_frequency", "25"), ("samples_per_scan", "360")];
    settings.parameters = wanted
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    let lidar = drive(settings, &watcher);
    watcher.wait_for_scans(3);
    {
        let scans = watcher.scans.lock().unwrap();
        let (scan, _) = &scans[0];
        assert_eq!(
            (scan.points.len(), scan.header.scan_frequency),
            (360, 25_000)
        );
        assert!((scan.angle_increment - 1.0).abs() < 1e-12);
    }
    let status = status_when(&lidar, |status| status.flags.0 == 0);
    assert!(watcher.count(|event| matches!(event, LidarEvent::Status(flags) if flags.0 == 2)) > 0);
    assert_eq!(
        status.clock.unwrap().newest.epoch,
        0,
        "new settings are no reason to begin anew"
    );
}
