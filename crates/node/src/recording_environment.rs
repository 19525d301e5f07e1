use std::collections::BTreeMap;
use std::env;

use timeloom_bag::RecordingEnvironment;

use crate::fleet::FleetIdentity;

/// The only variables that are recorded: none of them holds secrets.
const VARIABLES: [&str; 11] = [
    "AMENT_PREFIX_PATH",
    "RMW_IMPLEMENTATION",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_DISCOVERY_SERVER",
    "ROS_DISTRO",
    "ROS_DOMAIN_ID",
    "ROS_LOCALHOST_ONLY",
    "ROS_SECURITY_ENABLE",
    "ROS_STATIC_PEERS",
    "ROS_VERSION",
    "TZ",
];

/// Parts of names whose values are not recorded.
const SECRETS: [&str; 7] = [
    "auth",
    "credential",
    "key",
    "passphrase",
    "password",
    "secret",
    "token",
];

/// The environment of this process for the metadata of a bag: host, versions, settings of ROS and the command line,
/// without secrets.
pub fn recording_environment() -> RecordingEnvironment {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            all.insert(name.to_owned(), value);
        }
    };
    let this = process_identity();
    add("host", this.host);
    add("process", this.process.to_string());
    add("timeloom", this.version);
    add("kernel", kernel("osrelease"));
    add("architecture", env::consts::ARCH.to_owned());
    add("system", system());
    let words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    add("command", without_secrets(words).join(" "));
    for name in VARIABLES {
        add(name, env::var(name).unwrap_or_default());
    }
    RecordingEnvironment(all)
}

/// This process, as a recorder of a fleet.
pub fn process_identity() -> FleetIdentity {
    FleetIdentity {
        host: kernel("hostname"),
        process: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn kernel(name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    text.unwrap_or_default().trim().to_owned()
}

/// The name of the distribution of Linux.
fn system() -> String {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let mut lines = text.lines();
    let name = lines.find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or_default().trim_matches('"').to_owned()
}

/// The words of a command line; values whose name sounds like a secret are `***`.
fn without_secrets(words: impl Iterator<Item = String>) -> Vec<String> {
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        SECRETS.iter().any(|part| name.contains(part))
    };
    let mut hide_next = false;
    words
        .map(|word| {
            let hidden = std::mem::take(&mut hide_next) && !word.starts_with("--");
            let parts = word.split_once(":=").map(|(name, _)| (name, ":="));
            let parts = parts.or_else(|| word.split_once('=').map(|(name, _)| (name, "=")));
            match parts {
                _ if hidden => "***".to_owned(),
                Some((name, mark)) if is_secret(name) => format!("{name}{mark}***"),
                None if word.starts_with("--") && is_secret(&word) => {
                    hide_next = true;
                    word
                }
                _ => word,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_sound_like_secrets_are_not_recorded() {
        let line = "timeloom record -a --custom-data operator=ana API_TOKEN=abc --ros-args -p \
            door.password:=1234 -p rate:=5 --secret xyz --start-paused";
        let words = line.split_whitespace().map(str::to_owned);
        assert_eq!(
            without_secrets(words).join(" "),
            "timeloom record -a --custom-data operator=ana API_TOKEN=*** --ros-args -p door.password:=*** -p rate:=5 \
             --secret *** --start-paused"
        );
    }

    #[test]
    fn only_named_variables_are_recorded() {
        let recorded = recording_environment().0;
        let own = [
            "architecture",
            "command",
            "host",
            "kernel",
            "process",
            "system",
            "timeloom",
        ];
        for name in recorded.keys() {
            let name = name.as_str();
            assert!(own.contains(&name) || VARIABLES.contains(&name), "{name}");
        }
        assert_eq!(recorded["timeloom"], env!("CARGO_PKG_VERSION"));
        assert!(!recorded.contains_key("PATH"));
    }
}
