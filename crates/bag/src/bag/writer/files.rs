//! The files of a bag in their order: one is written, those before it are closed.

use std::path::{Path, PathBuf};

use super::open_file::OpenFile;

/// The file that is written now, and counts of those before it.
pub(super) struct Files {
    directory: PathBuf,
    /// The name of the bag, which files are named after.
    bag_name: String,
    current: Option<OpenFile>,
    opened: usize,
    /// Bytes of the files that are closed or being closed.
    closed_size: u64,
}

impl Files {
    pub(super) fn new(directory: &Path) -> Self {
        let name = directory.file_name();
        Self {
            directory: directory.to_path_buf(),
            bag_name: name.map_or_else(
                || "bag".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            ),
            current: None,
            opened: 0,
            closed_size: 0,
        }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn bag_name(&self) -> &str {
        &self.bag_name
    }

    /// Number of files opened so far.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }

    /// The number of the file that is written now.
    pub(super) fn current_number(&self) -> usize {
        self.opened.saturating_sub(1)
    }

    pub(super) fn current(&self) -> Option<&OpenFile> {
        self.current.as_ref()
    }

    pub(super) fn current_mut(&mut self) -> Option<&mut OpenFile> {
        self.current.as_mut()
    }

    pub(super) fn current_path(&self) -> PathBuf {
        let path = self.current.as_ref().map(|file| file.path.clone());
        path.unwrap_or_default()
    }

    pub(super) fn current_name(&self) -> String {
        file_name(&self.current_path())
    }

    /// Makes a new file the current one; returns the one before it, which is to be closed.
    pub(super) fn open(&mut self, file: OpenFile) -> Option<OpenFile> {
        self.opened += 1;
        self.current.replace(file)
    }

    /// Takes the last file out, to be closed.
    pub(super) fn take_last(&mut self) -> Option<OpenFile> {
        self.current.take()
    }

    /// Puts a file that was taken out back in its place.
    #[cfg(test)]
    pub(super) fn put_back(&mut self, file: OpenFile) {
        self.current = Some(file);
    }

    /// Counts the bytes of a file that is being closed, once all of its messages are sealed.
    pub(super) fn count_closed(&mut self, file: &OpenFile) {
        self.closed_size += file.writer.file_size();
    }

    /// Bytes of all files so far, approximately.
    pub(super) fn size(&self) -> u64 {
        let open = self.current.as_ref();
        self.closed_size + open.map_or(0, |file| file.writer.file_size())
    }
}

/// The last part of a path as text.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
