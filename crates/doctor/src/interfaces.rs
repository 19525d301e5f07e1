use std::collections::BTreeMap;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{AddressFamily, SockaddrLike as _};

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Its IP addresses.
    pub addresses: Vec<String>,
    /// Whether it is up.
    pub up: bool,
    /// Whether it supports multicast.
    pub multicast: bool,
    /// Whether it is the loopback.
    pub loopback: bool,
}

impl Interface {
    /// Whether other machines may be reached by it.
    pub fn leads_out(&self) -> bool {
        self.up && !self.loopback && !self.addresses.is_empty()
    }
}

/// All interfaces, sorted by name; empty if the kernel does not list them.
pub fn interfaces() -> Vec<Interface> {
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
    fn the_loopback_is_listed() {
        let all = interfaces();
        let loopback = all.iter().find(|interface| interface.name == "lo");
        let loopback = loopback.expect("every Linux has one");
        assert!(loopback.loopback && !loopback.leads_out(), "{loopback:?}");
        if loopback.up {
            assert!(loopback.addresses.contains(&"127.0.0.1".to_owned()));
        }
    }
}
