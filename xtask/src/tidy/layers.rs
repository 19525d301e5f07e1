//! Each crate depends only on the rooms that `ARCHITECTURE.md` allows it.

use super::architecture::{Allowed, Architecture, DOCUMENT, Room};
use super::manifest::{Kind, Member, members};
use std::io;
use std::path::Path;

const PREFIX: &str = "timeloom-";
const TESTKIT: &str = "testkit";

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let architecture = Architecture::read(root)?;
    let members = members(root)?;
    let mut findings = table_findings(&architecture);
    for member in &members {
        match architecture.room(&member.room) {
            Some(room) => findings.append(&mut member_findings(member, room, &architecture)),
            None => findings.push(format!(
                "{}: `{}` has no line in {DOCUMENT}",
                member.path, member.room
            )),
        }
    }
    for room in architecture.rooms.iter().filter(|room| room.exists) {
        if !members.iter().any(|member| member.room == room.name) {
            findings.push(format!(
                "{DOCUMENT}: `{}` is said to exist, but there is no such crate",
                room.name
            ));
        }
    }
    Ok(findings)
}

/// The table itself must point downwards only: then no circle is possible.
fn table_findings(architecture: &Architecture) -> Vec<String> {
    let mut findings = Vec::new();
    for room in &architecture.rooms {
        let Allowed::Rooms(allowed) = &room.allowed else {
            continue;
        };
        for name in allowed {
            match architecture.room(name) {
                None => findings.push(format!(
                    "{DOCUMENT}: `{}` may depend on the unknown `{name}`",
                    room.name
                )),
                Some(below)
                    if room.layer.is_some()
                        && (below.layer.is_none() || below.layer >= room.layer) =>
                {
                    findings.push(format!("{DOCUMENT}: `{name}` is not below `{}`", room.name));
                }
                Some(_) => {}
            }
        }
    }
    findings
}

fn member_findings(member: &Member, room: &Room, architecture: &Architecture) -> Vec<String> {
    let mut findings = Vec::new();
    if !room.exists {
        findings.push(format!(
            "{DOCUMENT}: `{}` is said to be planned, but {} exists",
            room.name, member.path
        ));
    }
    let package = if member.room == "xtask" {
        "xtask".to_owned()
    } else {
        format!("{PREFIX}{}", member.room)
    };
    if member.package != package {
        findings.push(format!(
            "{}: the package is called `{}`, not `{package}`",
            member.path, member.package
        ));
    }
    for dependency in &member.dependencies {
        let Some(name) = dependency.package.strip_prefix(PREFIX) else {
            continue;
        };
        // A crate may name itself for its tests: that is how they switch its optional features on.
        let for_tests = dependency.kind == Kind::Dev && (name == TESTKIT || name == room.name);
        if !for_tests && !allows(room, name, architecture) {
            let rule = format!("see the room table of {DOCUMENT}");
            findings.push(format!(
                "{}: `{}` may not depend on `{name}` ({rule})",
                member.path, room.name
            ));
        }
    }
    findings
}

