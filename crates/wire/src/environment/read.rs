use super::variable_warning::{VariableWarning, VariableWarningKind, unread};
use super::zenoh::ZenohEnvironment;
use crate::error::{Error, Result};

/// The middleware to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// DDS, which all `rmw_*` but Zenoh's speak.
    #[default]
    Dds,
    /// Zenoh, as `rmw_zenoh_cpp` speaks it.
    Zenoh,
}

/// The range of discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiscoveryRange {
    /// All hosts that multicast reaches.
    #[default]
    Subnet,
    /// This machine only.
    Localhost,
    /// This process only.
    Off,
    /// As in the middleware's own configuration.
    SystemDefault,
}

/// The settings in the environment.
///
/// ```
/// use timeloom_wire::environment::{DiscoveryRange, Environment};
/// let variables = [("ROS_DOMAIN_ID", "7"), ("ROS_LOCALHOST_ONLY", "1")];
/// let lookup = |name: &str| {
///     let found = variables.iter().find(|(variable, _)| *variable == name);
///     found.map(|(_, value)| value.to_string())
/// };
/// let environment = Environment::read(&lookup)?;
/// assert_eq!(environment.domain, 7);
/// assert_eq!(environment.range, DiscoveryRange::Localhost);
/// assert_eq!(environment.notes.len(), 1, "it is deprecated");
/// # Ok::<_, timeloom_wire::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `ROS_DOMAIN_ID`, 0 if not set.
    pub domain: u32,
    /// By `RMW_IMPLEMENTATION`.
    pub backend: Backend,
    /// `RMW_IMPLEMENTATION` as it was spelt.
    pub rmw: Option<String>,
    /// `ROS_AUTOMATIC_DISCOVERY_RANGE`, or this machine by `ROS_LOCALHOST_ONLY`.
    pub range: DiscoveryRange,
    /// `ROS_STATIC_PEERS`: addresses and host names.
    pub static_peers: Vec<String>,
    /// `CYCLONEDDS_URI`: configuration of Cyclone DDS, as it was spelt.
    pub cyclonedds_uri: Option<String>,
    /// The variables of `rmw_zenoh`.
    pub zenoh: ZenohEnvironment,
    /// Variables that are set and do not work as in ROS, or not at all.
    pub notes: Vec<VariableWarning>,
}

/// The highest domain whose ports exist (7400 + 250 × domain).
const MAX_DOMAIN: u32 = 232;
/// The longest peer that `rmw` accepts.
const MAX_PEER: usize = 255;

/// `rmw` implementations that speak DDS.
const DDS: [&str; 6] = [
    "rmw_cyclonedds_cpp",
    "rmw_fastrtps_cpp",
    "rmw_fastrtps_dynamic_cpp",
    "rmw_connextdds",
    "rmw_connext_cpp",
    "rmw_gurumdds_cpp",
];

