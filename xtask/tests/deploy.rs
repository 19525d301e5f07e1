//! The units in `deploy/` as systemd reads them; the commands in them are checked by timeloom-cli.

use std::path::Path;
use std::process::Command;

/// What systemd complains about in a unit, whose program is one that is there.
fn complaints(folder: &Path, name: &str, unit: &str) -> String {
    let unit = unit.replace("=/usr/bin/timeloom ", "=/bin/true ");
    let path = folder.join(name);
    std::fs::write(&path, unit).expect("a unit can be written");
    let output = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&path)
        .output()
        .expect("systemd-analyze can be run");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() || !text.is_empty(),
        "systemd-analyze failed without a word"
    );
    text
}

#[test]
fn systemd_understands_the_units() {
    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: there is no systemd-analyze");
        return;
    }
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(deploy).expect("deploy/ is there") {
        let path = entry.expect("deploy/ can be read").path();
        if path.extension().is_some_and(|ending| ending == "service") {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.expect("units have names in UTF-8");
            let unit = std::fs::read_to_string(&path).expect("a unit is text");
            assert_eq!(complaints(folder, name, &unit), "", "{name}");
            // A wrong unit would be found.
            let wrong = unit.replace("KillSignal=SIGINT", "KilSignal=SIGINT");
            let text = complaints(folder, name, &wrong);
            assert!(text.contains("KilSignal"), "{name}: {text}");
            count += 1;
        }
    }
    assert_eq!(count, 2);
}
