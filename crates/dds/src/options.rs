use std::fmt;
use std::sync::Arc;

use timeloom_wire::{Error, Result};

use crate::notes::Note;

/// How far a participant looks for others, as `ROS_AUTOMATIC_DISCOVERY_RANGE` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DiscoveryRange {
    /// Multicast in the network, and the static peers.
    #[default]
    Subnet,
    /// This machine, and the static peers; no multicast.
    Localhost,
    /// Nobody, not even other processes of this machine.
    Off,
    /// Whatever the configuration of Cyclone DDS says.
    SystemDefault,
}

/// Takes what a participant has to tell people.
pub type Reporter = Arc<dyn Fn(&Note) + Send + Sync>;

/// What a participant is made with.
#[derive(Clone)]
pub struct Options {
    /// The ROS domain, 0 to 232.
    pub domain: u32,
    /// How far to look.
    pub range: DiscoveryRange,
    /// Addresses or names of machines to look at as well.
    pub static_peers: Vec<String>,
    /// The security enclave, `/` without security.
    pub enclave: String,
    /// More configuration of Cyclone DDS, XML or URIs separated by commas; wins over the rest.
    pub configuration: String,
    /// Hears of warnings and malformed data; all are counted in any case
    /// ([`DdsParticipant::notes`](crate::DdsParticipant::notes)).
    pub reporter: Option<Reporter>,
}

/// The highest domain whose ports fit below 65536.
const MAX_DOMAIN: u32 = 232;

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
    /// As the environment variables of ROS 2 and Cyclone DDS say.
    ///
    /// # Errors
    /// [`Error::Environment`] for a value that a variable cannot have.
    pub fn from_environment() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// As the variables say that `get` knows. An empty variable is as good as none.
    ///
    /// # Errors
    /// [`Error::Environment`] for a value that a variable cannot have.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let get = |name: &'static str| get(name).filter(|value| !value.is_empty());
        let mut options = Self::default();
        if let Some(value) = get("ROS_DOMAIN_ID") {
            options.domain = value
                .parse()
                .ok()
                .filter(|domain| *domain <= MAX_DOMAIN)
                .ok_or_else(|| wrong("ROS_DOMAIN_ID", value, "a number from 0 to 232"))?;
        }
        if let Some(value) = get("ROS_AUTOMATIC_DISCOVERY_RANGE") {
            options.range = DiscoveryRange::parse(&value)
                .ok_or_else(|| wrong("ROS_AUTOMATIC_DISCOVERY_RANGE", value, RANGES))?;
        }
        if let Some(value) = get("ROS_STATIC_PEERS") {
            options.static_peers = value
                .split(';')
                .filter(|peer| !peer.is_empty())
                .map(Into::into)
                .collect();
        }
        // The old variable wins over the two new ones, as in rcl.
        match get("ROS_LOCALHOST_ONLY").as_deref() {
            None => {}
            Some("0") => options.restrict(DiscoveryRange::Subnet),
            Some("1") => options.restrict(DiscoveryRange::Localhost),
            Some(value) => return Err(wrong("ROS_LOCALHOST_ONLY", value.into(), "0 or 1")),
        }
        options.configuration = get("CYCLONEDDS_URI").unwrap_or_default();
        Ok(options)
    }

    fn restrict(&mut self, range: DiscoveryRange) {
        self.range = range;
        self.static_peers.clear();
    }
}

const RANGES: &str = "SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT";

fn wrong(variable: &'static str, value: String, expected: &'static str) -> Error {
    Error::Environment {
        variable,
        value,
        expected,
    }
}

impl DiscoveryRange {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "SUBNET" => Self::Subnet,
            "LOCALHOST" => Self::Localhost,
            "OFF" => Self::Off,
            "SYSTEM_DEFAULT" => Self::SystemDefault,
            _ => return None,
        })
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
    fn the_old_variable_wins() {
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
    fn values_that_cannot_be_are_refused_with_what_can() {
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
