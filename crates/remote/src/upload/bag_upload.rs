//! A bag on its way: its closed files first, its metadata last.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::bag::ClosedFiles;
use timeloom_bag::metadata::METADATA_FILE;

use super::file_upload::{FileUpload, identity};
use super::journal::{FileState, JOURNAL_FILE, Journal};
use super::{UploadControl, UploadOptions, UploadTarget};
use crate::{Error, Result};

/// The upload of one bag: a directory, or a single file.
///
/// Files go to `<target>/<name of the bag>/`, a single file to `<target>/`. `metadata.yaml` goes last, when the recording
/// has ended and all files are there: a folder with metadata is whole.
pub struct BagUpload {
    directory: PathBuf,
    /// The folder below the target; empty for a single file.
    name: String,
    /// The single file.
    only: Option<PathBuf>,
    target: UploadTarget,
    options: UploadOptions,
    journal: Journal,
    /// Closed files that were found so far, to notice those that are deleted before they were sent.
    seen: BTreeSet<String>,
    is_finished: bool,
    is_complete: bool,
}

/// Progress of the upload of a bag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UploadStatus {
    /// Closed files that are there, compared.
    pub arrived_files: u64,
    /// Bytes that are there, those of incomplete files included.
    pub arrived_bytes: u64,
    /// Closed files that are not there.
    pub waiting_files: u64,
    /// Bytes that are not there; those of a file that is still recorded do not count.
    pub waiting_bytes: u64,
    /// Files that were deleted here before they were sent.
    pub deleted_unsent: Vec<String>,
    /// Whether the recording has ended.
    pub is_finished: bool,
    /// Whether all of the bag is there.
    pub is_complete: bool,
}

