//! A new text file, or stdout.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::context::Context;
use crate::failure::Failure;

/// Where the lines of a table go; a file has its name only once all lines are in it.
pub(crate) enum Output {
    Stdout,
    File(Whole),
}

/// A file that appears under its name when it is complete.
pub(crate) struct Whole {
    path: PathBuf,
    /// Its name until then; none for pipes and devices.
    unfinished: Option<PathBuf>,
    writer: BufWriter<File>,
}

impl Output {
    /// A file beside `input`, which it must not be, or stdout for `-`.
    pub(crate) fn create(path: &Path, input: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let same = |other: &Path| path.canonicalize().ok() == other.canonicalize().ok();
        if path.exists() && same(input) {
            let text = format!("{} is the input", path.display());
            return Err(Failure::usage(text).hint("choose another output").into());
        }
        let is_special = path.exists() && !path.is_file();
        let unfinished = (!is_special).then(|| {
            let mut name = path.file_name().unwrap_or_default().to_os_string();
            name.push(format!(".{}.unfinished", std::process::id()));
            path.with_file_name(name)
        });
        let file = File::create(unfinished.as_deref().unwrap_or(path));
        let file = file.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self::File(Whole {
            path: path.to_path_buf(),
            unfinished,
            writer: BufWriter::with_capacity(256 << 10, file),
        }))
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: &str, context: &mut Context) -> anyhow::Result<()> {
        match self {
            Self::Stdout => writeln!(context.printer.data(), "{text}")?,
            Self::File(file) => writeln!(file.writer, "{text}")
                .with_context(|| format!("cannot write {}", file.path.display()))?,
        }
        Ok(())
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self::File(mut file) = self else {
            return Ok(());
        };
        let named = file.writer.flush().and_then(|()| match &file.unfinished {
            Some(unfinished) => std::fs::rename(unfinished, &file.path),
            None => Ok(()),
        });
        named.with_context(|| format!("cannot write {}", file.path.display()))?;
        file.unfinished = None;
        Ok(())
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // Half a table is useless; if it cannot be removed, its name shows that it is temporary.
            let _removed = std::fs::remove_file(unfinished);
        }
    }
}
