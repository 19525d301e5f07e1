//! Every dependency says why it is there.

use super::manifest::{Member, members};
use std::io;
use std::path::Path;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    Ok(members(root)?.iter().flat_map(unexplained).collect())
}

fn unexplained(member: &Member) -> Vec<String> {
    let mut findings = Vec::new();
    let mut in_dependencies = false;
    let mut depth = 0;
    let mut above = "";
    for (index, line) in member.text.lines().map(str::trim).enumerate() {
        let (toml, comment) = split_comment(line);
        let explained = above.starts_with('#') || !comment.is_empty();
        let mut needs_reason = false;
        if depth == 0 {
            if let Some(header) = toml.strip_prefix('[') {
                let section = Section::of(header.trim_end_matches([']', ' ']));
                in_dependencies = section == Section::Dependencies;
                needs_reason = section == Section::OneDependency;
            } else {
                needs_reason = in_dependencies && toml.contains('=') && !is_own(toml);
            }
        }
        if needs_reason && !explained {
            let place = format!("{}:{}", member.path, index + 1);
            findings.push(format!(
                "{place}: `{toml}` has no comment above it that says why"
            ));
        }
        // A header's own brackets close on its line, so counting them changes nothing.
        depth += brackets(toml);
        above = line;
    }
    findings
}

#[derive(PartialEq, Eq)]
enum Section {
    /// `[dependencies]`, `[target.'cfg(unix)'.dev-dependencies]`
    Dependencies,
    /// `[dependencies.name]`
    OneDependency,
    Other,
}

impl Section {
    fn of(header: &str) -> Self {
        let names_dependencies = |part: &str| {
            let last = part.rsplit('.').next();
            matches!(
                last,
                Some("dependencies" | "dev-dependencies" | "build-dependencies")
            )
        };
        match header.rsplit_once('.') {
            _ if names_dependencies(header) => Self::Dependencies,
            Some((parent, _)) if names_dependencies(parent) => Self::OneDependency,
            _ => Self::Other,
        }
    }
}

/// Our own crates explain themselves in `ARCHITECTURE.md`.
fn is_own(toml: &str) -> bool {
    toml.starts_with("timeloom-") && toml.replace(' ', "").contains("workspace=true")
}

/// The line's TOML and its trailing comment.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '#') => return (line[..at].trim_end(), &line[at..]),
            _ => {}
        }
    }
    (line, "")
}

/// Number of brackets that the line leaves open (or closes), outside of strings.
fn brackets(toml: &str) -> i32 {
    let outside_strings = toml.split(['"', '\'']).step_by(2);
    outside_strings
        .flat_map(str::chars)
        .fold(0, |depth, c| match c {
            '[' | '{' => depth + 1,
            ']' | '}' => depth - 1,
            _ => depth,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn lines_found(dependencies: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"a\"\n{dependencies}");
        let workspace = ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
        let findings = check(Tree::new(&[workspace, ("a/Cargo.toml", &manifest)]).root()).unwrap();
        findings
            .into_iter()
            .map(|finding| finding.split(": `").next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_reason_is_above_or_on_the_line() {
        let text = "[dependencies]\n# Why.\na = \"1\"\nb = \"1\" # Why.\n[dev-dependencies]\n# Why.\nc = \"1#2\"\n";
        assert!(lines_found(text).is_empty());
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        for section in [
            "dependencies",
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(a)'.dependencies",
        ] {
            let text = format!("[{section}]\n# Why.\na = \"1\"\nb = \"1\"\n");
            assert_eq!(lines_found(&text), ["a/Cargo.toml:6"], "{section}");
        }
    }

    #[test]
    fn a_distant_comment_is_not_a_reason() {
        assert_eq!(
            lines_found("[dependencies]\n# Why.\n\na = \"1\"\n"),
            ["a/Cargo.toml:6"]
        );
    }

    #[test]
    fn a_dependency_over_many_lines_is_one() {
        let text = "[dependencies]\n# Why.\na = { version = \"1\", features = [\n    \"b\",\n] }\nc = \"1\"\n";
        assert_eq!(lines_found(text), ["a/Cargo.toml:8"]);
    }

    #[test]
    fn a_dependency_with_its_own_section_needs_one_too() {
        assert_eq!(
            lines_found("[dependencies.a]\nversion = \"1\"\n"),
            ["a/Cargo.toml:3"]
        );
        assert!(lines_found("# Why.\n[dependencies.a]\nversion = \"1\"\n").is_empty());
    }

    #[test]
    fn workspace_crates_need_no_reason() {
        let text =
            "[dependencies]\ntimeloom-time.workspace = true\ntimeloom-msg = { workspace = true }\n";
        assert!(lines_found(text).is_empty());
        assert_eq!(
            lines_found("[dependencies]\nserde.workspace = true\n"),
            ["a/Cargo.toml:4"]
        );
        assert_eq!(
            lines_found("[dependencies]\ntimeloom-time = \"1\"\n"),
            ["a/Cargo.toml:4"]
        );
    }

    #[test]
    fn other_sections_are_free() {
        assert!(lines_found("[features]\nstd = []\n[lints]\nworkspace = true\n").is_empty());
    }
}
