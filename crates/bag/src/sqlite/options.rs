//! Options of a database writer: rosbag2's presets and its configuration file.

use std::path::Path;

use crate::yaml::{self, Node};
use crate::{Error, Result};

/// Options of a database writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Pragmas in the order in which they are executed, without the word `PRAGMA`.
    pub pragmas: Vec<String>,
    /// Size of a page; 64 KiB makes large messages twice as cheap and every reader accepts it.
    pub page_size: u32,
    /// A transaction is committed when it holds this many messages …
    pub max_batch_messages: usize,
    /// … or when its first message is older than this.
    pub max_batch_age_ns: i64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            pragmas: vec!["journal_mode=MEMORY".into(), "synchronous=OFF".into()],
            page_size: 65_536,
            max_batch_messages: 1000,
            max_batch_age_ns: 500_000_000,
        }
    }
}

impl SqliteOptions {
    /// The presets of rosbag2: `none` and `resilient`.
    pub fn preset(name: &str) -> Result<Self> {
        let base = Self::default();
        match name {
            "" | "none" => Ok(base),
            "resilient" => Ok(Self {
                pragmas: vec!["journal_mode=WAL".into(), "synchronous=NORMAL".into()],
                ..base
            }),
            other => Err(Error::Unknown {
                kind: "sqlite3 preset",
                name: other.to_owned(),
                known: "none, resilient",
            }),
        }
    }

    /// Applies a storage configuration file of rosbag2: `write: pragmas: [...]`.
    pub fn apply_config_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path, "read"))?;
        self.apply_config(&text)
    }

    /// Applies the text of such a file; its pragmas come after those of the preset.
    pub fn apply_config(&mut self, text: &str) -> Result<()> {
        let document = yaml::parse(text)?;
        let pragmas = document.get("write").and_then(|write| write.get("pragmas"));
        for pragma in pragmas.and_then(Node::as_sequence).unwrap_or_default() {
            let pragma = pragma.as_str().unwrap_or_default();
            if pragma.is_empty() || pragma.contains(['\'', '"', ';']) {
                return Err(Error::Config {
                    key: "write.pragmas".into(),
                    reason: format!("\"{pragma}\" is empty or contains a quote or a semicolon"),
                });
            }
            self.pragmas.push(pragma.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_adds_pragmas_and_refuses_injection() {
        let mut options = SqliteOptions::default();
        options
            .apply_config(
                "write:\n  pragmas: [\"cache_size = 100\", \"journal_mode = WAL\"]\nread: {}\n",
            )
            .unwrap();
        assert_eq!(
            options.pragmas[2..],
            ["cache_size = 100", "journal_mode = WAL"]
        );
        assert!(
            options
                .apply_config("write:\n  pragmas: [\"x=1; drop table topics\"]\n")
                .is_err()
        );
        assert!(SqliteOptions::preset("fast").is_err());
    }
}
