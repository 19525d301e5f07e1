//! A directory for a test, whose MCAP files are checked when the test ends.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::locking::lock;

use super::check::{Layout, violations};
use super::fields::{Fields, HEAD, MAGIC};

/// A directory that is deleted after a test. Before that, every `.mcap` and `.mcap.zstd` file in it must keep all
/// rules, unless another writer wrote it.
///
/// A test that leaves damaged or unfinished files behind says so by [`unchecked`](Self::unchecked).
#[derive(Debug)]
pub struct BagScratch {
    directory: tempfile::TempDir,
    /// The required layout of the files; `None` skips the check.
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
        *lock(&self.layout) = layout;
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
        let layout = *lock(&self.layout);
        if let (Some(layout), false) = (layout, std::thread::panicking()) {
            for file in mcap_files(self.path()) {
                let bytes = read(&file);
                if is_ours(&bytes) {
                    assert_valid(&file, &bytes, layout);
                }
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
        assert_valid_mcap(&file);
    }
}

/// Checks an MCAP file.
///
/// # Panics
/// If it breaks a rule.
pub fn assert_valid_mcap(path: &Path) {
    assert_valid(path, &read(path), Layout::Indexed);
}

/// The content of a file, unpacked.
fn read(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).and_then(|bytes| {
        let packed = path
            .extension()
            .is_some_and(|extension| extension == "zstd");
        if packed {
            zstd::stream::decode_all(&bytes[..])
        } else {
            Ok(bytes)
        }
    });
    bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether the header of a file names this project as the writer.
fn is_ours(bytes: &[u8]) -> bool {
    let body = bytes.get(MAGIC.len() + HEAD..).unwrap_or_default();
    let mut fields = Fields(body);
    let (_profile, library) = (fields.text(), fields.text());
    library.is_some_and(|library| library.starts_with("timeloom"))
}

fn assert_valid(path: &Path, bytes: &[u8], layout: Layout) {
    let found: Vec<String> = violations(bytes, layout)
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

#[cfg(test)]
mod tests {
    use super::super::ForgedMcap;
    use super::*;

    /// A file of a writer, without the end that it needs.
    fn cut(library: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(ForgedMcap::header_record(library));
        bytes
    }

    fn end_of_test(library: &str, change: fn(&BagScratch)) {
        let scratch = BagScratch::new();
        fs::write(scratch.join("x.mcap"), cut(library)).unwrap();
        change(&scratch);
    }

    #[test]
    #[should_panic = "not a footer"]
    fn a_bad_file_of_ours_fails_the_test() {
        end_of_test(
            "timeloom 0.1.0 with a name that makes the file long enough",
            |_| {},
        );
    }

    #[test]
    fn files_of_others_and_damage_on_purpose_do_not() {
        end_of_test("libmcap 1.3.1", |_| {});
        end_of_test("timeloom 0.1.0", BagScratch::unchecked);
    }

    #[test]
    fn names_of_mcap_files() {
        for (name, expected) in [
            ("a.mcap", true),
            ("a_0.mcap.zstd", true),
            ("a.mcap.damaged", false),
            ("a.db3.zstd", false),
        ] {
            assert_eq!(is_mcap(Path::new(name)), expected, "{name}");
        }
    }
}
