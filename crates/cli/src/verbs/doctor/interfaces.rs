//! The network interfaces of this machine, or of this container.

use std::collections::BTreeMap;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{AddressFamily, SockaddrLike as _};

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) addresses: Vec<String>,
    pub(super) up: bool,
    pub(super) multicast: bool,
    pub(super) loopback: bool,
}

impl Interface {
    /// Whether other machines may be behind it.
    pub(super) fn leads_out(&self) -> bool {
        self.up && !self.loopback && !self.addresses.is_empty()
    }
}

/// All interfaces by name; none where the kernel does not tell.
pub(super) fn interfaces() -> Vec<Interface> {
    let mut all = BTreeMap::new();
    for found in getifaddrs().into_iter().flatten() {
        note(&mut all, &found);
    }
    all.into_values().collect()
}

fn note(all: &mut BTreeMap<String, Interface>, found: &InterfaceAddress) {
    let has = |flag| found.flags.contains(flag);
    let name = &found.interface_name;
    let interface = all.entry(name.clone()).or_insert_with(|| Interface {
        name: name.clone(),
        addresses: Vec::new(),
        up: has(InterfaceFlags::IFF_UP),
        multicast: has(InterfaceFlags::IFF_MULTICAST),
        loopback: has(InterfaceFlags::IFF_LOOPBACK),
    });
    let Some(address) = found.address else { return };
    let text = match address.family() {
        Some(AddressFamily::Inet) => address.as_sockaddr_in().map(|v4| v4.ip().to_string()),
        Some(AddressFamily::Inet6) => address.as_sockaddr_in6().map(|v6| v6.ip().to_string()),
        _ => None,
    };
    interface.addresses.extend(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_among_them() {
        let all = interfaces();
        let loopback = all.iter().find(|interface| interface.name == "lo");
        let loopback = loopback.expect("every Linux has one");
        assert!(loopback.loopback && !loopback.leads_out(), "{loopback:?}");
        if loopback.up {
            assert!(loopback.addresses.contains(&"127.0.0.1".to_owned()));
        }
    }
}
