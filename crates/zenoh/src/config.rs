//! The configurations of a session and of a router, by default those of `rmw_zenoh`.

use timeloom_wire::Result;
use zenoh::Config;

use crate::options::Options;
use crate::shared::refused;

/// The session defaults of `rmw_zenoh`: peers that find each other through a router on this machine.
const SESSION: &str = r#"{
    mode: "peer",
    connect: {
        timeout_ms: { router: -1, peer: -1, client: 0 },
        endpoints: ["tcp/localhost:7447"],
        exit_on_failure: { router: false, peer: false, client: true },
        retry: { period_init_ms: 1000, period_max_ms: 4000, period_increase_factor: 2 },
    },
    listen: { timeout_ms: 0, endpoints: ["tcp/localhost:0"], exit_on_failure: true },
    scouting: {
        delay: 500,
        multicast: { enabled: false },
        gossip: {
            enabled: true,
            target: { router: ["router", "peer"], peer: ["router"] },
            autoconnect: { router: [], peer: ["router", "peer"] },
            autoconnect_strategy: { peer: { to_router: "always", to_peer: "greater-zid" } },
        },
    },
    timestamping: { enabled: true },
    queries_default_timeout: 60000,
    transport: {
        unicast: { open_timeout: 60000, accept_timeout: 60000, accept_pending: 10000, max_sessions: 10000 },
        link: {
            tx: {
                lease: 60000,
                keep_alive: 2,
                queue: { congestion_control: { block: { wait_before_close: 60000000 } } },
            },
        },
    },
}"#;

/// The router defaults of `rmw_zenoh`; without the wait for others that are found by multicast.
const ROUTER: &str = r#"{
    mode: "router",
    scouting: {
        delay: 0,
        multicast: { enabled: false },
        gossip: { enabled: true, target: { router: ["router", "peer"], peer: ["router"] } },
    },
    timestamping: { enabled: true },
    queries_default_timeout: 60000,
    routing: { router: { peers_failover_brokering: false } },
    transport: {
        unicast: { open_timeout: 60000, accept_timeout: 60000, accept_pending: 10000, max_sessions: 10000 },
        link: {
            tx: {
                lease: 60000,
                keep_alive: 2,
                queue: { congestion_control: { block: { wait_before_close: 60000000 } } },
            },
        },
    },
}"#;

/// The session's configuration.
///
/// # Errors
/// When a file cannot be read, or Zenoh does not accept a key or value.
pub(crate) fn session(options: &Options) -> Result<Config> {
    let mut config = match &options.session_config {
        Some(uri) => from_uri("ZENOH_SESSION_CONFIG_URI", uri)?,
        None => from_text(SESSION)?,
    };
    for (key, value) in &options.overrides {
        config.insert_json5(key, value).map_err(|error| {
            refused(format!("set {key}={value} (ZENOH_CONFIG_OVERRIDE)"), error)
        })?;
    }
    Ok(config)
}

/// The configuration of a router that listens at `listen`, unless a file overrides it.
///
/// # Errors
/// When the file cannot be read, or Zenoh does not accept the endpoints.
pub(crate) fn router(file: Option<&str>, listen: &[String]) -> Result<Config> {
    if let Some(uri) = file {
        return from_uri("ZENOH_ROUTER_CONFIG_URI", uri);
    }
    let mut config = from_text(ROUTER)?;
    config
        .insert_json5("listen/endpoints", &format!("{listen:?}"))
        .map_err(|error| refused(format!("be a router at {}", listen.join(", ")), error))?;
    Ok(config)
}

/// The endpoints at which the session looks for its router or peers.
pub(crate) fn connects_to(config: &Config) -> Vec<String> {
    endpoints(config, "connect/endpoints")
}

/// Endpoints in the configuration with a protocol that this build does not have: Zenoh itself ignores them silently.
pub(crate) fn unspoken(config: &Config) -> Vec<String> {
    let places = ["connect/endpoints", "listen/endpoints"];
    let all = places.iter().flat_map(|place| endpoints(config, place));
    all.filter(|endpoint| !endpoint.starts_with("tcp/"))
        .collect()
}

fn endpoints(config: &Config, key: &str) -> Vec<String> {
    let found = config.get_json(key).unwrap_or_default();
    // A list, or a list for each mode: a quoted text with a protocol is an endpoint either way.
    found
        .split('"')
        .filter(|part| part.contains('/') && !part.contains(|c: char| c.is_whitespace()))
        .map(str::to_owned)
        .collect()
}

fn from_text(text: &str) -> Result<Config> {
    Config::from_json5(text).map_err(|error| refused("read its own configuration".into(), error))
}

fn from_uri(variable: &str, uri: &str) -> Result<Config> {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    Config::from_file(path).map_err(|error| refused(format!("read {variable}={uri}"), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(overrides: &[(&str, &str)]) -> Options {
        Options {
            overrides: overrides
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..Options::default()
        }
    }

    #[test]
    fn the_defaults_are_those_of_rmw_zenoh() {
        let config = session(&Options::default()).unwrap();
        assert_eq!(connects_to(&config), ["tcp/localhost:7447"]);
        assert_eq!(config.get_json("mode").unwrap(), "\"peer\"");
        assert_eq!(
            config.get_json("scouting/multicast/enabled").unwrap(),
            "false"
        );
        assert_eq!(config.get_json("transport/link/tx/lease").unwrap(), "60000");
    }

    #[test]
    fn overrides_win_and_invalid_ones_are_errors() {
        let config = session(&options(&[
            ("mode", "\"client\""),
            (
                "connect/endpoints",
                r#"["tcp/robot:7447", "tcp/10.0.0.1:1"]"#,
            ),
        ]));
        assert_eq!(
            connects_to(&config.unwrap()),
            ["tcp/robot:7447", "tcp/10.0.0.1:1"]
        );
        let error = session(&options(&[("mode", "\"boss\"")]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("mode=\"boss\" (ZENOH_CONFIG_OVERRIDE)"),
            "{error}"
        );
    }

    #[test]
    fn unsupported_protocols_are_reported() {
        let config = session(&options(&[(
            "connect/endpoints",
            r#"["tcp/robot:7447", "tls/robot:7448"]"#,
        )]));
        assert_eq!(unspoken(&config.unwrap()), ["tls/robot:7448"]);
        assert!(unspoken(&session(&Options::default()).unwrap()).is_empty());
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let options = Options {
            session_config: Some("file:///nowhere/session.json5".into()),
            ..Options::default()
        };
        let error = session(&options).unwrap_err().to_string();
        assert!(
            error.contains("ZENOH_SESSION_CONFIG_URI=file:///nowhere"),
            "{error}"
        );
        assert!(router(Some("/nowhere/router.json5"), &[]).is_err());
    }

    #[test]
    fn a_router_listens_at_the_given_endpoint() {
        let config = router(None, &["tcp/127.0.0.1:0".into()]).unwrap();
        assert_eq!(config.get_json("mode").unwrap(), "\"router\"");
        assert!(
            config
                .get_json("listen/endpoints")
                .unwrap()
                .contains("tcp/127.0.0.1:0")
        );
    }
}
