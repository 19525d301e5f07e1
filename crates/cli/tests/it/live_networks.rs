//! The defaults on the networks that people have: none at all, only the loopback, two interfaces, no multicast.

use std::process::Command;

use crate::support::Run;

/// Output of a script in its own network namespace, with `$TIMELOOM` set; `None` where that is not allowed.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn in_namespace(script: &str) -> Option<Run> {
    let can = Command::new("unshare").args(["-rnm", "true"]).status();
    if !can.is_ok_and(|status| status.success()) {
        eprintln!("skipped: `unshare -rnm` is not allowed here");
        return None;
    }
    let output = Command::new("unshare")
        .args(["-rnm", "timeout", "120", "sh", "-c", script])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TIMELOOM", env!("CARGO_BIN_EXE_timeloom"))
        .output()
        .unwrap();
    Some(Run::new(&output))
}

/// A publisher of `/ours` in the background, and our list of topics once it is there.
const PUBLISH_AND_LIST: &str = "
    $TIMELOOM topic pub /ours std_msgs/msg/String '{data: x}' -r 20 2>/dev/null &
    publisher=$!
    until $TIMELOOM topic list --spin-time 5 | grep -q /ours; do :; done
    $TIMELOOM topic echo /ours std_msgs/msg/String --once --field data
    kill $publisher";

#[test]
fn without_an_interface_the_error_has_a_hint() {
    let Some(run) = in_namespace("$TIMELOOM topic list") else {
        return;
    };
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("hint: no network interface is up"),
        "{run}"
    );
    let doctor = in_namespace("$TIMELOOM doctor net").unwrap();
    assert_eq!(doctor.code, 1, "{doctor}");
    assert!(doctor.stdout.contains("  lo: down, "), "{doctor}");
    assert!(
        doctor
            .stdout
            .contains("Problem: Cyclone DDS can't join domain 0"),
        "{doctor}"
    );
    assert!(
        doctor.stdout.contains("`sudo ip link set lo up`"),
        "{doctor}"
    );
}

#[test]
fn the_loopback_alone_is_enough() {
    let script = format!("ip link set lo up; {PUBLISH_AND_LIST}; exec $TIMELOOM doctor net");
    let Some(run) = in_namespace(&script) else {
        return;
    };
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stdout.starts_with("\"x\"\nInterfaces:\n  lo: up, "),
        "{run}"
    );
    assert!(
        run.stdout.contains("Advice: only this machine is reached"),
        "{run}"
    );
}

/// Two links to another namespace with a publisher of `/far`.
const TWO_LINKS: &str = "
    mount -t tmpfs none /run; mkdir -p /run/netns; ip netns add far
    ip link set lo up
    for n in 1 2; do
        ip link add near$n type veth peer name far$n netns far
        ip addr add 10.$n.0.1/24 dev near$n
        ip -n far addr add 10.$n.0.2/24 dev far$n
        ip link set near$n multicast $MULTICAST up; ip -n far link set far$n multicast $MULTICAST up
    done
    ip -n far link set lo up
    ip netns exec far $TIMELOOM topic pub /far std_msgs/msg/String '{data: far}' -r 20 2>/dev/null &
    far=$!";

#[test]
fn peers_on_two_interfaces_and_on_this_machine_are_found() {
    let script = format!(
        "MULTICAST=on; {TWO_LINKS}
        until $TIMELOOM topic list --spin-time 5 | grep -q /far; do :; done
        $TIMELOOM topic echo /far std_msgs/msg/String --once --field data; {PUBLISH_AND_LIST}
        $TIMELOOM doctor net; kill $far"
    );
    let Some(run) = in_namespace(&script) else {
        return;
    };
    assert!(
        run.stdout.starts_with("\"far\"\n\"x\"\nInterfaces:\n"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("2 interfaces lead to other machines (near1, near2)"),
        "{run}"
    );
    assert!(run.stdout.contains("No problem found"), "{run}");
}

#[test]
fn without_multicast_peers_are_found_by_address() {
    let script = format!(
        "MULTICAST=off; {TWO_LINKS}
        {PUBLISH_AND_LIST}
        $TIMELOOM doctor net | grep '^Problem'
        export ROS_STATIC_PEERS=10.1.0.2
        until $TIMELOOM topic list --spin-time 5 | grep -q /far; do :; done
        $TIMELOOM topic echo /far std_msgs/msg/String --once --field data; kill $far"
    );
    let Some(run) = in_namespace(&script) else {
        return;
    };
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{run}");
    assert_eq!((lines[0], lines[2]), ("\"x\"", "\"far\""), "{run}");
    let problem = "Problem: no interface has multicast (near1, near2): other machines and containers are not found; \
                   name them in ROS_STATIC_PEERS";
    assert!(lines[1].starts_with(problem), "{run}");
}
