//! A middleware or UI library is named in exactly one crate, so that it can be replaced there.

use super::architecture::{Architecture, DOCUMENT};
use super::manifest::{Kind, members};
use std::io;
use std::path::Path;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let architecture = Architecture::read(root)?;
    let mut findings = Vec::new();
    for member in members(root)? {
        // Development crates ship in nothing that users build.
        if architecture
            .room(&member.room)
            .is_some_and(|room| room.layer.is_none())
        {
            continue;
        }
        let shipped = member
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == Kind::Normal);
        for package in shipped.map(|dependency| &*dependency.package) {
            let owner = architecture
                .libraries
                .iter()
                .find(|(library, _)| belongs_to(package, library));
            if let Some((_, owner)) = owner.filter(|(_, owner)| **owner != member.room) {
                let place = &member.path;
                findings.push(format!(
                    "{place}: `{package}` may be named in `{owner}` only ({DOCUMENT})"
                ));
            }
        }
    }
    Ok(findings)
}

/// Whether `package` is the library or a part or wrapper of it: `clap_complete`, `zenoh-ext`, `tokio-tungstenite`.
fn belongs_to(package: &str, library: &str) -> bool {
    let part = |rest: &str| rest.is_empty() || rest.starts_with(['-', '_']);
    let wraps = |rest: &str| rest.ends_with(['-', '_']);
    !package.starts_with("timeloom-")
        && (package.strip_prefix(library).is_some_and(part)
            || package.strip_suffix(library).is_some_and(wraps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::architecture::tests::EXAMPLE;
    use crate::tidy::tree::Tree;

    fn findings(room: &str, dependencies: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"timeloom-{room}\"\n{dependencies}");
        let path = format!("crates/{room}/Cargo.toml");
        let workspace = ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
        check(Tree::new(&[workspace, (DOCUMENT, EXAMPLE), (&path, &manifest)]).root()).unwrap()
    }

    #[test]
    fn a_library_outside_its_room_is_found() {
        let expected =
            ["crates/time/Cargo.toml: `mcap` may be named in `bag` only (ARCHITECTURE.md)"];
        assert_eq!(findings("time", "[dependencies]\nmcap = \"1\"\n"), expected);
        assert_eq!(
            findings("time", "[build-dependencies]\nmcap = \"1\"\n"),
            expected
        );
        assert_eq!(
            findings("time", "[target.'cfg(unix)'.dependencies]\nmcap = \"1\"\n"),
            expected
        );
        assert_eq!(
            findings(
                "time",
                "[dependencies]\nm = { package = \"mcap\", version = \"1\" }\n"
            ),
            expected
        );
    }

    #[test]
    fn a_library_may_be_named_in_its_room_and_in_tests() {
        assert!(findings("bag", "[dependencies]\nmcap = \"1\"\nrusqlite = \"0\"\n").is_empty());
        assert!(findings("time", "[dev-dependencies]\nmcap = \"1\"\n").is_empty());
    }

    #[test]
    fn a_development_crate_may_name_it() {
        assert!(findings("testkit", "[dependencies]\nmcap = \"1\"\n").is_empty());
    }

    #[test]
    fn parts_and_wrappers_of_a_library_count() {
        assert_eq!(
            findings("time", "[dependencies]\nzenoh-ext = \"1\"\n").len(),
            1
        );
        assert_eq!(
            findings("time", "[dependencies]\ntokio-rusqlite = \"1\"\n").len(),
            1
        );
        assert!(
            findings(
                "time",
                "[dependencies]\ntimeloom-zenoh = \"1\"\nmcaplike = \"1\"\n"
            )
            .is_empty()
        );
    }
}
