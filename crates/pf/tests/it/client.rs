//! Requests for the device's time: on one connection, stamped on both sides.

use timeloom_pf::pfsdp::Command;
use timeloom_pf::simulator::{Faults, ReplyFault, SimulatedLidar, SimulatorOptions};
use timeloom_pf::{Client, Error};
use timeloom_sync::StampSource;
use timeloom_time::{CancelToken, Duration, TimeBase};

use crate::watcher::{options, simulate};

fn client(device: &SimulatedLidar, timeout: Duration) -> Client {
    let (base, token) = (TimeBase::machine(), CancelToken::new());
    Client::new(device.address(), timeout, &base, &token)
}

#[test]
fn the_device_read_its_clock_between_the_two_stamps_of_every_request() {
    for (keep_alive, connections) in [(true, 1), (false, 20)] {
        let device = simulate(SimulatorOptions {
            keep_alive,
            ..options()
        });
        let clock = device.clock();
        let mut client = client(&device, Duration::from_secs(50));
        let mut by_kernel = 0;
        for _ in 0..20 {
            let answer = client.call_stamped(&Command::get_system_time()).unwrap();
            let raw = answer.reply.number("system_time_raw").unwrap();
            let truth = clock.host_of(raw);
            // Its stamps are rounded down by a grain.
            let grain = Duration::from_nanos(2_600);
            assert!(answer.sent <= truth.saturating_add(grain));
            // Steady and system time are read apart, so the kernel's stamp may be a little early.
            let slack = Duration::from_micros(100);
            assert!(truth <= answer.arrival.at.saturating_add(slack));
            by_kernel += u32::from(answer.arrival.source == StampSource::Kernel);
        }
        assert_eq!(device.sent().connections, connections);
        assert!(by_kernel > 0, "the kernel stamps connections too");
    }
}

#[test]
fn a_connection_closed_by_the_device_is_reopened() {
    let device = simulate(options());
    let mut client = client(&device, Duration::from_secs(50));
    client.call(&Command::get_system_time()).unwrap();
    // A device that is switched off and on again has forgotten its connections.
    device.reboot(Duration::ZERO);
    device.set_faults(Faults {
        reply: Some(ReplyFault::Close),
        ..Faults::default()
    });
    assert!(client.call(&Command::get_system_time()).is_err());
    device.set_faults(Faults::default());
    client.call(&Command::get_system_time()).unwrap();
    assert!(device.sent().connections >= 2);
}

#[test]
fn an_answer_that_trickles_is_a_timeout_too() {
    // Somebody who answers a byte now and then, and never ends.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let trickle = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        let clock = timeloom_time::Clock::<timeloom_time::Steady>::new();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";
        for byte in head.iter().chain(std::iter::repeat(&b'x')) {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            assert!(clock.sleep_for(Duration::from_millis(2)).is_reached());
        }
    });
    let (base, token) = (TimeBase::machine(), CancelToken::new());
    let mut client = Client::new(address, Duration::from_millis(300), &base, &token);
    let error = client.call(&Command::get_system_time()).unwrap_err();
    assert!(
        matches!(error, Error::Timeout { millis: 300, .. }),
        "{error}"
    );
    trickle.join().unwrap();
}
