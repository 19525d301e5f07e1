//! `unsafe` stands only in rooms that `ARCHITECTURE.md` names for it.

use super::architecture::{Architecture, DOCUMENT};
use super::source::rust_files;
use std::io;
use std::path::Path;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let architecture = Architecture::read(root)?;
    let mut findings = Vec::new();
    for file in rust_files(root)? {
        let room = file.room();
        if architecture
            .room(room)
            .is_some_and(|room| room.may_be_unsafe)
        {
            continue;
        }
        findings.extend(file.lines_with("unsafe").map(|(line, _)| {
            format!(
                "{}:{line}: unsafe code, which {DOCUMENT} does not allow in `{room}`",
                file.path
            )
        }));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::architecture::tests::EXAMPLE;
    use crate::tidy::tree::Tree;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(Tree::new(&[(DOCUMENT, EXAMPLE), (path, text)]).root()).unwrap()
    }

    #[test]
    fn unsafe_code_is_found_outside_its_rooms() {
        let code = "fn a() {\n    unsafe { b() }\n}\n";
        let expected =
            ["crates/bag/src/a.rs:2: unsafe code, which ARCHITECTURE.md does not allow in `bag`"];
        assert_eq!(findings("crates/bag/src/a.rs", code), expected);
        assert_eq!(findings("crates/nobody/src/a.rs", code).len(), 1);
        assert_eq!(findings("xtask/src/a.rs", code).len(), 1);
        assert!(findings("crates/dds/src/a.rs", code).is_empty());
    }

    #[test]
    fn forbidding_it_is_fine() {
        assert!(findings("crates/bag/src/a.rs", "#![forbid(unsafe_code)] // unsafe\n").is_empty());
    }
}
