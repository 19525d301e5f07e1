use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use nix::sys::socket::{setsockopt, sockopt};
use timeloom_sync::StampSource;
use timeloom_time::CancelToken;

use super::event::LidarEvent;
use super::shared::Shared;
use super::trouble_log::Trouble;
use crate::arrival::Arrival;
use crate::client::is_pause;
use crate::error::{Error, Result};
use crate::host_stamps::{HostStamps, Received};
use crate::packet::{LARGEST_PACKET, Packet, PacketStream};

/// Time that a read blocks before cancellation is checked.
const SLICE: StdDuration = StdDuration::from_millis(50);
/// Room for packets while the reader is kept from reading: seconds of them.
const RECEIVE_BUFFER: usize = 4 << 20;

/// A thread that reads packets, until it is dropped.
pub(super) struct DataPath {
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl Drop for DataPath {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Opens a socket for datagrams of `device` and reads it; the address to give to the device.
pub(super) fn open(shared: &Arc<Shared>, device: SocketAddr) -> Result<(DataPath, SocketAddr)> {
    let settings = shared.settings();
    let failed = |source| Error::Network {
        doing: "cannot receive packets of",
        host: device.to_string(),
        source,
    };
    let ours = address_towards(device);
    let address = match settings.receive_address {
        Some(address) => address,
        None => *ours.as_ref().map_err(|error| failed(error.kind().into()))?,
    };
    let socket = UdpSocket::bind((address, settings.receive_port)).map_err(failed)?;
    let mut local = socket.local_addr().map_err(failed)?;
    // "Any address" is good for receiving, but the device cannot send there.
    if address.is_unspecified() {
        local.set_ip(ours.map_err(failed)?);
    }
    socket.set_read_timeout(Some(SLICE)).map_err(failed)?;
    // As much as the system allows.
    let _smaller = setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER);
    let from = device.ip();
    let path = spawn(shared, move |mut reader| {
        reader.read_datagrams(&socket, from);
    })?;
    Ok((path, local))
}

/// Connects to the port of a handle and reads it.
pub(super) fn connect(shared: &Arc<Shared>, device: SocketAddr, port: u16) -> Result<DataPath> {
    let to = SocketAddr::new(device.ip(), port);
    let failed = |source| Error::Network {
        doing: "cannot connect to",
        host: to.to_string(),
        source,
    };
    let timeout = StdDuration::try_from(shared.settings().request_timeout);
    let timeout = timeout.unwrap_or(StdDuration::from_secs(1));
    let stream = TcpStream::connect_timeout(&to, timeout).map_err(failed)?;
    stream.set_read_timeout(Some(SLICE)).map_err(failed)?;
    spawn(shared, move |mut reader| {
        reader.read_stream(&stream, &to.to_string());
    })
}

/// The address of ours that the device can reach.
fn address_towards(device: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match device {
        SocketAddr::V4(_) => [0; 4].into(),
        SocketAddr::V6(_) => [0_u16; 8].into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // Nothing is sent by this: the system only chooses a way.
    socket.connect(device)?;
    Ok(socket.local_addr()?.ip())
}

fn spawn(shared: &Arc<Shared>, run: impl FnOnce(Reader) + Send + 'static) -> Result<DataPath> {
    let cancel = CancelToken::new();
    let reader = Reader {
        shared: Arc::clone(shared),
        cancel: cancel.clone(),
        stamps: HostStamps::new(&shared.base),
    };
    let thread = std::thread::Builder::new()
        .name("pf_packets".to_owned())
        .spawn(move || run(reader))
        .map_err(Error::Thread)?;
    Ok(DataPath {
        cancel,
        thread: Some(thread),
    })
}

struct Reader {
    shared: Arc<Shared>,
    cancel: CancelToken,
    stamps: HostStamps,
}

impl Reader {
    fn read_datagrams(&mut self, socket: &UdpSocket, from: IpAddr) {
        HostStamps::enable(socket);
        // One byte more than fits, so that a longer one is seen.
        let mut buffer = vec![0; LARGEST_PACKET + 1];
        while let Some(received) = self.receive(socket, &mut buffer, &from.to_string()) {
            if received.from.is_some_and(|sender| sender != from) {
                self.shared.work().status.packets.foreign += 1;
                continue;
            }
            let bytes = buffer.get(..received.length).unwrap_or(&[]);
            self.take(bytes, received.arrival);
        }
    }

    fn read_stream(&mut self, stream: &TcpStream, host: &str) {
        HostStamps::enable(stream);
        let mut buffer = vec![0; LARGEST_PACKET];
        let mut packets = PacketStream::new();
        while let Some(received) = self.receive(stream, &mut buffer, host) {
            if received.length == 0 {
                let cut = packets.end();
                let closed = || closed(host);
                return self.shared.data_failed(cut.unwrap_or_else(closed));
            }
            let skipped = packets.skipped();
            packets.push(buffer.get(..received.length).unwrap_or(&[]));
            loop {
                match packets.next_packet() {
                    Ok(Some(bytes)) => self.take(bytes, received.arrival),
                    Ok(None) => break,
                    Err(error) => self.refuse(&error),
                }
            }
            let skipped = packets.skipped() - skipped;
            if skipped > 0 {
                self.skip(skipped);
            }
        }
    }

    /// The next input; none at the end.
    fn receive(&mut self, socket: &impl AsFd, buffer: &mut [u8], host: &str) -> Option<Received> {
        while !self.cancel.is_cancelled() {
            match self.stamps.receive(socket, buffer) {
                Ok(received) => return Some(received),
                Err(error) if is_pause(&error) => {}
                Err(source) => {
                    self.shared.data_failed(Error::Network {
                        doing: "no packets from",
                        host: host.to_owned(),
                        source,
                    });
                    return None;
                }
            }
        }
        None
    }

    /// Takes the bytes of a packet.
    fn take(&self, bytes: &[u8], arrival: Arrival) {
        let packet = match Packet::parse(bytes) {
            Ok(packet) => packet,
            Err(error) => return self.refuse(&error),
        };
        self.shared.note_packet(self.shared.clock.now());
        self.shared.sink.packet(&packet.header, arrival);
        if let Err(error) = self.work(&packet, arrival) {
            self.refuse(&error);
        }
    }

    fn work(&self, packet: &Packet<'_>, arrival: Arrival) -> Result<()> {
        let header = &packet.header;
        let mut work = self.shared.work();
        let counters = &mut work.status.packets;
        match arrival.source {
            StampSource::Kernel => counters.kernel_stamps += 1,
            StampSource::User => counters.user_stamps += 1,
        }
        let new_flags = work.status.flags != header.status;
        work.status.flags = header.status;
        let taken = work.assembler.push(packet, arrival)?;
        let mut stamp_error = None;
        if taken.fresh {
            let period = work.assembler.point_period_ns(header);
            stamp_error = work.clock.packet(header, period, arrival).err();
        }
        let mut scans = Vec::with_capacity(taken.scans.len());
        for scan in taken.scans {
            let stamp = work.clock.stamp(&scan);
            work.status.newest_scan = Some((scan.first_stamp, stamp));
            scans.push((scan, stamp));
        }
        work.status.packets.bad_stamps += u64::from(stamp_error.is_some());
        drop(work);
        if new_flags {
            self.shared.event(&LidarEvent::Status(header.status));
        }
        if taken.restarted {
            self.shared.event(&LidarEvent::DeviceRestarted);
        }
        if let Some(nanos) = taken.jumped {
            let seconds = nanos / 1e9;
            let text = format!("the device's clock jumped by {seconds:+.3} s within a scan");
            self.shared.event(&LidarEvent::Trouble(text));
        }
        if let Some((from, to)) = taken.renumbered {
            let text =
                format!("scan numbers jumped from {from} to {to} without a jump of the clock");
            self.shared.event(&LidarEvent::Trouble(text));
        }
        self.shared.report_sync_events();
        for (scan, stamp) in scans {
            self.shared.sink.scan(scan, stamp);
        }
        stamp_error.map_or(Ok(()), Err)
    }

    fn refuse(&self, error: &Error) {
        self.shared.work().status.packets.bad += 1;
        self.report(Trouble::Packet, &error.to_string());
    }

    fn skip(&self, bytes: u64) {
        self.shared.work().status.packets.skipped_bytes += bytes;
        self.report(
            Trouble::Stream,
            "the stream is damaged: bytes outside of packets were skipped",
        );
    }

    /// Reports a problem, or only counts it if one of its kind was reported recently.
    fn report(&self, trouble: Trouble, text: &str) {
        let now = self.shared.clock.now();
        let mut work = self.shared.work();
        work.status.last_error = Some(text.to_owned());
        let line = work.troubles.line(trouble, text, now);
        drop(work);
        if let Some(line) = line {
            self.shared.event(&LidarEvent::Trouble(line));
        }
    }
}

fn closed(host: &str) -> Error {
    Error::Network {
        doing: "no packets from",
        host: host.to_owned(),
        source: io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "the device closed the connection",
        ),
    }
}
