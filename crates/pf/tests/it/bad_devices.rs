//! Devices that do what they should not: clear errors, another try, no panic, and every packet in a counter.

use timeloom_pf::simulator::{Faults, ReplyFault};
use timeloom_pf::{Lidar, LidarEvent, LidarSettings, LidarSink, TimesyncMethod, Transport};
use timeloom_sync::Averaging;
use timeloom_time::{Duration, TimeBase};

use crate::watcher::{Watcher, drive, options, settings, simulate, status_when};

#[test]
fn every_bad_reply_is_named_and_the_driver_comes_back() {
    let device = simulate(options());
    for (fault, text) in [
        (
            ReplyFault::Silence,
            "get_protocol_info: no reply from 127.0.0.1:",
        ),
        (
            ReplyFault::Close,
            "connection closed after 0 bytes of a reply",
        ),
        (
            ReplyFault::TruncatedJson,
            "get_protocol_info: invalid reply: EOF while parsing",
        ),
        (ReplyFault::TruncatedBody, "connection closed after"),
        (ReplyFault::Garbage, "the reply is not HTTP: it starts with"),
        (
            ReplyFault::Huge,
            "reply of 1073741824 bytes exceeds the limit of 262144",
        ),
        (
            ReplyFault::HttpStatus(503),
            "get_protocol_info: HTTP status 503",
        ),
        (
            ReplyFault::ErrorCode(333),
            "get_protocol_info: the device refused: \"as you wish\" (error code 333, internal error)",
        ),
    ] {
        let watcher = Watcher::new();
        device.set_faults(Faults {
            reply: Some(fault),
            ..Faults::default()
        });
        let mut settings = settings(&device);
        settings.request_timeout = Duration::from_millis(150);
        let lidar = drive(settings, &watcher);
        watcher.wait_for_error(text);
        device.set_faults(Faults::default());
        watcher.wait_for_scans(2);
        assert_eq!(lidar.status().connections, 1, "{fault:?}");
    }
}

#[test]
fn a_device_that_is_not_there_is_tried_again_with_longer_waits() {
    let gone = simulate(options()).address();
    let watcher = Watcher::new();
    let mut settings = LidarSettings::new(gone.to_string());
    settings.back_off.first = Duration::from_millis(1);
    settings.back_off.most = Duration::from_millis(4);
    let lidar = drive(settings, &watcher);
    status_when(&lidar, |status| status.requests_failed >= 5);
    drop(lidar);
    let events = watcher.events.lock().unwrap();
    let waits = events.iter().filter_map(|event| match event {
        LidarEvent::Disconnected { why, retry_in } => {
            assert!(why.starts_with("cannot connect to 127.0.0.1:"), "{why}");
            Some(retry_in.nanos() / 1_000_000)
        }
        _ => None,
    });
    assert_eq!(waits.take(5).collect::<Vec<_>>(), [1, 2, 4, 4, 4]);
}

#[test]
fn failures_of_requests_do_not_end_packets_that_come() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(5);
    device.set_faults(Faults {
        reply: Some(ReplyFault::TruncatedJson),
        only_command: Some("get_parameter".to_owned()),
        ..Faults::default()
    });
    watcher.wait_for_error("get_parameter: invalid reply");
    let so_far = watcher.scans.lock().unwrap().len();
    watcher.wait_for_scans(so_far + 20);
    assert_eq!(lidar.status().connections, 1);
}

#[test]
fn an_invalid_first_time_reply_is_reported_and_scans_arrive() {
    for method in ["simple", "envelope"] {
        let device = simulate(options());
        let mut settings = settings(&device);
        settings.timesync.method = TimesyncMethod::named(method, Averaging::Mean).unwrap();
        let watcher = Watcher::new();
        // The device answers this question wrong from the start, and all others right.
        device.set_faults(Faults {
            bad_time: true,
            ..Faults::default()
        });
        let lidar = drive(settings, &watcher);
        watcher.wait_for_error("system_time_raw");
        watcher.wait_for_scans(20);
        assert_eq!(lidar.status().connections, 1, "{method}");
    }
}

#[test]
fn a_restart_is_noticed_by_a_question_before_the_packets_patience_is_over() {
    for watchdog in [Some(Duration::from_secs(60)), None] {
        let device = simulate(options());
        let mut settings = settings(&device);
        settings.data_timeout = Duration::from_secs(600);
        settings.watchdog = watchdog;
        let watcher = Watcher::new();
        let lidar = drive(settings, &watcher);
        watcher.wait_for_scans(5);
        device.reboot(Duration::from_millis(100));
        // A probe comes after an eighth of the patience; the requests for the time show it before.
        watcher.wait_for("restart", |event| *event == LidarEvent::DeviceRestarted);
        status_when(&lidar, |status| status.connections >= 2);
    }
}

#[test]
fn damaged_packets_are_counted_and_reported_once() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(3);
    device.set_faults(Faults {
        damage_one_in: 2,
        ..Faults::default()
    });
    let bad = status_when(&lidar, |status| status.packets.bad >= 40)
        .packets
        .bad;
    let told = watcher.count(|event| match event {
        LidarEvent::Trouble(text) => text.contains("packet length"),
        _ => false,
    });
    // One line in ten seconds; a busy machine may need more of them.
    assert!(told <= 6, "{told} lines for {bad} packets");
}

#[test]
fn a_handle_that_is_no_longer_valid_is_replaced() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let mut settings = settings(&device);
    settings.watchdog = Some(Duration::from_millis(200));
    let lidar = drive(settings, &watcher);
    watcher.wait_for_scans(5);
    device.set_faults(Faults {
        reply: Some(ReplyFault::ErrorCode(120)),
        only_command: Some("feed_watchdog".to_owned()),
        ..Faults::default()
    });
    watcher.wait_for_error("error code 120, invalid handle");
    device.set_faults(Faults::default());
    status_when(&lidar, |status| status.connections >= 2);
}

