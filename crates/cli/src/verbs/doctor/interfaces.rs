//! The network interfaces, as the kernel's files tell them.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) addresses: Vec<String>,
    pub(super) up: bool,
    pub(super) multicast: bool,
    pub(super) loopback: bool,
}

const UP: u32 = 0x1;
const LOOPBACK: u32 = 0x8;
const MULTICAST: u32 = 0x1000;

/// All interfaces by name; none where the kernel has no such files.
pub(super) fn interfaces() -> Vec<Interface> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let local = local_addresses(&read("/proc/net/fib_trie"));
    let routes = routes(&read("/proc/net/route"));
    let inet6 = read("/proc/net/if_inet6");
    let entries = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten();
    let mut all: Vec<Interface> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let flags = fs::read_to_string(entry.path().join("flags")).ok()?;
            let flags = u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).ok()?;
            let loopback = flags & LOOPBACK != 0;
            let v4 = local.iter().filter(|address| {
                let routed = |(to, network, mask): &(String, u32, u32)| {
                    *to == name && u32::from(**address) & mask == *network && *mask != 0
                };
                address.is_loopback() == loopback && (loopback || routes.iter().any(routed))
            });
            let mut addresses: Vec<String> = v4.map(ToString::to_string).collect();
            addresses.extend(of_inet6(&inet6, &name));
            Some(Interface {
                name,
                addresses,
                up: flags & UP != 0,
                multicast: flags & MULTICAST != 0,
                loopback,
            })
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The addresses of this machine, from the routing trie.
fn local_addresses(trie: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(last.take());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The routes: interface, network, mask.
fn routes(table: &str) -> Vec<(String, u32, u32)> {
    let hex = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::swap_bytes);
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (name, network, mask) = (fields.first()?, fields.get(1)?, fields.get(7)?);
        Some(((*name).to_owned(), hex(network)?, hex(mask)?))
    };
    table.lines().skip(1).filter_map(route).collect()
}

fn of_inet6(table: &str, name: &str) -> Vec<String> {
    let address = |line: &str| {
        let mut fields = line.split_whitespace();
        let digits = fields.next()?;
        (fields.last()? == name).then_some(())?;
        let bits = u128::from_str_radix(digits, 16).ok()?;
        Some(Ipv6Addr::from(bits).to_string())
    };
    table.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_tables_are_read() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.7\n        /32 host LOCAL\n     |-- 10.0.0.255\n        /32 link BROADCAST\n";
        assert_eq!(local_addresses(trie), [Ipv4Addr::new(10, 0, 0, 7)]);
        let table = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
                     eth0 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\n";
        assert_eq!(
            routes(table),
            [("eth0".to_owned(), 0x0a00_0000, 0xffff_ff00)]
        );
        let inet6 = "00000000000000000000000000000001 01 80 10 80       lo\n";
        assert_eq!(of_inet6(inet6, "lo"), ["::1"]);
        assert!(of_inet6(inet6, "eth0").is_empty() && routes("garbage").is_empty());
    }
}
