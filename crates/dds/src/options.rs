use std::fmt;

use timeloom_wire::Result;
pub use timeloom_wire::environment::DiscoveryRange;
use timeloom_wire::environment::Environment;

use timeloom_wire::backend::Reporter;

/// Cyclone DDS on the loopback interface only.
const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface address=\"127.0.0.1\" multicast=\"false\"/></Interfaces>\
    <AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>\
    <MaxAutoParticipantIndex>64</MaxAutoParticipantIndex><Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>\
    </Domain></CycloneDDS>";

/// The options of a participant.
#[derive(Clone)]
pub struct Options {
    /// The ROS domain, 0 to 232.
    pub domain: u32,
    /// The range of discovery.
    pub range: DiscoveryRange,
    /// Addresses or names of further machines to search.
    pub static_peers: Vec<String>,
    /// The security enclave, `/` without security.
    pub enclave: String,
    /// More configuration of Cyclone DDS, XML or URIs separated by commas; it overrides the rest.
    pub configuration: String,
    /// Called with warnings and malformed data; they are counted in any case
    /// ([`DdsParticipant::notes`](crate::DdsParticipant::notes)).
    pub reporter: Option<Reporter>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            domain: 0,
            range: DiscoveryRange::default(),
            static_peers: Vec::new(),
            enclave: "/".into(),
            configuration: String::new(),
            reporter: None,
        }
    }
}

impl Options {
    /// From the environment variables of ROS 2 and Cyclone DDS.
    ///
    /// # Errors
    /// [`Error::Environment`](timeloom_wire::Error::Environment) for an invalid value of a variable.
    pub fn from_environment() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// A domain on 127.0.0.1 only, independent of the environment.
    pub fn loopback(domain: u32) -> Self {
        Self {
            domain,
            range: DiscoveryRange::SystemDefault,
            configuration: LOOPBACK.into(),
            ..Self::default()
        }
    }

    /// From the variables that `get` returns. An empty variable is not set.
    ///
    /// # Errors
    /// [`Error::Environment`](timeloom_wire::Error::Environment) for an invalid value of a variable.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self> {
        Ok(Self::from(&Environment::read(&get)?))
    }
}

impl From<&Environment> for Options {
    fn from(environment: &Environment) -> Self {
        Self {
            domain: environment.domain,
            range: environment.range,
            static_peers: environment.static_peers.clone(),
            configuration: environment.cyclonedds_uri.clone().unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("domain", &self.domain)
            .field("range", &self.range)
            .field("static_peers", &self.static_peers)
            .field("enclave", &self.enclave)
            .field("configuration", &self.configuration)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Options> {
        Options::from_variables(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_of_ros() {
        let options = read(&[
            ("ROS_DOMAIN_ID", "42"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"),
            ("ROS_STATIC_PEERS", "robot;192.168.0.7;"),
            ("CYCLONEDDS_URI", "file:///etc/cyclone.xml"),
        ])
        .unwrap();
        assert_eq!(options.domain, 42);
        assert_eq!(options.range, DiscoveryRange::Localhost);
        assert_eq!(options.static_peers, ["robot", "192.168.0.7"]);
        assert_eq!(options.configuration, "file:///etc/cyclone.xml");
        assert_eq!(read(&[("ROS_DOMAIN_ID", "")]).unwrap().domain, 0);
    }

    #[test]
    fn the_old_variable_overrides_the_new_one() {
        let options = read(&[
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
            ("ROS_STATIC_PEERS", "robot"),
            ("ROS_LOCALHOST_ONLY", "1"),
        ])
        .unwrap();
        assert_eq!(options.range, DiscoveryRange::Localhost);
        assert!(options.static_peers.is_empty());
    }

    #[test]
    fn invalid_values_are_errors_that_name_the_valid_ones() {
        for (variable, value) in [
            ("ROS_DOMAIN_ID", "233"),
            ("ROS_DOMAIN_ID", "-1"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "subnet"),
            ("ROS_LOCALHOST_ONLY", "yes"),
        ] {
            let error = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{variable}={value} is not valid")),
                "{error}"
            );
        }
    }
}