impl Environment {
    /// Reads the variables that `lookup` returns; `|name| std::env::var(name).ok()` for this process. An empty variable
    /// is not set.
    ///
    /// # Errors
    /// [`Error::Environment`] for the first variable with an invalid value. ROS silently reads some of them as
    /// something else; we do not guess.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let variables = Lookup(lookup);
        let rmw = variables.text("RMW_IMPLEMENTATION");
        let backend = backend(rmw.as_deref())?;
        let mut environment = Self {
            domain: domain(&variables)?,
            backend,
            rmw,
            range: range(&variables)?,
            static_peers: static_peers(&variables)?,
            cyclonedds_uri: variables.text("CYCLONEDDS_URI"),
            zenoh: ZenohEnvironment::read(&variables)?,
            notes: unread(lookup, backend),
        };
        environment.apply_localhost_only(&variables)?;
        environment.note_peers_without_discovery(&variables);
        Ok(environment)
    }

    /// `ROS_LOCALHOST_ONLY` is older than the range and the peers, and overrides both while it is on.
    fn apply_localhost_only(&mut self, variables: &Lookup<'_>) -> Result<()> {
        const VARIABLE: &str = "ROS_LOCALHOST_ONLY";
        let Some(value) = variables.text(VARIABLE) else {
            return Ok(());
        };
        match value.as_str() {
            "0" => return Ok(()),
            "1" => {}
            _ => return Err(invalid(VARIABLE, &value, "expected 0 or 1")),
        }
        if self.backend == Backend::Zenoh {
            // A note says that Zenoh does not read it.
            return Ok(());
        }
        let note = |variable, value: String, kind, reason| VariableWarning {
            variable,
            value,
            kind,
            reason,
        };
        self.notes.push(note(
            VARIABLE,
            value,
            VariableWarningKind::Deprecated,
            "use ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
        ));
        for variable in ["ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS"] {
            if let Some(value) = variables.text(variable) {
                let reason = "ROS_LOCALHOST_ONLY=1 counts alone";
                // Replaces the more general note on the same variable.
                self.notes.retain(|note| note.variable != variable);
                self.notes.push(note(
                    variable,
                    value,
                    VariableWarningKind::Overridden,
                    reason,
                ));
            }
        }
        self.range = DiscoveryRange::Localhost;
        self.static_peers.clear();
        Ok(())
    }

    fn note_peers_without_discovery(&mut self, variables: &Lookup<'_>) {
        if self.range != DiscoveryRange::Off || self.static_peers.is_empty() {
            return;
        }
        self.static_peers.clear();
        self.notes.push(VariableWarning {
            variable: "ROS_STATIC_PEERS",
            value: variables.text("ROS_STATIC_PEERS").unwrap_or_default(),
            kind: VariableWarningKind::Overridden,
            reason: "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF leaves no peers at all",
        });
    }
}

/// The variables; an empty one counts as not set.
pub(super) struct Lookup<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Lookup<'_> {
    pub(super) fn text(&self, variable: &str) -> Option<String> {
        (self.0)(variable).filter(|text| !text.trim().is_empty())
    }
}

pub(super) fn invalid(variable: &'static str, value: &str, expected: &'static str) -> Error {
    Error::Environment {
        variable,
        value: value.to_owned(),
        expected,
    }
}

fn domain(variables: &Lookup<'_>) -> Result<u32> {
    const VARIABLE: &str = "ROS_DOMAIN_ID";
    let Some(text) = variables.text(VARIABLE) else {
        return Ok(0);
    };
    let number = text.trim().parse().ok().filter(|id| *id <= MAX_DOMAIN);
    number.ok_or_else(|| invalid(VARIABLE, &text, "expected a number from 0 to 232"))
}

fn backend(rmw: Option<&str>) -> Result<Backend> {
    match rmw.map(str::trim) {
        None => Ok(Backend::Dds),
        Some("rmw_zenoh_cpp" | "rmw_zenoh") => Ok(Backend::Zenoh),
        Some(name) if DDS.contains(&name) => Ok(Backend::Dds),
        Some(name) => Err(invalid(
            "RMW_IMPLEMENTATION",
            name,
            "expected rmw_cyclonedds_cpp, rmw_fastrtps_cpp, another RMW for DDS, or rmw_zenoh_cpp",
        )),
    }
}

fn range(variables: &Lookup<'_>) -> Result<DiscoveryRange> {
    const VARIABLE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
    let Some(text) = variables.text(VARIABLE) else {
        return Ok(DiscoveryRange::default());
    };
    Ok(match text.trim() {
        "SUBNET" => DiscoveryRange::Subnet,
        "LOCALHOST" => DiscoveryRange::Localhost,
        "OFF" => DiscoveryRange::Off,
        "SYSTEM_DEFAULT" => DiscoveryRange::SystemDefault,
        _ => {
            return Err(invalid(
                VARIABLE,
                &text,
                "expected SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT",
            ));
        }
    })
}

fn static_peers(variables: &Lookup<'_>) -> Result<Vec<String>> {
    const VARIABLE: &str = "ROS_STATIC_PEERS";
    let text = variables.text(VARIABLE).unwrap_or_default();
    let peers = text.split(';').map(str::trim);
    let peers: Vec<_> = peers.filter(|peer| !peer.is_empty()).collect();
    let odd = |peer: &&str| {
        peer.len() > MAX_PEER || peer.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    if peers.iter().any(odd) {
        let expected = "expected addresses or host names separated by `;`";
        return Err(invalid(VARIABLE, &text, expected));
    }
    Ok(peers.into_iter().map(str::to_owned).collect())
}
