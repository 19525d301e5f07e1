use std::net::UdpSocket;
use std::sync::atomic::{AtomicU32, Ordering};

/// Domains up to here have their ports below the ephemeral ports of Linux.
const LAST: u32 = 101;

/// A ROS domain that no other replay test of this machine uses, until it is dropped.
///
/// The last port of the domain, which DDS does not use, is bound meanwhile.
pub(crate) struct Domain {
    number: u32,
    _port: UdpSocket,
}

impl Domain {
    /// A free domain; `None` if all are in use.
    pub(crate) fn reserve() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        (0..LAST).find_map(|_| {
            let number = std::process::id().wrapping_mul(11);
            let number = number.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            Self::take(number % LAST + 1)
        })
    }

    fn take(number: u32) -> Option<Self> {
        let port = u16::try_from(7400 + 250 * number + 249).ok()?;
        let port = UdpSocket::bind(("127.0.0.1", port)).ok()?;
        Some(Self {
            number,
            _port: port,
        })
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_given_to_one_run_at_a_time() {
        let first = Domain::reserve().unwrap();
        let number = first.number();
        assert!(Domain::take(number).is_none());
        assert_ne!(Domain::reserve().unwrap().number(), number);
        drop(first);
        assert!((1..=LAST).contains(&number));
    }
}
