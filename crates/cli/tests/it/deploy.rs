//! What runs on a robot before its recorder starts: `deploy/before-record.sh`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Sandbox;

fn before_record(sandbox: &Sandbox, min_free: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/before-record.sh");
    let output = Command::new("sh")
        .arg(script)
        .arg(sandbox.path("bags"))
        .arg(min_free)
        .env("TIMELOOM", env!("CARGO_BIN_EXE_timeloom"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_bag_that_a_power_cut_left_open_is_repaired_and_whole_ones_are_not_touched() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    fs::create_dir(sandbox.path("bags")).unwrap();
    let cut = sandbox.copy("mcap_plain", "bags/cut");
    let file = fs::File::options()
        .write(true)
        .open(cut.join("mcap_plain_0.mcap"))
        .unwrap();
    file.set_len(200_000).unwrap();
    let whole = sandbox.copy("mcap_plain", "bags/whole dir");
    let before = fs::read(whole.join("mcap_plain_0.mcap")).unwrap();
    assert_eq!(sandbox.run("info bags/cut -t").code, 3);
    let text = before_record(&sandbox, "1K");
    assert!(text.contains("recovered"), "{text}");
    assert_eq!(sandbox.run("info bags/cut -t").code, 0);
    // Something was lost with the cut: the original stays.
    assert!(cut.join("mcap_plain_0.mcap.damaged").exists());
    assert_eq!(fs::read(whole.join("mcap_plain_0.mcap")).unwrap(), before);
    assert_eq!(before_record(&sandbox, "1K"), "");
}

#[test]
fn the_oldest_bags_are_deleted_while_too_little_is_free() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("bags")).unwrap();
    for name in ["a", "b"] {
        sandbox.copy("mcap_plain", &format!("bags/{name}"));
    }
    for enough in ["1", "1K", "1MiB", "nonsense", ""] {
        before_record(&sandbox, enough);
        assert!(
            sandbox.path("bags/a").exists() && sandbox.path("bags/b").exists(),
            "{enough}"
        );
    }
    let text = before_record(&sandbox, "900000GiB");
    assert!(
        text.contains("deleted") && text.contains("/bags/a"),
        "{text}"
    );
    assert!(
        !sandbox.path("bags/a").exists() && !sandbox.path("bags/b").exists(),
        "{text}"
    );
}
