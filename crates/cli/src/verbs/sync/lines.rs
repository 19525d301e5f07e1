//! The lines of a text file or of stdin, one at a time.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::failure::Failure;

/// No line of a table is longer; what is, is none.
const LONGEST: u64 = 64 << 10;

/// Lines with the name of their file for errors.
pub(crate) struct Lines {
    name: PathBuf,
    reader: BufReader<Box<dyn Read>>,
    bytes: Vec<u8>,
    number: u64,
    /// Whether the newest line is complete.
    ended: bool,
}

impl Lines {
    /// Opens a file; `-` is stdin.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let reader: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(io::stdin())
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()));
            Box::new(file?)
        };
        Ok(Self {
            name: path.to_path_buf(),
            reader: BufReader::with_capacity(256 << 10, reader),
            bytes: Vec::new(),
            number: 0,
            ended: true,
        })
    }

    /// Hands the next line to `take`, without its end; false at the end of the file.
    pub(crate) fn next<E>(
        &mut self,
        take: impl FnOnce(&str) -> Result<(), E>,
    ) -> anyhow::Result<bool>
    where
        E: Into<anyhow::Error>,
    {
        self.bytes.clear();
        self.number += 1;
        let name = self.name.display();
        let mut limited = self.reader.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', &mut self.bytes);
        let read = read.with_context(|| format!("cannot read {name}"))?;
        if read == 0 {
            return Ok(false);
        }
        self.ended = self.bytes.ends_with(b"\n");
        while matches!(self.bytes.last(), Some(b'\n' | b'\r')) {
            self.bytes.pop();
        }
        let line = self.number;
        if read as u64 == LONGEST {
            let text = format!("{name}: line {line} is longer than {LONGEST} bytes");
            return Err(Failure::new(text).into());
        }
        let Ok(text) = std::str::from_utf8(&self.bytes) else {
            return Err(Failure::new(format!("{name}: line {line} is not UTF-8")).into());
        };
        take(text).map_err(|error| error.into().context(name.to_string()))?;
        Ok(true)
    }

    /// Whether the next line is not available yet: results so far should be shown first.
    pub(crate) fn is_drained(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    /// Whether the last line is incomplete: the file is truncated.
    pub(crate) fn is_cut(&self) -> bool {
        !self.ended
    }

    /// The name of the file, for errors.
    pub(crate) fn name(&self) -> String {
        self.name.display().to_string()
    }
}
