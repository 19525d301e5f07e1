//! Our options as a configuration of Cyclone DDS, mapped as `rmw_cyclonedds` does.

use crate::options::{DiscoveryRange, Options};

/// Requested from the kernel, which grants `net.core.rmem_max` at most: large samples arrive as many packets at once.
/// Fragments keep their size: larger ones are worse for foreign peers.
const RECEIVE_BUFFER: &str = "8MB";
/// Number of processes of a machine that find each other without multicast; as in `rmw_cyclonedds`.
const MAX_PARTICIPANTS: u32 = 32;

/// The configuration for a participant; `external` is the domain on the wire when it is not the one in this process.
pub(crate) fn configuration(options: &Options, external: Option<u32>, process: u32) -> String {
    let (multicast, peers) = match options.range {
        DiscoveryRange::SystemDefault => (true, Vec::new()),
        DiscoveryRange::Subnet => (true, options.static_peers.clone()),
        DiscoveryRange::Localhost => (false, with_localhost(&options.static_peers)),
        DiscoveryRange::Off => (false, Vec::new()),
    };
    let general = if multicast {
        ""
    } else {
        "<AllowMulticast>false</AllowMulticast>"
    };
    let mut discovery: Vec<String> = Vec::new();
    discovery
        .extend(external.map(|domain| format!("<ExternalDomainId>{domain}</ExternalDomainId>")));
    if options.range == DiscoveryRange::Off {
        // A tag of this process.
        discovery.push(format!("<Tag>ros_discovery_off_{process}</Tag>"));
    }
    if !peers.is_empty() {
        discovery.push(format!(
            "<ParticipantIndex>auto</ParticipantIndex>\
             <MaxAutoParticipantIndex>{MAX_PARTICIPANTS}</MaxAutoParticipantIndex><Peers>"
        ));
        discovery.extend(
            peers
                .iter()
                .map(|peer| format!("<Peer Address=\"{}\"/>", escape(peer))),
        );
        discovery.push("</Peers>".into());
    }
    let discovery = discovery.concat();
    let mut text = format!(
        "<CycloneDDS><Domain Id=\"any\"><General>{general}</General><Discovery>{discovery}</Discovery>\
         <Internal><SocketReceiveBufferSize max=\"{RECEIVE_BUFFER}\"/></Internal></Domain></CycloneDDS>"
    );
    if !options.configuration.is_empty() {
        text.push(',');
        text += &options.configuration;
    }
    text
}

fn with_localhost(peers: &[String]) -> Vec<String> {
    let mut all = vec!["localhost".to_owned()];
    all.extend_from_slice(peers);
    all
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(range: DiscoveryRange, peers: &[&str]) -> String {
        let options = Options {
            range,
            static_peers: peers.iter().map(ToString::to_string).collect(),
            ..Options::default()
        };
        configuration(&options, None, 77)
    }

    #[test]
    fn ranges_are_mapped_as_rmw_cyclonedds_does() {
        let subnet = with(DiscoveryRange::Subnet, &["robot"]);
        assert!(!subnet.contains("AllowMulticast"));
        assert!(subnet.contains("<Peers><Peer Address=\"robot\"/></Peers>"));
        let localhost = with(DiscoveryRange::Localhost, &["robot"]);
        assert!(localhost.contains("<AllowMulticast>false</AllowMulticast>"));
        assert!(localhost.contains("<Peer Address=\"localhost\"/><Peer Address=\"robot\"/>"));
        assert!(localhost.contains("<MaxAutoParticipantIndex>32<"));
        let off = with(DiscoveryRange::Off, &["robot"]);
        assert!(off.contains("<Tag>ros_discovery_off_77</Tag>") && !off.contains("Peer"));
        let default = with(DiscoveryRange::SystemDefault, &["robot"]);
        assert!(!default.contains("Peer") && !default.contains("AllowMulticast"));
    }

    #[test]
    fn the_users_configuration_comes_last() {
        let options = Options {
            configuration: "file:///a.xml,<CycloneDDS/>".into(),
            ..Options::default()
        };
        let text = configuration(&options, Some(5), 1);
        assert!(
            text.ends_with("</CycloneDDS>,file:///a.xml,<CycloneDDS/>"),
            "{text}"
        );
        assert!(text.contains("<ExternalDomainId>5</ExternalDomainId>"));
    }

    #[test]
    fn a_peer_cannot_break_out_of_its_attribute() {
        assert!(with(DiscoveryRange::Subnet, &["a\"/><b"]).contains("Address=\"a&quot;/>&lt;b\""));
    }
}
