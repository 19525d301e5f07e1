//! Small made-up workspaces for the negative tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder with files in it, removed at the end of the test.
pub(super) struct Tree(PathBuf);

impl Tree {
    /// Writes `files`, given as path and text.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("timeloom-tidy-{}-{number}", std::process::id()));
        let tree = Self(root);
        for (path, text) in files {
            let path = tree.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Best effort: a leftover in the temporary folder does no harm, and a panic here would hide the test's own.
        drop(fs::remove_dir_all(&self.0));
    }
}
