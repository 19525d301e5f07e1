//! What there is, and what is wrong with it.

use std::collections::BTreeSet;
use std::fs;

use timeloom_wire::Graph;
use timeloom_wire::environment::{Backend, DiscoveryRange, Environment};

use super::checks;
use super::interfaces::{Interface, interfaces};
use crate::live::{Live, mismatches};

/// What Cyclone DDS asks the kernel for: `8MB` in its units.
pub(super) const WANTED_BUFFER: u64 = 8 << 20;

/// What was found.
pub(super) struct Findings {
    pub(super) environment: Environment,
    pub(super) interfaces: Vec<Interface>,
    /// The kernel's limit of receive buffers, where it tells one and it matters.
    pub(super) rmem_max: Option<u64>,
    /// How far is looked for others.
    pub(super) range: String,
    /// Who is there, if the domain could be joined.
    pub(super) seen: Option<Seen>,
    pub(super) problems: Vec<String>,
    pub(super) advice: Vec<String>,
}

/// Who is there.
pub(super) struct Seen {
    /// The transport in words.
    pub(super) transport: String,
    pub(super) nodes: Vec<String>,
    pub(super) topics: usize,
    pub(super) participants: usize,
    /// How many of them are of which make.
    pub(super) vendors: Vec<String>,
}

impl Findings {
    /// What the machine and its environment tell.
    pub(super) fn of_machine(environment: Environment, localhost: bool) -> Self {
        // Zenoh needs no multicast, and reads no UDP.
        let dds = environment.backend == Backend::Dds;
        let rmem = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
        let rmem_max = rmem
            .filter(|_| dds)
            .and_then(|text| text.trim().parse().ok());
        let range = if localhost {
            "127.0.0.1 only (--localhost)".to_owned()
        } else {
            format!("{:?}", environment.range)
        };
        let mut findings = Self {
            interfaces: interfaces(),
            rmem_max,
            range,
            seen: None,
            problems: Vec::new(),
            advice: Vec::new(),
            environment,
        };
        if dds && findings.environment.range == DiscoveryRange::Subnet && !localhost {
            let (problem, advice) = ways_out(&findings.interfaces);
            findings.problems.extend(problem);
            findings.advice.extend(advice);
        }
        if rmem_max.is_some_and(|limit| limit < WANTED_BUFFER) {
            findings.advice.push(format!(
                "receive buffers are limited: large messages on best effort may be lost; run `sudo sysctl -w \
                 net.core.rmem_max={WANTED_BUFFER}`"
            ));
        }
        findings
    }

    /// Adds what the graph tells.
    pub(super) fn look_at(&mut self, live: &Live, graph: &Graph) {
        let nodes: Vec<String> = live.nodes(graph).iter().map(ToString::to_string).collect();
        let topics: BTreeSet<&str> = graph.topics().into_iter().map(|(name, _)| name).collect();
        let participants: BTreeSet<[u8; 12]> =
            graph.endpoints().map(|info| info.gid.prefix()).collect();
        // On Zenoh the key alone counts.
        let dds = live.qos_must_fit();
        let problems = &mut self.problems;
        problems.extend(checks::two_clocks(graph));
        problems.extend(checks::doubles(&nodes));
        problems.extend(checks::crowded_services(graph));
        problems.extend(checks::two_definitions(graph));
        for topic in topics.iter().filter(|_| dds) {
            let sentences = mismatches(graph, topic);
            problems.extend(sentences.iter().map(|text| format!("{topic}: {text}")));
        }
        problems.extend(live.notes());
        self.advice.extend(checks::clock_without_owner(graph));
        self.seen = Some(Seen {
            transport: live.participant().describe(),
            topics: topics.len(),
            participants: participants.len(),
            vendors: if dds {
                checks::vendors(graph)
            } else {
                Vec::new()
            },
            nodes,
        });
    }
}

/// Whether others can be found by multicast: a problem, or advice.
fn ways_out(all: &[Interface]) -> (Option<String>, Option<String>) {
    let out: Vec<&Interface> = all.iter().filter(|one| one.leads_out()).collect();
    if out.iter().any(|one| one.multicast) {
        return (None, several(&out));
    }
    // Without any, joining the domain fails and says so.
    if !all.iter().any(|one| one.up) {
        return (None, None);
    }
    if out.is_empty() {
        let text = "only this machine is reached: no other interface is up with an address";
        return (None, Some(text.to_owned()));
    }
    let names: Vec<&str> = out.iter().map(|one| one.name.as_str()).collect();
    let text = format!(
        "no interface has multicast ({}): other machines and containers are not found; name them in \
         ROS_STATIC_PEERS, or set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST if there are none",
        names.join(", ")
    );
    (Some(text), None)
}

/// Cyclone DDS uses one interface unless it is told otherwise.
fn several(out: &[&Interface]) -> Option<String> {
    let names: Vec<&str> = out.iter().map(|one| one.name.as_str()).collect();
    (names.len() > 1).then(|| {
        format!(
            "{} interfaces lead to other machines ({}), and Cyclone DDS uses the one that it likes best: name those \
             of the robot with General/Interfaces in CYCLONEDDS_URI if peers are missing",
            names.len(),
            names.join(", ")
        )
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
    fn a_network_without_multicast_is_a_problem_and_no_network_is_none() {
        let lo = || interface("lo", false, Some("127.0.0.1"));
        let (problem, advice) = ways_out(&[lo()]);
        assert_eq!(problem, None);
        assert!(advice.unwrap().starts_with("only this machine"));
        let down = Interface { up: false, ..lo() };
        assert_eq!(ways_out(&[down]), (None, None));
        let (problem, _) = ways_out(&[lo(), interface("eth0", false, Some("10.0.0.2"))]);
        assert!(
            problem
                .unwrap()
                .starts_with("no interface has multicast (eth0)")
        );
        let good = || interface("eth0", true, Some("10.0.0.2"));
        assert_eq!(ways_out(&[lo(), good()]), (None, None));
        // One without an address leads nowhere.
        let down = interface("eth1", true, None);
        assert_eq!(ways_out(&[lo(), good(), down]), (None, None));
        let second = interface("wlan0", true, Some("192.168.0.2"));
        let (problem, advice) = ways_out(&[lo(), good(), second]);
        assert_eq!(problem, None);
        assert!(
            advice
                .unwrap()
                .contains("2 interfaces lead to other machines (eth0, wlan0)")
        );
    }
}
