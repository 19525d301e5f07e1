//! The bench targets of the workspace.

use serde_json::Value;
use std::io;

/// One bench target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    pub(super) package: String,
    pub(super) name: String,
}

impl Target {
    /// The room that the target measures: `time` for the package `timeloom-time`.
    pub(super) fn room(&self) -> &str {
        self.package
            .strip_prefix("timeloom-")
            .unwrap_or(&self.package)
    }

    /// Every bench target in the output of `cargo metadata --no-deps`, sorted.
    pub(super) fn all(metadata: &str) -> io::Result<Vec<Self>> {
        let metadata: Value = serde_json::from_str(metadata)?;
        let mut found = Vec::new();
        for package in list(&metadata["packages"])? {
            let benches = list(&package["targets"])?
                .iter()
                .filter(|target| is_bench(target));
            for target in benches {
                found.push(Self {
                    package: text(&package["name"])?,
                    name: text(&target["name"])?,
                });
            }
        }
        found.sort();
        Ok(found)
    }
}

fn is_bench(target: &Value) -> bool {
    target["kind"]
        .as_array()
        .is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"))
}

fn list(value: &Value) -> io::Result<&Vec<Value>> {
    value.as_array().ok_or_else(unexpected)
}

fn text(value: &Value) -> io::Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(unexpected)
}

fn unexpected() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "cargo metadata has a form that xtask does not know",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bench_targets_are_found_in_every_package() {
        let metadata = r#"{"packages": [
            {"name": "timeloom-time", "targets": [
                {"name": "timeloom-time", "kind": ["lib"]},
                {"name": "sleep", "kind": ["bench"]},
                {"name": "now", "kind": ["bench"]}]},
            {"name": "timeloom-bag", "targets": [{"name": "write", "kind": ["bench"]}]}]}"#;
        let found = Target::all(metadata).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|target| (target.room(), &*target.name))
            .collect();
        assert_eq!(
            names,
            [("bag", "write"), ("time", "now"), ("time", "sleep")]
        );
    }

    #[test]
    fn invalid_metadata_is_an_error() {
        for text in ["", "{}", r#"{"packages": [{"name": "a"}]}"#] {
            assert!(Target::all(text).is_err(), "{text}");
        }
    }
}
