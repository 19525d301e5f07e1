//! Licences and sources of everything that comes into the build.

use std::path::Path;

#[test]
fn every_dependency_may_come_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let fine = xtask::audit::run(&root, &mut found).expect("cargo can be asked");
    assert!(fine, "{}", String::from_utf8_lossy(&found));
}
