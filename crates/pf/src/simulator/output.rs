use std::io::Write as _;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration as StdDuration;

use timeloom_time::Duration;

use super::device::Destination;
use super::packet_source::{PacketSource, SimulatedPacket};
use super::random::Random;
use super::simulated_lidar::Shared;
use crate::status::StatusFlags;

/// Polling interval for the connection of the client.
const LOOK: Duration = Duration::from_millis(1);

/// Counters of the output of a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Packets that were made.
    pub packets: u64,
    /// Of these, packets that were lost on purpose.
    pub lost: u64,
    /// Of these, packets that were sent twice.
    pub duplicated: u64,
    /// Of these, packets that were cut short.
    pub damaged: u64,
    /// Answers to requests.
    pub replies: u64,
    /// Connections for requests that it has taken.
    pub connections: u64,
}

enum Way {
    Datagrams(UdpSocket, std::net::SocketAddr),
    Connection(TcpStream),
}

/// Starts the packets of a handle.
pub(super) fn start(shared: &Arc<Shared>, handle: &str) {
    let (inside, handle) = (Arc::clone(shared), handle.to_owned());
    // Without a thread there are no packets, and the client will notice.
    let _refused = shared.spawn("pf_output", move || run(&inside, &handle));
}

fn run(shared: &Shared, handle: &str) {
    let Some(mut way) = open(shared, handle) else {
        return;
    };
    let now = shared.clock.now();
    let started = {
        let mut device = shared.device();
        let output = device.active(handle, now).map(|handle| handle.output);
        output.map(|output| {
            let source = PacketSource::new(&device.options, output, device.clock, now);
            (source, Random::new(device.options.seed, 2), device.boots)
        })
    };
    let Some((mut source, mut random, boots)) = started else {
        return;
    };
    let mut held: Option<SimulatedPacket> = None;
    while let Ok(mut packet) = source.next_packet() {
        if !shared.sleep_until(packet.arrives) {
            return;
        }
        let now = shared.clock.now();
        let faults = {
            let mut device = shared.device();
            if device.boots != boots || device.active(handle, now).is_none() {
                return;
            }
            source.set_status(StatusFlags(device.status(now)));
            source.follow(&device.options, now);
            device.options.faults.clone()
        };
        if faults.mute {
            continue;
        }
        let lost = random.one_in(faults.lose_one_in);
        let damaged = !lost && random.one_in(faults.damage_one_in);
        let doubled = !lost && !damaged && random.one_in(faults.duplicate_one_in);
        shared.count(|sent| {
            sent.packets += 1;
            sent.lost += u64::from(lost);
            sent.damaged += u64::from(damaged);
            sent.duplicated += u64::from(doubled);
        });
        packet.renumber(faults.renumber);
        let times = if lost { 0 } else { 1 + u32::from(doubled) };
        if held.is_none() && times == 1 && !damaged && random.one_in(faults.swap_one_in) {
            held = Some(packet);
            continue;
        }
        let sent = (0..times).all(|_| way.send(&packet, damaged));
        if !sent || held.take().is_some_and(|held| !way.send(&held, false)) {
            return;
        }
    }
}

fn open(shared: &Shared, handle: &str) -> Option<Way> {
    let now = shared.clock.now();
    let destination = shared.device().active(handle, now)?.destination;
    match destination {
        Destination::Datagrams(to) => {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
            Some(Way::Datagrams(socket, to))
        }
        Destination::Connection => {
            let listener = shared.take_listener(handle)?;
            loop {
                if let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(false).ok()?;
                    stream.set_nodelay(true).ok()?;
                    // A client that does not read must not keep the device for ever.
                    stream
                        .set_write_timeout(Some(StdDuration::from_millis(500)))
                        .ok()?;
                    return Some(Way::Connection(stream));
                }
                let now = shared.clock.now();
                shared.device().active(handle, now)?;
                if !shared.sleep_until(now.saturating_add(LOOK)) {
                    return None;
                }
            }
        }
    }
}

impl Way {
    /// Sends a packet, or half of it; false when the client is gone.
    fn send(&mut self, packet: &SimulatedPacket, damaged: bool) -> bool {
        let length = packet.bytes.len() / if damaged { 2 } else { 1 };
        let bytes = packet.bytes.get(..length).unwrap_or(&[]);
        match self {
            // Nobody there is no failure of a sender of datagrams.
            Self::Datagrams(socket, to) => {
                let _refused = socket.send_to(bytes, *to);
                true
            }
            Self::Connection(stream) => stream.write_all(bytes).is_ok(),
        }
    }
}
