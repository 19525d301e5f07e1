//! Events of the libraries on stderr.

use crate::support::Sandbox;

#[test]
fn events_are_printed_for_rust_log_alone() {
    let mut sandbox = Sandbox::new();
    let info = "info BAGS/mcap_plain";
    assert_eq!(sandbox.run(info).stderr, "");
    let cat = "cat BAGS/mcap_plain -n 1";
    assert!(!sandbox.run(cat).stderr.contains("open bag"));
    sandbox.set("RUST_LOG", "timeloom=debug");
    let run = sandbox.run(cat);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("DEBUG timeloom_bag"), "{run}");
    assert!(run.stderr.contains("open bag"), "{run}");
}
