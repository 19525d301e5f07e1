//! Progress of an upload on disk, so that it goes on after a cut, a reboot or a kill.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The file in the directory of the bag; readers of bags ignore it.
pub(super) const JOURNAL_FILE: &str = ".timeloom_upload.json";
/// A larger journal is not one of ours.
const MAX_BYTES: u64 = 64 << 20;

/// The uploads of a bag, by target.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Journal {
    #[serde(skip)]
    path: PathBuf,
    targets: BTreeMap<String, BTreeMap<String, FileState>>,
}

/// Progress of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileState {
    /// Bytes of the file that is sent; one with another size or date is another file.
    pub(super) size: u64,
    /// Its date of change.
    pub(super) modified_ns: u64,
    /// Whether it is there, and compared.
    pub(super) arrived: bool,
    /// Parts that are there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<Parts>,
}

/// An upload in parts that is not complete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts {
    /// The server's name of the upload.
    pub(super) id: String,
    /// Bytes of each part but the last.
    pub(super) part_bytes: u64,
    /// The parts that arrived, from the first on.
    pub(super) sent: Vec<Part>,
}

/// A part that arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    /// The server's name of it.
    pub(super) content_id: String,
    /// Its MD5.
    pub(super) md5: String,
}

impl FileState {
    /// Whether both are states of the same local file.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.size, self.modified_ns) == (other.size, other.modified_ns)
    }

    /// Bytes that arrived.
    pub(super) fn bytes_sent(&self) -> u64 {
        if self.arrived {
            return self.size;
        }
        self.parts
            .as_ref()
            .map_or(0, |parts| parts.bytes(self.size))
    }
}

impl Parts {
    /// Bytes that arrived.
    fn bytes(&self, size: u64) -> u64 {
        size.min(self.part_bytes.saturating_mul(self.sent.len() as u64))
    }
}

impl Journal {
    /// Reads a journal. One that cannot be read is begun again: everything is compared with the server anyway.
    pub(super) fn open(path: PathBuf) -> Self {
        let bounded = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
        let read = bounded.then(|| fs::read(&path).ok()).flatten();
        let journal = read.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Self {
            path,
            ..journal.unwrap_or_default()
        }
    }

    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }

    pub(super) fn file(&self, target: &str, name: &str) -> Option<&FileState> {
        self.targets.get(target)?.get(name)
    }

    /// All files of a target.
    pub(super) fn files(&self, target: &str) -> impl Iterator<Item = (&String, &FileState)> {
        self.targets.get(target).into_iter().flatten()
    }

    /// Enters the state of a file, and writes the journal: the old one or the new one survives a power cut.
    pub(super) fn set(&mut self, target: &str, name: &str, state: FileState) -> Result<()> {
        let files = self.targets.entry(target.to_owned()).or_default();
        files.insert(name.to_owned(), state);
        self.write()
    }

    fn write(&self) -> Result<()> {
        let failed = |source: std::io::Error| Error::Local {
            path: self.path.clone(),
            action: "write",
            reason: source.to_string(),
        };
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
        let temporary = self.path.with_extension("tmp");
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_data()
        });
        written.map_err(failed)?;
        fs::rename(&temporary, &self.path).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_survives_and_a_damaged_journal_is_begun_again() {
        let bag = tempfile::tempdir().unwrap();
        let path = bag.path().join(JOURNAL_FILE);
        let mut journal = Journal::open(path.clone());
        let state = FileState {
            size: 30,
            modified_ns: 7,
            arrived: false,
            parts: Some(Parts {
                id: "x".into(),
                part_bytes: 20,
                sent: vec![Part {
                    content_id: "\"a\"".into(),
                    md5: "a".into(),
                }],
            }),
        };
        journal.set("s3://b", "f", state.clone()).unwrap();
        let again = Journal::open(path.clone());
        assert_eq!(again.file("s3://b", "f"), Some(&state));
        assert_eq!(state.parts.as_ref().unwrap().bytes(30), 20);
        assert_eq!(again.file("s3://other", "f"), None);
        fs::write(&path, b"{ \"targets\": 7").unwrap();
        assert_eq!(Journal::open(path).file("s3://b", "f"), None);
    }
}
