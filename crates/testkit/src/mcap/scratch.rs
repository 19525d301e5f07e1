//! A directory for a test, whose MCAP files are checked when the test ends.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::check::{Layout, violations};

/// A directory that vanishes after a test; until then, every `.mcap` and `.mcap.zstd` file that is left in it must keep
/// all rules.
///
/// A test that leaves damaged or unfinished files behind says so by [`unchecked`](Self::unchecked).
#[derive(Debug)]
pub struct BagScratch {
    directory: tempfile::TempDir,
    /// What is asked of the files; `None` asks nothing.
    layout: Mutex<Option<Layout>>,
}

impl BagScratch {
    /// An empty directory.
    ///
    /// # Panics
    /// If the system refuses one.
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            layout: Mutex::new(Some(Layout::Indexed)),
        }
    }

    /// For files that are written without a summary or message indexes on purpose.
    pub fn scannable(&self) {
        self.ask(Some(Layout::Scannable));
    }

    /// For tests that leave damaged files behind; whole files are then checked by [`assert_valid_bag`].
    pub fn unchecked(&self) {
        self.ask(None);
    }

    fn ask(&self, layout: Option<Layout>) {
        *self.layout.lock().unwrap_or_else(PoisonError::into_inner) = layout;
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Deref for BagScratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.path()
    }
}

impl AsRef<Path> for BagScratch {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

impl Drop for BagScratch {
    fn drop(&mut self) {
        let layout = *self.layout.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(layout), false) = (layout, std::thread::panicking()) {
            for file in mcap_files(self.path()) {
                assert_valid(&file, layout);
            }
        }
    }
}

/// Checks every MCAP file of a bag, or a single file.
///
/// # Panics
/// If one breaks a rule, or if there is none.
pub fn assert_valid_bag(path: &Path) {
    let files = mcap_files(path);
    assert!(!files.is_empty(), "{}: no MCAP file", path.display());
    for file in files {
        assert_valid(&file, Layout::Indexed);
    }
}

/// Checks an MCAP file.
///
/// # Panics
/// If it breaks a rule.
pub fn assert_valid_mcap(path: &Path) {
    assert_valid(path, Layout::Indexed);
}

fn assert_valid(path: &Path, layout: Layout) {
    let mut bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path
        .extension()
        .is_some_and(|extension| extension == "zstd")
    {
        bytes = zstd::stream::decode_all(&bytes[..])
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let found: Vec<String> = violations(&bytes, layout)
        .iter()
        .take(10)
        .map(ToString::to_string)
        .collect();
    assert!(found.is_empty(), "{}: {found:#?}", path.display());
}

/// The MCAP files at or below a path, sorted.
fn mcap_files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let (mut found, mut open) = (Vec::new(), vec![path.to_path_buf()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if is_mcap(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_mcap(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("mcap") => true,
        Some("zstd") => path.with_extension("").extension() == Some("mcap".as_ref()),
        _ => false,
    }
}
