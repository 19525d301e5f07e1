//! Licences and sources of all dependencies, checked against `deny.toml`.
//!
//! `cargo deny` knows more and reads the same file; this needs no tool and no network, so that every test run has it.

mod licence;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use licence::is_allowed;

const POLICY: &str = "deny.toml";
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The allowed licences and sources.
struct Policy {
    licences: BTreeSet<String>,
    /// Crates with one more licence that is fine for them.
    exceptions: Vec<(String, BTreeSet<String>)>,
}

impl Policy {
    fn read(text: &str) -> io::Result<Self> {
        let table: toml::Table = text.parse().map_err(invalid)?;
        let licences = table.get("licenses");
        let texts = |value: Option<&toml::Value>| -> BTreeSet<String> {
            let list = value.and_then(toml::Value::as_array).into_iter().flatten();
            list.filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        let allowed = texts(licences.and_then(|table| table.get("allow")));
        let exceptions = licences
            .and_then(|table| table.get("exceptions")?.as_array())
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let name = entry.get("crate")?.as_str()?.to_owned();
                Some((name, texts(entry.get("allow"))))
            });
        Ok(Self {
            licences: allowed,
            exceptions: exceptions.collect(),
        })
    }

    fn allows(&self, name: &str, licence: &str) -> bool {
        let mut allowed = self.licences.clone();
        let own = self.exceptions.iter().filter(|(known, _)| known == name);
        allowed.extend(own.flat_map(|(_, more)| more.iter().cloned()));
        is_allowed(licence, &allowed)
    }
}

/// Checks the workspace at `root`, with all features, for this machine's platform; prints what is wrong, and a count.
///
/// # Errors
/// When cargo cannot be asked, or `deny.toml` cannot be read.
pub fn run(root: &Path, out: &mut impl Write) -> io::Result<bool> {
    let policy = Policy::read(&std::fs::read_to_string(root.join(POLICY))?)?;
    let metadata = metadata(root)?;
    let findings = check(&metadata, &policy);
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let count = packages(&metadata).count();
    writeln!(out, "{count} crates, {} findings", findings.len())?;
    Ok(findings.is_empty())
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn metadata(root: &Path) -> io::Result<Value> {
    let version = Command::new("rustc").arg("-vV").output()?.stdout;
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let output = Command::new("cargo")
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .args(
            host.into_iter()
                .flat_map(|host| ["--filter-platform", host]),
        )
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(text));
    }
    serde_json::from_slice(&output.stdout).map_err(invalid)
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn check(metadata: &Value, policy: &Policy) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages(metadata) {
        let text = |key: &str| package[key].as_str();
        let name = text("name").unwrap_or_default();
        let version = text("version").unwrap_or_default();
        match text("license") {
            None => findings.push(format!("{name} {version}: no licence is named")),
            Some(licence) if !policy.allows(name, licence) => findings.push(format!(
                "{name} {version}: `{licence}` is not allowed by {POLICY}"
            )),
            Some(_) => {}
        }
        if let Some(source) = text("source").filter(|source| *source != REGISTRY) {
            findings.push(format!(
                "{name} {version}: comes from {source}, not from crates.io"
            ));
        }
    }
    for (name, _) in &policy.exceptions {
        if !packages(metadata).any(|package| package["name"] == name.as_str()) {
            findings.push(format!("{POLICY}: the exception for {name} is not needed"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [licenses]
        allow = ["MIT"]
        exceptions = [{ allow = ["MPL-2.0"], crate = "b" }]
    "#;

    fn findings(packages: &str) -> Vec<String> {
        let metadata = format!("{{\"packages\": [{packages}]}}");
        let policy = Policy::read(TEXT).unwrap();
        check(&serde_json::from_str(&metadata).unwrap(), &policy)
    }

    #[test]
    fn forbidden_licences_and_sources_are_found() {
        let b = r#"{"name": "b", "version": "1", "license": "MPL-2.0", "source": null}"#;
        assert_eq!(findings(b), [""; 0]);
        let others = [
            r#"{"name": "a", "version": "1", "license": "MPL-2.0"}"#,
            r#"{"name": "c", "version": "2", "license": null}"#,
            r#"{"name": "d", "version": "3", "license": "MIT", "source": "git+https://example.org/d"}"#,
        ];
        let expected = [
            "a 1: `MPL-2.0` is not allowed by deny.toml",
            "c 2: no licence is named",
            "d 3: comes from git+https://example.org/d, not from crates.io",
        ];
        assert_eq!(findings(&format!("{b},{}", others.join(","))), expected);
    }

    #[test]
    fn an_unneeded_exception_is_found() {
        assert_eq!(
            findings(""),
            ["deny.toml: the exception for b is not needed"]
        );
    }
}