impl BagUpload {
    /// Reads how far earlier uploads to this target came.
    ///
    /// # Errors
    /// When there is no bag.
    pub fn open(bag: &Path, target: &UploadTarget, options: UploadOptions) -> Result<Self> {
        let unreadable = |source: std::io::Error| Error::Local {
            path: bag.to_path_buf(),
            action: "open",
            reason: source.to_string(),
        };
        let path = bag.canonicalize().map_err(unreadable)?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Error::Local {
            path: bag.to_path_buf(),
            action: "upload",
            reason: "its name is empty or not UTF-8".into(),
        })?;
        let is_file = path.is_file();
        let journal = if is_file {
            path.with_file_name(format!(".{name}{JOURNAL_FILE}"))
        } else {
            path.join(JOURNAL_FILE)
        };
        let parent = path.parent().unwrap_or(&path).to_path_buf();
        Ok(Self {
            name: if is_file {
                String::new()
            } else {
                name.to_owned()
            },
            only: is_file.then(|| path.clone()),
            directory: if is_file { parent } else { path.clone() },
            target: target.clone(),
            options,
            journal: Journal::open(journal),
            seen: BTreeSet::new(),
            is_finished: false,
            is_complete: false,
        })
    }

    /// The directory, or the single file.
    pub fn path(&self) -> &Path {
        self.only.as_deref().unwrap_or(&self.directory)
    }

    /// The address of the bag when all of it is there.
    pub fn uri(&self) -> String {
        let file = self.only.as_deref().and_then(Path::file_name);
        let name = file.map_or_else(
            || self.name.clone(),
            |name| name.to_string_lossy().into_owned(),
        );
        format!("{}/{name}", self.target.uri())
    }

    /// Progress, by the files that are closed now.
    ///
    /// # Errors
    /// When the metadata cannot be read.
    pub fn status(&mut self) -> Result<UploadStatus> {
        let files = self.look()?;
        Ok(self.status_of(&files))
    }

    /// Sends every closed file that is not there, and the metadata when the recording has ended. Calls `progress` after each
    /// part.
    ///
    /// # Errors
    /// When a file cannot be read or sent. What arrived stays, and the next call goes on from there.
    pub fn advance(
        &mut self,
        control: &UploadControl,
        progress: &mut dyn FnMut(&UploadStatus),
    ) -> Result<UploadStatus> {
        if self.is_complete {
            return Ok(self.status_of(&[]));
        }
        let files = self.look()?;
        for (name, path) in &files {
            if control.stop.is_cancelled() {
                return Err(Error::Stopped);
            }
            match self.send(name, path, &files, control, progress) {
                // Deleted by the recorder to make room: the status counts it.
                Err(Error::Local { .. }) if !path.exists() => {}
                sent => sent?,
            }
        }
        let files = self.look()?;
        let status = self.status_of(&files);
        if !status.is_finished || status.waiting_files > 0 {
            return Ok(status);
        }
        let metadata = self.directory.join(METADATA_FILE);
        if self.only.is_none() {
            self.send(METADATA_FILE, &metadata, &files, control, progress)?;
        }
        self.is_complete = status.deleted_unsent.is_empty();
        if self.options.delete && self.is_complete {
            self.delete_rest(&metadata)?;
        }
        Ok(self.status_of(&files))
    }

    /// The closed files that exist, by their name below the bag.
    fn look(&mut self) -> Result<Vec<(String, PathBuf)>> {
        if let Some(only) = &self.only {
            self.is_finished = true;
            let name = only.file_name().unwrap_or_default();
            return Ok(vec![(name.to_string_lossy().into_owned(), only.clone())]);
        }
        let closed = ClosedFiles::find(&self.directory).map_err(|error| Error::Bag {
            reason: format!("{}: {error}", self.directory.display()),
        })?;
        self.is_finished = closed.is_finished;
        self.seen.extend(closed.absent);
        let named = closed.files.into_iter().filter_map(|path| {
            let name = path
                .strip_prefix(&self.directory)
                .ok()?
                .to_str()?
                .to_owned();
            Some((name, path))
        });
        let files: Vec<_> = named.collect();
        self.seen.extend(files.iter().map(|(name, _)| name.clone()));
        Ok(files)
    }

    fn send(
        &mut self,
        name: &str,
        path: &Path,
        files: &[(String, PathBuf)],
        control: &UploadControl,
        progress: &mut dyn FnMut(&UploadStatus),
    ) -> Result<()> {
        let target = self.target.uri().to_owned();
        let earlier = self.journal.file(&target, name).cloned();
        let object = self.target.object(&self.name, name);
        let (options, only_delete) = (self.options.clone(), self.options.delete);
        let upload = FileUpload {
            local: path,
            object: &object,
            options: &options,
            control,
            // Metadata that was sent before may be sent again: it has grown.
            replace: options.overwrite || (name == METADATA_FILE && earlier.is_some()),
        };
        upload.send(earlier.as_ref(), &mut |state: &FileState| {
            self.journal.set(&target, name, state.clone())?;
            progress(&self.status_of(files));
            Ok(())
        })?;
        if only_delete && name != METADATA_FILE {
            fs::remove_file(path).map_err(|error| Error::Local {
                path: path.to_path_buf(),
                action: "delete",
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    fn status_of(&self, files: &[(String, PathBuf)]) -> UploadStatus {
        let target = self.target.uri();
        let mut status = UploadStatus {
            is_finished: self.is_finished,
            is_complete: self.is_complete,
            ..UploadStatus::default()
        };
        for (name, state) in self.journal.files(target) {
            if name == METADATA_FILE {
                continue;
            }
            // The sizes are read from a file.
            status.arrived_bytes = status.arrived_bytes.saturating_add(state.bytes_sent());
            status.arrived_files += u64::from(state.arrived);
        }
        for (name, path) in files {
            let known = self.journal.file(target, name);
            let Ok(now) = identity(path) else { continue };
            let known = known.filter(|known| known.is_same_file(&now));
            if known.is_some_and(|known| known.arrived) {
                continue;
            }
            status.waiting_files += 1;
            status.waiting_bytes += now.size - known.map_or(0, FileState::bytes_sent);
        }
        for name in &self.seen {
            let here = files.iter().any(|(file, _)| is_file_of(name, file));
            let mut sent = self.journal.files(target);
            let arrived = sent.any(|(file, state)| state.arrived && is_file_of(name, file));
            if !here && !arrived && !self.is_complete {
                status.deleted_unsent.push(name.clone());
            }
        }
        status.is_complete |= status.is_finished
            && status.waiting_files == 0
            && status.deleted_unsent.is_empty()
            && self.has_sent_metadata();
        status
    }

    /// Whether the metadata as it is now is there; a single file has none.
    fn has_sent_metadata(&self) -> bool {
        let sent = self.journal.file(self.target.uri(), METADATA_FILE);
        let now = identity(&self.directory.join(METADATA_FILE));
        let is_there =
            |sent: &FileState| sent.arrived && now.is_ok_and(|now| sent.is_same_file(&now));
        self.only.is_some() || sent.is_some_and(is_there)
    }

    /// All of it is there: the directory goes, unless it holds files of others.
    fn delete_rest(&self, metadata: &Path) -> Result<()> {
        let failed = |path: &Path, error: &std::io::Error| Error::Local {
            path: path.to_path_buf(),
            action: "delete",
            reason: error.to_string(),
        };
        if self.only.is_none() {
            fs::remove_file(metadata).map_err(|error| failed(metadata, &error))?;
        }
        let journal = self.journal.path();
        fs::remove_file(journal).map_err(|error| failed(journal, &error))?;
        if self.only.is_none() {
            // A directory with other files stays.
            let _kept = fs::remove_dir(&self.directory);
        }
        Ok(())
    }
}

/// The metadata names some compressed files without `.zstd`.
fn is_file_of(name: &str, file: &str) -> bool {
    name == file || file.strip_suffix(".zstd") == Some(name)
}

impl std::fmt::Debug for BagUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BagUpload({} to {})", self.path().display(), self.uri())
    }
}