fn allows(room: &Room, name: &str, architecture: &Architecture) -> bool {
    match &room.allowed {
        Allowed::Rooms(rooms) => rooms.iter().any(|allowed| allowed == name),
        Allowed::AllRooms => architecture
            .room(name)
            .is_some_and(|room| room.layer.is_some()),
        Allowed::Anything => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::architecture::tests::EXAMPLE;
    use crate::tidy::tree::Tree;

    const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n";

    fn findings(document: &str, time: &str, bag: &str, more: &[(&str, &str)]) -> Vec<String> {
        let crate_named = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
        let time = crate_named("timeloom-time", time);
        let bag = crate_named("timeloom-bag", bag);
        let testkit = crate_named("timeloom-testkit", "");
        let xtask = crate_named("xtask", "[dependencies]\ntimeloom-bag = \"0\"\n");
        let mut files = vec![
            ("Cargo.toml", WORKSPACE),
            (DOCUMENT, document),
            ("crates/time/Cargo.toml", &time),
            ("crates/bag/Cargo.toml", &bag),
            ("crates/testkit/Cargo.toml", &testkit),
            ("xtask/Cargo.toml", &xtask),
        ];
        files.extend(more);
        check(Tree::new(&files).root()).unwrap()
    }

    #[track_caller]
    fn assert_one(findings: &[String], text: &str) {
        assert!(
            findings.len() == 1 && findings[0].contains(text),
            "wanted {text}, got {findings:?}"
        );
    }

    #[test]
    fn downwards_is_fine_and_testkit_for_tests() {
        let dev = "[dev-dependencies]\ntimeloom-testkit = \"0\"\n";
        let bag = format!("[dependencies]\ntimeloom-time = \"0\"\nserde = \"1\"\n{dev}");
        assert_eq!(findings(EXAMPLE, dev, &bag, &[]), Vec::<String>::new());
    }

    #[test]
    fn upwards_fails_also_for_tests_and_renamed() {
        assert_one(
            &findings(EXAMPLE, "[dependencies]\ntimeloom-bag = \"0\"\n", "", &[]),
            "`time` may not depend on `bag`",
        );
        let dev = "[dev-dependencies]\ntimeloom-bag = \"0\"\n";
        assert_one(
            &findings(EXAMPLE, dev, "", &[]),
            "`time` may not depend on `bag`",
        );
        let renamed = "[dependencies]\nb = { package = \"timeloom-bag\", version = \"0\" }\n";
        assert_one(
            &findings(EXAMPLE, renamed, "", &[]),
            "`time` may not depend on `bag`",
        );
    }

    #[test]
    fn a_crate_may_name_itself_for_its_tests() {
        let itself = "[dev-dependencies]\ntimeloom-time = { path = \".\" }\n";
        assert_eq!(findings(EXAMPLE, itself, "", &[]), Vec::<String>::new());
    }

    #[test]
    fn testkit_is_for_tests_only() {
        let bag = "[dependencies]\ntimeloom-testkit = \"0\"\n";
        assert_one(
            &findings(EXAMPLE, "", bag, &[]),
            "`bag` may not depend on `testkit`",
        );
    }

    #[test]
    fn every_crate_is_in_the_table() {
        let new = [(
            "crates/new/Cargo.toml",
            "[package]\nname = \"timeloom-new\"\n",
        )];
        assert_one(&findings(EXAMPLE, "", "", &new), "`new` has no line");
    }

    #[test]
    fn the_state_is_the_truth() {
        let early = EXAMPLE.replace("| FFI | planned |", "| FFI | exists |");
        assert_one(&findings(&early, "", "", &[]), "`dds` is said to exist");
        let dds = [(
            "crates/dds/Cargo.toml",
            "[package]\nname = \"timeloom-dds\"\n",
        )];
        assert_one(
            &findings(EXAMPLE, "", "", &dds),
            "`dds` is said to be planned",
        );
    }

    #[test]
    fn a_package_is_named_after_its_room() {
        let dds = [("crates/dds/Cargo.toml", "[package]\nname = \"dds\"\n")];
        let document = EXAMPLE.replace("planned", "exists");
        assert_one(
            &findings(&document, "", "", &dds),
            "called `dds`, not `timeloom-dds`",
        );
    }

    #[test]
    fn the_table_points_downwards() {
        let circle = EXAMPLE.replace("| `time` | 0 | none |", "| `time` | 0 | `bag` |");
        assert_one(&findings(&circle, "", "", &[]), "`bag` is not below `time`");
        let unknown = EXAMPLE.replace("| `bag` | 1 | `time` |", "| `bag` | 1 | `tmie` |");
        assert_one(&findings(&unknown, "", "", &[]), "unknown `tmie`");
        let shipped = EXAMPLE.replace("| `bag` | 1 | `time` |", "| `bag` | 1 | `testkit` |");
        assert_one(
            &findings(&shipped, "", "", &[]),
            "`testkit` is not below `bag`",
        );
    }

    #[test]
    fn all_rooms_leaves_out_development_crates() {
        let document = EXAMPLE.replace("| `bag` | 1 | `time` |", "| `bag` | 1 | all rooms |");
        let bag = "[dependencies]\ntimeloom-time = \"0\"\ntimeloom-testkit = \"0\"\n";
        assert_one(
            &findings(&document, "", bag, &[]),
            "`bag` may not depend on `testkit`",
        );
    }
}
