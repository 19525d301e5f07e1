//! Text files that the user names.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

/// Reads a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file; an existing one is replaced.
pub(crate) fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file that does not exist yet.
pub(crate) fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The verdicts as a file for CI servers.
#[derive(Debug, Args)]
pub(crate) struct JunitArgument {
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write the verdicts as JUnit XML; an existing file is replaced"
    )]
    junit: Option<PathBuf>,
}

impl JunitArgument {
    /// Writes the file, if one was named.
    pub(crate) fn write(&self, xml: impl FnOnce() -> String) -> anyhow::Result<()> {
        match &self.junit {
            Some(path) => replace(path, &xml()),
            None => Ok(()),
        }
    }
}
