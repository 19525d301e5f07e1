//! The fuzz workspace builds the binary from its sources, so it has the dependencies of the binary.

use super::manifest::{parse, table};
use std::fs;
use std::io;
use std::path::Path;
use toml::{Table, Value};

const BINARY: &str = "crates/cli/Cargo.toml";
const FUZZ: &str = "fuzz/Cargo.toml";

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let (binary, fuzz) = (dependencies(root, BINARY)?, dependencies(root, FUZZ)?);
    let missing = binary
        .iter()
        .filter(|(name, value)| !is_optional(value) && !fuzz.contains_key(*name));
    let finding =
        |(name, _)| format!("{FUZZ}: no dependency `{name}`, which {BINARY} has; add it there");
    Ok(missing.map(finding).collect())
}

fn dependencies(root: &Path, path: &str) -> io::Result<Table> {
    let manifest = parse(&fs::read_to_string(root.join(path))?, path)?;
    let found = table(&manifest, &["dependencies"]);
    Ok(found.cloned().unwrap_or_default())
}

fn is_optional(dependency: &Value) -> bool {
    let optional = dependency.get("optional").and_then(Value::as_bool);
    optional == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_dependency_of_the_binary_alone_is_a_finding() {
        let binary = "[dependencies]\na.workspace = true\nb = { workspace = true, optional = true }\nc.workspace = true\n";
        let tree = |fuzz: &str| Tree::new(&[(BINARY, binary), (FUZZ, fuzz)]);
        let found = check(tree("[dependencies]\na = \"1\"\n").root()).unwrap();
        let expected =
            "fuzz/Cargo.toml: no dependency `c`, which crates/cli/Cargo.toml has; add it there";
        assert_eq!(found, [expected]);
        let found = check(tree("[dependencies]\na = \"1\"\nc = \"1\"\n").root()).unwrap();
        assert_eq!(found, [""; 0]);
    }
}
