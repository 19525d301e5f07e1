//! Only `crates/time` reads the machine's clocks.
//!
//! Clippy's `disallowed-methods` knows types and sees through renames; this check also covers what clippy does not
//! build, and system calls from other libraries.

use super::source::{RustFile, rust_files};
use std::io;
use std::path::Path;

const FORBIDDEN: [&str; 4] = [
    "Instant::now",
    "SystemTime::now",
    "thread::sleep",
    "clock_gettime",
];

/// On the line of a clock read: it measures our own speed, and no product code depends on it.
const ALLOW: &str = "// tidy: allow clock";

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in rust_files(root)?
        .iter()
        .filter(|file| !file.path.starts_with("crates/time/"))
    {
        for call in FORBIDDEN {
            let lines = file
                .lines_with(call)
                .filter(|(_, line)| !(measures(file) && line.contains(ALLOW)));
            findings.extend(lines.map(|(line, _)| {
                format!(
                    "{}:{line}: `{call}` outside crates/time: take a clock as an argument",
                    file.path
                )
            }));
        }
    }
    Ok(findings)
}

/// Benchmarks, the benchmark kit and xtask may carry the mark.
fn measures(file: &RustFile) -> bool {
    file.path.split('/').any(|part| part == "benches") || matches!(file.room(), "testkit" | "xtask")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(Tree::new(&[(path, text)]).root()).unwrap()
    }

    #[test]
    fn each_clock_call_is_found() {
        for call in FORBIDDEN {
            let text = format!("fn a() {{\n    std::{call}();\n}}\n");
            let expected = format!(
                "crates/bag/src/a.rs:2: `{call}` outside crates/time: take a clock as an argument"
            );
            assert_eq!(findings("crates/bag/src/a.rs", &text), [expected]);
            assert!(findings("crates/time/src/a.rs", &text).is_empty());
        }
    }

    #[test]
    fn the_mark_counts_where_we_measure() {
        let marked = "let t = Instant::now(); // tidy: allow clock\n";
        assert!(findings("crates/bag/benches/a.rs", marked).is_empty());
        assert!(findings("crates/testkit/src/a.rs", marked).is_empty());
        assert!(findings("xtask/src/a.rs", marked).is_empty());
        assert_eq!(findings("crates/bag/src/a.rs", marked).len(), 1);
        assert_eq!(findings("examples/a.rs", marked).len(), 1);
    }

    #[test]
    fn a_benchmark_without_the_mark_fails() {
        let text = "// tidy: allow clock\nlet t = Instant::now();\n";
        assert_eq!(findings("crates/bag/benches/a.rs", text).len(), 1);
        assert_eq!(findings("xtask/src/a.rs", text).len(), 1);
    }

    #[test]
    fn talking_about_clocks_is_fine() {
        assert!(
            findings(
                "crates/bag/src/a.rs",
                "// Instant::now\nlet a = \"thread::sleep\";\n"
            )
            .is_empty()
        );
    }
}
