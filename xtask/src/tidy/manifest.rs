//! The workspace's `Cargo.toml` files.

use std::fs;
use std::io;
use std::path::Path;
use toml::{Table, Value};

/// The purpose of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of what the crate ships, or of how it is built.
    Normal,
    /// For tests, benchmarks and examples.
    Dev,
}

/// One dependency of a member.
#[derive(Debug)]
pub(super) struct Dependency {
    /// The name of the package, also when the crate calls it by another name.
    pub(super) package: String,
    pub(super) kind: Kind,
}

/// One crate of the workspace.
pub(super) struct Member {
    /// The folder's name: `time` for `crates/time`.
    pub(super) room: String,
    /// Path of the manifest from the root.
    pub(super) path: String,
    /// The manifest as it is.
    pub(super) text: String,
    pub(super) package: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// All members of the workspace under `root`, sorted by path.
pub(super) fn members(root: &Path) -> io::Result<Vec<Member>> {
    let workspace = parse(&fs::read_to_string(root.join("Cargo.toml"))?, "Cargo.toml")?;
    let shared = table(&workspace, &["workspace", "dependencies"])
        .cloned()
        .unwrap_or_default();
    let patterns = workspace
        .get("workspace")
        .and_then(|workspace| workspace.get("members"));
    let patterns = patterns
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let mut folders = Vec::new();
    for pattern in patterns.iter().filter_map(Value::as_str) {
        folders.append(&mut expand(root, pattern)?);
    }
    folders.sort();
    folders
        .iter()
        .map(|folder| member(root, folder, &shared))
        .collect()
}

/// `crates/*` stands for each folder in `crates` with a manifest.
fn expand(root: &Path, pattern: &str) -> io::Result<Vec<String>> {
    let Some(parent) = pattern.strip_suffix("/*") else {
        return Ok(vec![pattern.to_owned()]);
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join(parent))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            folders.push(format!("{parent}/{}", entry.file_name().to_string_lossy()));
        }
    }
    Ok(folders)
}

fn member(root: &Path, folder: &str, shared: &Table) -> io::Result<Member> {
    let path = format!("{folder}/Cargo.toml");
    let text = fs::read_to_string(root.join(&path))?;
    let manifest = parse(&text, &path)?;
    let name = table(&manifest, &["package"]).and_then(|package| package.get("name"));
    let package = name.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut dependencies = dependencies_of(&manifest, shared);
    let targets = table(&manifest, &["target"])
        .into_iter()
        .flat_map(Table::values);
    for target in targets.filter_map(Value::as_table) {
        dependencies.append(&mut dependencies_of(target, shared));
    }
    let room = folder.rsplit('/').next().unwrap_or(folder).to_owned();
    Ok(Member {
        room,
        path,
        text,
        package,
        dependencies,
    })
}

fn dependencies_of(manifest: &Table, shared: &Table) -> Vec<Dependency> {
    let sections = [
        ("dependencies", Kind::Normal),
        ("build-dependencies", Kind::Normal),
        ("dev-dependencies", Kind::Dev),
    ];
    let mut found = Vec::new();
    for (section, kind) in sections {
        for (key, value) in table(manifest, &[section]).into_iter().flatten() {
            let renamed = |value: &Value| {
                value
                    .get("package")
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            let package = renamed(value).or_else(|| shared.get(key).and_then(renamed));
            found.push(Dependency {
                package: package.unwrap_or_else(|| key.clone()),
                kind,
            });
        }
    }
    found
}

pub(super) fn table<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    let (last, parents) = path.split_last()?;
    let parent = parents
        .iter()
        .try_fold(table, |table, key| table.get(*key)?.as_table())?;
    parent.get(*last)?.as_table()
}

pub(super) fn parse(text: &str, path: &str) -> io::Result<Table> {
    text.parse()
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn members_are_found_with_every_kind_of_dependency() {
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\
                 [workspace.dependencies]\nshared = { package = \"real\", version = \"1\" }\n",
            ),
            (
                "crates/time/Cargo.toml",
                "[package]\nname = \"timeloom-time\"\n[dependencies]\na = \"1\"\nshared.workspace = true\n\
                 [target.'cfg(loom)'.dependencies]\nloom = \"1\"\n[build-dependencies]\nb = \"1\"\n\
                 [dev-dependencies]\nc = { package = \"d\", version = \"1\" }\n",
            ),
            ("crates/notes/README.md", "no crate"),
            ("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n"),
        ]);
        let members = members(tree.root()).unwrap();
        let rooms: Vec<_> = members
            .iter()
            .map(|member| (&*member.room, &*member.package))
            .collect();
        assert_eq!(rooms, [("time", "timeloom-time"), ("xtask", "xtask")]);
        let found: Vec<_> = members[0]
            .dependencies
            .iter()
            .map(|d| (&*d.package, d.kind))
            .collect();
        let normal = ["a", "real", "b"].map(|name| (name, Kind::Normal));
        assert_eq!(found[..3], normal);
        assert_eq!(found[3..], [("d", Kind::Dev), ("loom", Kind::Normal)]);
    }

    #[test]
    fn a_broken_manifest_is_an_error_with_its_path() {
        let tree = Tree::new(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("a/Cargo.toml", "[package\n"),
        ]);
        let error = members(tree.root()).err().unwrap().to_string();
        assert!(error.starts_with("a/Cargo.toml: "), "{error}");
    }
}
