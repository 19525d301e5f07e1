//! `unsafe` stands only in rooms that `ARCHITECTURE.md` names for it, and says there why it is sound.

use super::architecture::{Architecture, DOCUMENT};
use super::source::{RustFile, rust_files};
use std::io;
use std::path::Path;

/// So many lines above, at most, the reason begins.
const REASON_ABOVE: usize = 6;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let architecture = Architecture::read(root)?;
    let mut findings = Vec::new();
    for file in rust_files(root)? {
        let room = file.room();
        if architecture
            .room(room)
            .is_some_and(|room| room.may_be_unsafe)
        {
            // Benchmarks call C as bare as can be: what they compare with.
            if file.path.contains("/src/") {
                findings.extend(without_reason(&file));
            }
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

/// Blocks and implementations without a `SAFETY:` above them. What is only declared has its reason where it is used.
fn without_reason(file: &RustFile) -> Vec<String> {
    let (code, text): (Vec<&str>, Vec<&str>) = (file.code.lines().zip(file.text.lines())).unzip();
    let is_use = |line: &str| line.contains("unsafe {") || line.contains("unsafe impl");
    let uses = (0..code.len()).filter(|index| is_use(code[*index]));
    let unexplained = uses.filter(|index| {
        let above = &text[index.saturating_sub(REASON_ABOVE)..=*index];
        !above.iter().any(|line| line.contains("SAFETY:"))
    });
    let finding = |index| {
        let (path, line) = (&file.path, index + 1);
        format!("{path}:{line}: unsafe code without a `SAFETY:` comment that says why it is sound")
    };
    unexplained.map(finding).collect()
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
        let explained = "fn a() {\n    // SAFETY: b is fine.\n    unsafe { b() }\n}\n";
        assert!(findings("crates/dds/src/a.rs", explained).is_empty());
    }

    #[test]
    fn unsafe_code_needs_a_safety_comment() {
        let code =
            "/// SAFETY: far away.\n\n\n\n\n\n\n\nunsafe impl Send for A {}\nunsafe fn a();\n";
        let expected = [
            "crates/dds/src/a.rs:9: unsafe code without a `SAFETY:` comment that says why it is sound",
        ];
        assert_eq!(findings("crates/dds/src/a.rs", code), expected);
        assert!(findings("crates/dds/benches/a.rs", code).is_empty());
    }

    #[test]
    fn forbidding_it_is_fine() {
        assert!(findings("crates/bag/src/a.rs", "#![forbid(unsafe_code)] // unsafe\n").is_empty());
    }
}
