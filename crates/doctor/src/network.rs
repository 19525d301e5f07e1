use timeloom_wire::environment::{Backend, DiscoveryRange, Environment};

use crate::machine::receive_buffers;
use crate::{Finding, Interface};

/// The checks of the network that need no participant.
///
/// `rmem_max` is the kernel's limit of receive buffers. Zenoh needs neither multicast nor UDP.
pub fn check_network(
    environment: &Environment,
    interfaces: &[Interface],
    rmem_max: Option<u64>,
    localhost: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if environment.backend != Backend::Dds {
        return findings;
    }
    if environment.range == DiscoveryRange::Subnet && !localhost {
        findings.extend(multicast(interfaces));
    }
    findings.extend(receive_buffers(rmem_max));
    findings
}

/// Whether other machines can be found by multicast.
fn multicast(all: &[Interface]) -> Option<Finding> {
    let out: Vec<&Interface> = all.iter().filter(|one| one.leads_out()).collect();
    let interfaces: Vec<String> = out.iter().map(|one| one.name.clone()).collect();
    if out.iter().any(|one| one.multicast) {
        return (out.len() > 1).then_some(Finding::SeveralInterfaces { interfaces });
    }
    // Without any interface, joining the domain fails and says so.
    if !all.iter().any(|one| one.up) {
        return None;
    }
    Some(if out.is_empty() {
        Finding::OnlyThisMachine
    } else {
        Finding::NoMulticast { interfaces }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, multicast: bool, address: Option<&str>) -> Interface {
        Interface {
            name: name.into(),
            addresses: address.map(str::to_owned).into_iter().collect(),
            up: true,
            multicast,
            loopback: name == "lo",
        }
    }

    #[test]
    fn missing_multicast_is_a_problem_but_a_missing_network_is_not() {
        let lo = || interface("lo", false, Some("127.0.0.1"));
        assert_eq!(multicast(&[lo()]), Some(Finding::OnlyThisMachine));
        let down = Interface { up: false, ..lo() };
        assert_eq!(multicast(&[down]), None);
        let interfaces = vec!["eth0".to_owned()];
        assert_eq!(
            multicast(&[lo(), interface("eth0", false, Some("10.0.0.2"))]),
            Some(Finding::NoMulticast { interfaces })
        );
        let good = || interface("eth0", true, Some("10.0.0.2"));
        assert_eq!(multicast(&[lo(), good()]), None);
        // An interface without an address leads nowhere.
        let without = interface("eth1", true, None);
        assert_eq!(multicast(&[lo(), good(), without]), None);
        let second = interface("wlan0", true, Some("192.168.0.2"));
        let interfaces = vec!["eth0".to_owned(), "wlan0".to_owned()];
        assert_eq!(
            multicast(&[lo(), good(), second]),
            Some(Finding::SeveralInterfaces { interfaces })
        );
    }
}
