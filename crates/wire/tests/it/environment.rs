//! Reading the environment of a ROS process.

use proptest::prelude::*;
use timeloom_wire::Error;
use timeloom_wire::environment::{
    Backend, DiscoveryRange, Environment, RouterCheck, VariableWarning, VariableWarningKind,
};

fn read(variables: &[(&str, &str)]) -> Result<Environment, Error> {
    Environment::read(&|name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn refused(variable: &str, value: &str) -> String {
    let error = read(&[(variable, value)]).expect_err("it is refused");
    assert!(
        matches!(error, Error::Environment { variable: named, .. } if named == variable),
        "{error}"
    );
    error.to_string()
}

#[test]
fn an_empty_environment_is_domain_0_on_the_subnet_over_dds() {
    assert_eq!(read(&[]).unwrap(), Environment::default());
    let empty = [
        ("ROS_DOMAIN_ID", ""),
        ("ROS_STATIC_PEERS", " "),
        ("RMW_IMPLEMENTATION", ""),
    ];
    assert_eq!(read(&empty).unwrap(), Environment::default());
}

#[test]
fn the_implementation_picks_the_backend() {
    for (name, backend) in [
        ("rmw_zenoh_cpp", Backend::Zenoh),
        ("rmw_cyclonedds_cpp", Backend::Dds),
        ("rmw_fastrtps_cpp", Backend::Dds),
        ("rmw_connextdds", Backend::Dds),
    ] {
        assert_eq!(
            read(&[("RMW_IMPLEMENTATION", name)]).unwrap().backend,
            backend
        );
    }
    refused("RMW_IMPLEMENTATION", "rmw_email_cpp");
}

#[test]
fn invalid_values_are_errors_that_name_the_valid_ones() {
    for bad in ["x", "-1", "233", "99999999999", "1.5"] {
        let error = refused("ROS_DOMAIN_ID", bad);
        assert_eq!(
            error,
            format!("ROS_DOMAIN_ID={bad} is not valid: expected a number from 0 to 232")
        );
    }
    refused("ROS_AUTOMATIC_DISCOVERY_RANGE", "localhost");
    refused("ROS_STATIC_PEERS", "10.0.0.1 10.0.0.2");
    refused("ROS_LOCALHOST_ONLY", "true");
    refused("ZENOH_ROUTER_CHECK_ATTEMPTS", "never");
    refused("ZENOH_CONFIG_OVERRIDE", "mode");
}

#[test]
fn range_and_peers() {
    for (text, range) in [
        ("SUBNET", DiscoveryRange::Subnet),
        ("LOCALHOST", DiscoveryRange::Localhost),
        ("OFF", DiscoveryRange::Off),
        ("SYSTEM_DEFAULT", DiscoveryRange::SystemDefault),
    ] {
        let variables = [("ROS_AUTOMATIC_DISCOVERY_RANGE", text)];
        assert_eq!(read(&variables).unwrap().range, range);
    }
    let peers = [("ROS_STATIC_PEERS", "192.168.0.1;;robot.local ; fe80::1")];
    assert_eq!(
        read(&peers).unwrap().static_peers,
        ["192.168.0.1", "robot.local", "fe80::1"]
    );
}

#[test]
fn localhost_only_overrides_range_and_peers_with_a_note() {
    let variables = [
        ("ROS_LOCALHOST_ONLY", "1"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
        ("ROS_STATIC_PEERS", "10.0.0.1"),
    ];
    let environment = read(&variables).unwrap();
    assert_eq!(environment.range, DiscoveryRange::Localhost);
    assert!(environment.static_peers.is_empty());
    let kinds: Vec<_> = environment
        .notes
        .iter()
        .map(|note| (note.variable, note.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("ROS_LOCALHOST_ONLY", VariableWarningKind::Deprecated),
            (
                "ROS_AUTOMATIC_DISCOVERY_RANGE",
                VariableWarningKind::Overridden
            ),
            ("ROS_STATIC_PEERS", VariableWarningKind::Overridden),
        ]
    );
    let off = [
        ("ROS_LOCALHOST_ONLY", "0"),
        ("ROS_STATIC_PEERS", "10.0.0.1"),
    ];
    let environment = read(&off).unwrap();
    assert_eq!(environment.static_peers, ["10.0.0.1"]);
    assert!(environment.notes.is_empty());
}

#[test]
fn no_discovery_leaves_no_peers() {
    let variables = [
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"),
        ("ROS_STATIC_PEERS", "10.0.0.1"),
    ];
    let environment = read(&variables).unwrap();
    assert!(environment.static_peers.is_empty());
    assert_eq!(environment.notes[0].variable, "ROS_STATIC_PEERS");
}

#[test]
fn zenoh_has_its_own_variables() {
    let environment = read(&[
        ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp"),
        ("ZENOH_SESSION_CONFIG_URI", "/etc/session.json5"),
        ("ZENOH_ROUTER_CONFIG_URI", "/etc/router.json5"),
        ("ZENOH_ROUTER_CHECK_ATTEMPTS", "3"),
        (
            "ZENOH_CONFIG_OVERRIDE",
            "mode=\"client\"; connect/endpoints=[\"tcp/a=b:7447\"];",
        ),
        ("ROS_STATIC_PEERS", "10.0.0.1"),
    ])
    .unwrap();
    assert_eq!(
        environment.zenoh.session_config.as_deref(),
        Some("/etc/session.json5")
    );
    assert_eq!(
        environment.zenoh.router_config.as_deref(),
        Some("/etc/router.json5")
    );
    assert_eq!(environment.zenoh.router_check, RouterCheck::Attempts(3));
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        environment.zenoh.overrides,
        [
            pair("mode", "\"client\""),
            pair("connect/endpoints", "[\"tcp/a=b:7447\"]")
        ]
    );
    let notes: Vec<_> = environment.notes.iter().map(|note| note.variable).collect();
    assert_eq!(notes, ["ROS_STATIC_PEERS"], "rmw_zenoh does not read it");
    for (text, check) in [("0", RouterCheck::Wait), ("-1", RouterCheck::Skip)] {
        let zenoh = read(&[("ZENOH_ROUTER_CHECK_ATTEMPTS", text)])
            .unwrap()
            .zenoh;
        assert_eq!(zenoh.router_check, check);
    }
    let unset = read(&[]).unwrap().zenoh.router_check;
    assert_eq!(unset, RouterCheck::Attempts(1));
}

#[test]
fn variables_that_zenoh_does_not_read_are_noted() {
    let environment = read(&[
        ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp"),
        ("ROS_LOCALHOST_ONLY", "1"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"),
        ("ZENOH_SHM_ALLOC_SIZE", "1048576"),
    ])
    .unwrap();
    let mut notes = environment.notes.iter();
    assert!(notes.all(|note| note.kind == VariableWarningKind::NotHonoured));
    let mut notes: Vec<_> = environment.notes.iter().map(|note| note.variable).collect();
    notes.sort_unstable();
    assert_eq!(
        notes,
        [
            "ROS_AUTOMATIC_DISCOVERY_RANGE",
            "ROS_LOCALHOST_ONLY",
            "ZENOH_SHM_ALLOC_SIZE"
        ]
    );
}

#[test]
fn variables_that_are_not_honoured_are_noted() {
    let environment = read(&[
        ("FASTRTPS_DEFAULT_PROFILES_FILE", "/a.xml"),
        ("ROS_DISCOVERY_SERVER", "10.0.0.1:11811"),
        ("ROS_SECURITY_ENABLE", "true"),
        ("ROS_SECURITY_KEYSTORE", "/keys"),
        ("ZENOH_SESSION_CONFIG_URI", "/z.json5"),
        ("CYCLONEDDS_URI", "file:///c.xml"),
    ])
    .unwrap();
    assert_eq!(environment.cyclonedds_uri.as_deref(), Some("file:///c.xml"));
    let notes: Vec<_> = environment.notes.iter().map(|note| note.variable).collect();
    assert_eq!(
        notes,
        [
            "FASTRTPS_DEFAULT_PROFILES_FILE",
            "ROS_DISCOVERY_SERVER",
            "ROS_SECURITY_ENABLE",
            "ROS_SECURITY_KEYSTORE",
            "ZENOH_SESSION_CONFIG_URI",
        ]
    );
    assert!(
        environment.notes[0]
            .to_string()
            .starts_with("FASTRTPS_DEFAULT_PROFILES_FILE=/a.xml is set and not honoured: ")
    );
    assert!(
        read(&[("ROS_SECURITY_ENABLE", "false")])
            .unwrap()
            .notes
            .is_empty()
    );
}

#[test]
fn profiles_of_fast_dds_concern_only_fast_dds() {
    let noted = |rmw: &str| {
        let profiles = ("FASTDDS_DEFAULT_PROFILES_FILE", "/a.xml");
        let environment = read(&[profiles, ("RMW_IMPLEMENTATION", rmw)]).unwrap();
        assert!(environment.notes.iter().all(VariableWarning::is_about_data));
        !environment.notes.is_empty()
    };
    assert!(noted("") && noted("rmw_fastrtps_cpp"));
    assert!(!noted("rmw_cyclonedds_cpp") && !noted("rmw_zenoh_cpp"));
    let server = read(&[("ROS_DISCOVERY_SERVER", "10.0.0.1:11811")]).unwrap();
    assert!(!server.notes[0].is_about_data());
}

const VARIABLES: [&str; 11] = [
    "ROS_DOMAIN_ID",
    "RMW_IMPLEMENTATION",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_STATIC_PEERS",
    "ROS_LOCALHOST_ONLY",
    "CYCLONEDDS_URI",
    "ZENOH_SESSION_CONFIG_URI",
    "ZENOH_ROUTER_CHECK_ATTEMPTS",
    "ZENOH_CONFIG_OVERRIDE",
    "ROS_SECURITY_ENABLE",
    "ROS_DISCOVERY_SERVER",
];

proptest! {
    /// Any environment is read or gives an error that names a variable, without a panic.
    #[test]
    fn any_environment_is_read_or_refused(
        values in prop::collection::vec(
            prop::option::of(prop_oneof![
                any::<String>(),
                "[-+0-9;= a-z\u{e9}\0]{0,12}",
                prop::sample::select(vec!["1", "OFF", "LOCALHOST", "a;b", "rmw_zenoh_cpp", "k=v;"])
                    .prop_map(str::to_owned),
            ]),
            VARIABLES.len(),
        ),
    ) {
        let lookup = |name: &str| {
            let at = VARIABLES.iter().position(|variable| *variable == name)?;
            values[at].clone()
        };
        match Environment::read(&lookup) {
            Ok(environment) => {
                prop_assert!(environment.domain <= 232);
                prop_assert!(environment.static_peers.iter().all(|peer| !peer.is_empty()));
                for note in &environment.notes {
                    prop_assert!(lookup(note.variable).is_some(), "{note}");
                }
            }
            Err(Error::Environment { variable, .. }) => prop_assert!(lookup(variable).is_some()),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