#[test]
fn silence_of_packets_is_noticed_over_both_transports() {
    for transport in [Transport::Udp, Transport::Tcp] {
        let device = simulate(options());
        let watcher = Watcher::new();
        let mut settings = settings(&device);
        settings.transport = transport;
        settings.data_timeout = Duration::from_millis(200);
        let lidar = drive(settings, &watcher);
        watcher.wait_for_scans(2);
        device.set_faults(Faults {
            mute: true,
            ..Faults::default()
        });
        watcher.wait_for_error("no packet for 2");
        device.set_faults(Faults::default());
        let so_far = watcher.scans.lock().unwrap().len();
        watcher.wait_for_scans(so_far + 5);
        assert!(lidar.status().connections >= 2);
    }
}

#[test]
fn lost_doubled_and_damaged_packets_are_counted_to_the_last() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(3);
    device.set_faults(Faults {
        lose_one_in: 10,
        duplicate_one_in: 10,
        damage_one_in: 20,
        ..Faults::default()
    });
    watcher.wait_for_scans(120);
    device.set_faults(Faults::default());
    let so_far = watcher.scans.lock().unwrap().len();
    watcher.wait_for_scans(so_far + 3);
    // Everything that is on its way arrives, or is no packet any more.
    device.set_faults(Faults {
        mute: true,
        ..Faults::default()
    });
    let sent = device.sent();
    let status = status_when(&lidar, |status| {
        let counted = status.scans.packets + status.scans.packets_lost;
        counted >= sent.packets + sent.duplicated
    });
    let scans = status.scans;
    assert!(
        sent.lost > 0 && sent.duplicated > 0 && sent.damaged > 0,
        "{sent:?}"
    );
    assert_eq!(scans.duplicates, sent.duplicated);
    assert_eq!(status.packets.bad, sent.damaged);
    // A cut at the end of the test may leave a part of a scan out of the count of the lost.
    let lost = sent.lost + sent.damaged;
    assert!(
        (lost..lost + 3).contains(&scans.packets_lost),
        "{sent:?} {scans:?}"
    );
    assert_eq!(scans.packets - scans.duplicates, sent.packets - lost);
    watcher.wait_for_error("packet length");
    let holes = watcher
        .scans
        .lock()
        .unwrap()
        .iter()
        .filter(|(scan, _)| !scan.is_complete())
        .count();
    assert!(holes as u64 >= scans.scans_incomplete - 1 && holes > 0);
}

#[test]
fn a_damaged_stream_is_taken_up_again() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let mut settings = settings(&device);
    settings.transport = Transport::Tcp;
    let lidar = drive(settings, &watcher);
    watcher.wait_for_scans(3);
    device.set_faults(Faults {
        damage_one_in: 5,
        ..Faults::default()
    });
    status_when(&lidar, |status| status.packets.skipped_bytes > 0);
    watcher.wait_for_error("the stream is damaged: bytes outside of packets were skipped");
    device.set_faults(Faults::default());
    let so_far = watcher.scans.lock().unwrap().len();
    watcher.wait_for_scans(so_far + 5);
    assert_eq!(lidar.status().connections, 1, "the connection stays");
}

#[test]
fn settings_that_cannot_be_are_refused_before_anything_starts() {
    let mut settings = LidarSettings::new("127.0.0.1");
    settings.watchdog = Some(Duration::from_millis(5));
    let watcher: std::sync::Arc<dyn LidarSink> = Watcher::new();
    let error = Lidar::start(settings, &TimeBase::machine(), watcher).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid watchdogtimeout = 5 ms: must be at least 100 ms"
    );
}

#[test]
fn packets_that_overtake_each_other_make_whole_scans_or_are_counted() {
    let device = simulate(options());
    let watcher = Watcher::new();
    device.set_faults(Faults {
        swap_one_in: 4,
        ..Faults::default()
    });
    let lidar = drive(settings(&device), &watcher);
    // Of three packets of a scan, the last may come after the first of the next one: then it is late.
    let status = status_when(&lidar, |status| status.scans.late > 5);
    let scans = status.scans;
    assert!((scans.late..=scans.late + 1).contains(&scans.packets_lost));
    assert_eq!(scans.restarts + scans.renumbered + scans.duplicates, 0);
    assert!(scans.scans > scans.scans_incomplete, "{scans:?}");
    let clock = device.clock();
    for (scan, stamp) in watcher.scans.lock().unwrap().iter() {
        let bounds = stamp.mapped.unwrap().bounds;
        assert!(bounds.contain(clock.host_of(scan.first_stamp)));
    }
}

#[test]
fn scan_numbers_that_go_backwards_are_reported_and_lose_nothing() {
    let device = simulate(options());
    let watcher = Watcher::new();
    let lidar = drive(settings(&device), &watcher);
    watcher.wait_for_scans(10);
    device.set_faults(Faults {
        renumber: 40_000,
        ..Faults::default()
    });
    watcher.wait_for_error("scan numbers jumped from ");
    let so_far = watcher.scans.lock().unwrap().len();
    watcher.wait_for_scans(so_far + 10);
    let status = lidar.status();
    assert_eq!((status.scans.renumbered, status.scans.restarts), (1, 0));
    // The scan in which it happened was cut in two.
    assert!(status.scans.packets_lost <= 6, "{:?}", status.scans);
    assert_eq!((status.scans.scans_lost, status.connections), (0, 1));
    assert_eq!(status.clock.unwrap().newest.epoch, 0);
}
