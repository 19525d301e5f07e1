use std::fmt;

use super::read::Backend;

/// The reason why a variable does not have the same effect as in ROS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableWarningKind {
    /// Timeloom does not have that feature.
    NotHonoured,
    /// Another variable overrides it.
    Overridden,
    /// It works, but ROS will drop it.
    Deprecated,
}

/// A variable that is set and does not have its usual effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableWarning {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// The kind of warning.
    pub kind: VariableWarningKind,
    /// The reason, and what to do.
    pub reason: &'static str,
}

impl VariableWarning {
    /// Whether it only affects how data is sent, which is irrelevant to a program that reads the graph.
    pub fn is_about_data(&self) -> bool {
        [FAST_PROFILES, SHARED_MEMORY].contains(&self.reason)
            || [
                "RMW_FASTRTPS_PUBLICATION_MODE",
                "NDDS_QOS_PROFILES",
                "ROS_DISABLE_LOANED_MESSAGES",
            ]
            .contains(&self.variable)
    }
}

impl fmt::Display for VariableWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            VariableWarningKind::NotHonoured => "is set and not honoured",
            VariableWarningKind::Overridden => "is set and overridden",
            VariableWarningKind::Deprecated => "is deprecated",
        };
        write!(
            f,
            "{}={} {what}: {}",
            self.variable, self.value, self.reason
        )
    }
}

/// Variables that only Fast DDS reads; without effect with another implementation of DDS.
const OF_FAST_DDS: [(&str, &str); 6] = [
    ("FASTRTPS_DEFAULT_PROFILES_FILE", FAST_PROFILES),
    ("FASTDDS_DEFAULT_PROFILES_FILE", FAST_PROFILES),
    ("FASTDDS_ENVIRONMENT_FILE", FAST_PROFILES),
    ("RMW_FASTRTPS_USE_QOS_FROM_XML", FAST_PROFILES),
    (
        "FASTDDS_BUILTIN_TRANSPORTS",
        "only UDP is spoken; peers that are set to TCP or shared memory alone are not reached",
    ),
    (
        "RMW_FASTRTPS_PUBLICATION_MODE",
        "it is for Fast DDS; messages are sent by the thread that publishes",
    ),
];

/// Variables that are never honoured, with the reason.
const NEVER: [(&str, &str); 11] = [
    (
        "RMW_CONNEXT_INITIAL_PEERS",
        "it is for Connext; use ROS_STATIC_PEERS",
    ),
    ("ROS_DISCOVERY_SERVER", DISCOVERY_SERVER),
    ("ROS_SUPER_CLIENT", DISCOVERY_SERVER),
    ("ROS_SECURITY_ENABLE", SECURITY),
    ("ROS_SECURITY_STRATEGY", SECURITY),
    ("ROS_SECURITY_KEYSTORE", SECURITY),
    ("ROS_SECURITY_ENCLAVE_OVERRIDE", SECURITY),
    ("ZENOH_SHM_ALLOC_SIZE", SHARED_MEMORY),
    ("ZENOH_SHM_MESSAGE_SIZE_THRESHOLD", SHARED_MEMORY),
    (
        "NDDS_QOS_PROFILES",
        "profiles of Connext are not read; give QoS with --qos-profile-overrides-path",
    ),
    (
        "ROS_DISABLE_LOANED_MESSAGES",
        "messages are never loaned, so there is nothing to disable",
    ),
];
const FAST_PROFILES: &str = "profiles of Fast DDS are not read; use CYCLONEDDS_URI for the network and --qos-profile-overrides-path for QoS";
const DISCOVERY_SERVER: &str = "discovery servers of Fast DDS are not spoken; peers that rely on one are not found, use ROS_STATIC_PEERS";
const SECURITY: &str =
    "DDS security is not spoken; peers that enforce it stay invisible and data is not encrypted";
const SHARED_MEMORY: &str =
    "shared memory of Zenoh is not used; peers that use it send to us over TCP";

/// Variables that only one of the backends reads.
const OF_ONE: [(&str, Backend, &str); 8] = [
    (
        "CYCLONEDDS_URI",
        Backend::Dds,
        "it is for DDS, and RMW_IMPLEMENTATION selects Zenoh",
    ),
    ("ROS_AUTOMATIC_DISCOVERY_RANGE", Backend::Dds, NOT_IN_ZENOH),
    ("ROS_STATIC_PEERS", Backend::Dds, NOT_IN_ZENOH),
    ("ROS_LOCALHOST_ONLY", Backend::Dds, NOT_IN_ZENOH),
    ("ZENOH_SESSION_CONFIG_URI", Backend::Zenoh, NOT_IN_DDS),
    ("ZENOH_ROUTER_CONFIG_URI", Backend::Zenoh, NOT_IN_DDS),
    ("ZENOH_ROUTER_CHECK_ATTEMPTS", Backend::Zenoh, NOT_IN_DDS),
    ("ZENOH_CONFIG_OVERRIDE", Backend::Zenoh, NOT_IN_DDS),
];
const NOT_IN_ZENOH: &str =
    "rmw_zenoh does not read it; use ZENOH_SESSION_CONFIG_URI or ZENOH_CONFIG_OVERRIDE";
const NOT_IN_DDS: &str = "it is for Zenoh; set RMW_IMPLEMENTATION=rmw_zenoh_cpp to use that";

/// Warnings for all variables that are set and not read.
pub(super) fn unread(
    lookup: &dyn Fn(&str) -> Option<String>,
    backend: Backend,
) -> Vec<VariableWarning> {
    // Without RMW_IMPLEMENTATION, ROS uses Fast DDS.
    let fast =
        lookup("RMW_IMPLEMENTATION").is_none_or(|rmw| rmw.is_empty() || rmw.contains("fastrtps"));
    let of_fast_dds = OF_FAST_DDS.iter().filter(|_| fast).copied();
    let never = of_fast_dds.chain(NEVER.iter().copied());
    let other = OF_ONE
        .iter()
        .filter(|(_, owner, _)| *owner != backend)
        .map(|(variable, _, reason)| (*variable, *reason));
    never
        .chain(other)
        .filter_map(|(variable, reason)| {
            Some(VariableWarning {
                variable,
                value: lookup(variable)?,
                kind: VariableWarningKind::NotHonoured,
                reason,
            })
        })
        .filter(|note| !asks_for_nothing(note))
        .collect()
}

/// Whether the variable is switched off, which is the same as not set.
fn asks_for_nothing(note: &VariableWarning) -> bool {
    note.value.is_empty()
        || (note.variable == "ROS_SECURITY_ENABLE" && note.value != "true")
        || (note.variable == "ROS_DISABLE_LOANED_MESSAGES" && note.value == "1")
        || (note.variable == "ROS_LOCALHOST_ONLY" && note.value == "0")
        || (note.variable == "ROS_SUPER_CLIENT" && !note.value.eq_ignore_ascii_case("true"))
}
