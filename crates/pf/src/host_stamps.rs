//! Arrival times of bytes: kernel stamps on the steady clock, or the time of reading without them.

use std::io::{self, IoSliceMut};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd as _};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use timeloom_sync::{ClockPair, StampSource};
use timeloom_time::{Clock, Duration, Reading, Steady, System, Time, TimeBase};

use crate::arrival::Arrival;

/// The system clock was set, not slewed, if it moved against the steady one by more than this between two stamps.
const STEP: Duration = Duration::from_millis(1);
/// A stamp of the kernel that is older was made before something we do not know of.
const OLDEST: Duration = Duration::from_secs(10);

/// Bytes that came, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    pub(crate) length: usize,
    pub(crate) arrival: Arrival,
    /// The sender of a datagram.
    pub(crate) from: Option<IpAddr>,
}

/// Reads sockets and stamps what comes.
///
/// The kernel stamps with the system clock, which may be set at any time. Each stamp is taken over to the steady clock
/// by a pair of readings made right after it; one that the system clock was set around is not used.
#[derive(Debug)]
pub(crate) struct HostStamps {
    steady: Clock<Steady>,
    system: Clock<System>,
    /// System minus steady time at the last stamp, in nanoseconds.
    distance: Option<i64>,
}

impl HostStamps {
    pub(crate) fn new(base: &TimeBase) -> Self {
        Self {
            steady: Clock::on(base),
            system: Clock::on(base),
            distance: None,
        }
    }

    /// Asks the kernel to stamp what this socket receives; without it, stamps are ours.
    pub(crate) fn enable(socket: &impl AsFd) {
        // Without support of the system, the time of reading is used and marked as such.
        let _refused = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    }

    /// Now, by the steady clock.
    pub(crate) fn now(&self) -> Time<Steady> {
        self.steady.now()
    }

    /// Reads from a socket, as long as its read timeout lets it block.
    pub(crate) fn receive(
        &mut self,
        socket: &impl AsFd,
        buffer: &mut [u8],
    ) -> io::Result<Received> {
        let mut control = nix::cmsg_space!(TimeSpec);
        let mut parts = [IoSliceMut::new(buffer)];
        let descriptor = socket.as_fd().as_raw_fd();
        let message = recvmsg::<SockaddrStorage>(
            descriptor,
            &mut parts,
            Some(&mut control),
            MsgFlags::empty(),
        )?;
        let stamps = message.cmsgs().into_iter().flatten();
        let kernel = stamps.into_iter().find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(stamp) => kernel_time(stamp),
            _ => None,
        });
        Ok(Received {
            length: message.bytes,
            arrival: self.arrival(kernel),
            from: message.address.as_ref().and_then(address_of),
        })
    }

    /// A stamp of the kernel on the steady clock if it can be trusted, else the time now.
    fn arrival(&mut self, kernel: Option<Time<System>>) -> Arrival {
        let now = self.steady.now();
        let ours = Arrival {
            at: now,
            source: StampSource::User,
        };
        let reading = Reading::take(&self.steady, &self.system);
        let distance = reading.other().nanos() - reading.after().nanos();
        let known = self.distance.replace(distance);
        let steady = known.is_none_or(|known| (distance - known).abs() < STEP.nanos());
        let Some(kernel) = kernel.filter(|_| steady && !self.steady.base().is_virtual()) else {
            return ours;
        };
        let at = pair(&reading).to_steady(kernel);
        let age = now - at;
        if age > OLDEST || age < -STEP {
            return ours;
        }
        Arrival {
            at: at.min(now),
            source: StampSource::Kernel,
        }
    }
}

/// The pair with the later steady reading: an interruption makes a stamp later, as a delay of the network does, and
/// never earlier, which would be taken for the smallest delay.
const fn pair(reading: &Reading<System>) -> ClockPair<System> {
    ClockPair::new(reading.after(), reading.other())
}

fn kernel_time(stamp: TimeSpec) -> Option<Time<System>> {
    let nanosec = u32::try_from(stamp.tv_nsec()).ok()?;
    Time::from_secs_nanos(stamp.tv_sec(), nanosec).ok()
}

fn address_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let four = address.as_sockaddr_in();
    let six = address.as_sockaddr_in6();
    four.map(|four| IpAddr::V4(four.ip()))
        .or_else(|| six.map(|six| IpAddr::V6(six.ip())))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn ahead(stamps: &HostStamps, by: Duration) -> Time<System> {
        stamps.system.now().saturating_add(by)
    }

    #[test]
    fn kernel_stamps_are_never_before_the_packet() {
        let (steady, system) = (Clock::<Steady>::new(), Clock::<System>::new());
        for _ in 0..1_000 {
            let before = steady.now();
            let kernel = system.now();
            let reading = Reading::take(&steady, &system);
            // The system clock may be slewed meanwhile, by 500 ppm at most.
            let slewed = Duration::from_nanos((reading.after() - before).nanos() / 2_000 + 1);
            let placed = pair(&reading).to_steady(kernel);
            assert!(placed.saturating_add(slewed) >= before);
        }
    }

    #[test]
    fn a_datagram_has_a_stamp_of_the_kernel_between_sending_and_reading() {
        let mut stamps = HostStamps::new(&TimeBase::machine());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        HostStamps::enable(&socket);
        let before = stamps.now();
        let address = socket.local_addr().unwrap();
        socket.send_to(b"now", address).unwrap();
        let mut buffer = [0; 16];
        let received = stamps.receive(&socket, &mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"now");
        assert_eq!(received.from, Some(address.ip()));
        assert_eq!(received.arrival.source, StampSource::Kernel);
        // The pair of readings is not made at one moment, so a little may be missing.
        assert!(received.arrival.at.saturating_add(STEP) >= before);
        assert!(received.arrival.at <= stamps.now());
    }

    #[test]
    fn without_stamps_of_the_kernel_they_are_ours_and_say_so() {
        let mut stamps = HostStamps::new(&TimeBase::machine());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = stamps.now();
        socket
            .send_to(b"now", socket.local_addr().unwrap())
            .unwrap();
        let received = stamps.receive(&socket, &mut [0; 16]).unwrap();
        assert_eq!(received.arrival.source, StampSource::User);
        assert!((before..=stamps.now()).contains(&received.arrival.at));
    }

    #[test]
    fn stamps_that_cannot_be_are_replaced_by_our_own() {
        let mut stamps = HostStamps::new(&TimeBase::machine());
        for wrong in [Duration::from_secs(1), Duration::from_secs(-60)] {
            let kernel = ahead(&stamps, wrong);
            assert_eq!(stamps.arrival(Some(kernel)).source, StampSource::User);
        }
        let kernel = ahead(&stamps, Duration::from_millis(-2));
        assert_eq!(stamps.arrival(Some(kernel)).source, StampSource::Kernel);
        // As if the system clock had been set since.
        stamps.distance = stamps.distance.map(|distance| distance - 500_000_000);
        let kernel = ahead(&stamps, Duration::ZERO);
        assert_eq!(stamps.arrival(Some(kernel)).source, StampSource::User);
        let kernel = ahead(&stamps, Duration::ZERO);
        assert_eq!(stamps.arrival(Some(kernel)).source, StampSource::Kernel);
    }
}
