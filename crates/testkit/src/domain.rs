//! DDS domains for tests.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::sync::Mutex;

use crate::locking::lock;

/// Domains 1 to 70: their ports lie below the ephemeral ports of Linux, which begin at domain 101. The domains between
/// are for tests that need a fixed one.
const DOMAINS: u32 = 70;

/// Returns a domain that no other test uses, in this process or in another one on this machine.
///
/// A test holds the last port of its domain, which DDS does not use, until its process ends. When all domains are
/// taken, the oldest domain of this process is used again.
///
/// # Panics
/// If other processes hold all domains.
pub fn new_domain() -> u32 {
    static HELD: Mutex<VecDeque<(u32, UdpSocket)>> = Mutex::new(VecDeque::new());
    let mut held = lock(&HELD);
    // Processes start at different domains, so that a test does not meet what the one before it left running.
    let first = std::process::id().wrapping_mul(11) % DOMAINS;
    let next = (0..DOMAINS)
        .map(|number| (first + number) % DOMAINS + 1)
        .find_map(|domain| Some((domain, hold_domain(domain)?)))
        .or_else(|| held.pop_front())
        .expect("a free domain");
    let domain = next.0;
    held.push_back(next);
    domain
}

/// Holds a domain as long as the socket lives; `None` if another test holds it.
///
/// # Panics
/// If the ports of the domain are above 65535.
pub fn hold_domain(domain: u32) -> Option<UdpSocket> {
    let port = u16::try_from(7400 + 250 * domain + 249).expect("a domain with ports below 65536");
    UdpSocket::bind(("127.0.0.1", port)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_domain_is_not_given_again() {
        let (first, second) = (new_domain(), new_domain());
        assert_ne!(first, second);
        assert!(hold_domain(first).is_none() && hold_domain(second).is_none());
    }
}
