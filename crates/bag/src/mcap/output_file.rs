//! The file that is written: large pieces go to the disk beside the page cache, where the file system can do that.
//!
//! The page cache costs a copy and an allocation for every page, most of what it costs to store an image. Direct I/O
//! needs memory and offsets that are aligned. The sink puts a record of padding before a large piece, so that memory
//! and file are aligned alike; what is left before and after the aligned part goes through the page cache.

use std::fs::File;
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::record::RECORD_HEAD;
use crate::Result;
use crate::message::size_u64;
use crate::storage::create_file;

/// Smaller pieces go through the page cache: a wait for the disk costs more than their copy.
pub(super) const LEAST_DIRECT: usize = 256 << 10;
/// Direct writes begin and end at multiples of this in the file: no page is both in the cache and written around it.
const PAGE: u64 = 4096;
/// And at multiples of this in memory: the block size of most disks.
const BLOCK: u64 = 512;

/// How large pieces are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WritePath {
    /// Directly to the disk, where the file system is known to do that well; else through the page cache.
    #[default]
    Direct,
    /// Always through the page cache.
    PageCache,
}

/// Set while the writer must not wait for the disk: everything goes through the page cache then.
pub(super) type InHurry = Arc<AtomicBool>;

/// A file that grows at its end.
pub(super) struct OutputFile {
    file: File,
    /// The same file, opened for direct writes.
    direct: Option<File>,
    hurry: InHurry,
}

/// What is written at once, in this order; `large` is the index of the slice that may be written directly.
pub(super) struct Pieces<'a> {
    pub(super) slices: [&'a [u8]; 4],
    pub(super) large: usize,
}

impl<'a> Pieces<'a> {
    /// A short run of records.
    pub(super) fn small(bytes: &'a [u8]) -> Self {
        Self {
            slices: [bytes, &[], &[], &[]],
            large: 0,
        }
    }

    fn is_large(&self) -> bool {
        self.slices[self.large].len() >= LEAST_DIRECT
    }

    /// The part of the large slice that can be written directly, if the first slice begins at `position`.
    fn middle(&self, position: u64) -> Option<Middle<'a>> {
        let large = self.slices[self.large];
        let before: usize = self.slices[..self.large].iter().map(|one| one.len()).sum();
        let start = position + size_u64(before);
        let (from, to) = (
            start.next_multiple_of(PAGE),
            (start + size_u64(large.len())) / PAGE * PAGE,
        );
        if !self.is_large()
            || from >= to
            || !(start.wrapping_sub(address(large))).is_multiple_of(BLOCK)
        {
            return None;
        }
        let cut = |offset: u64| usize::try_from(offset - start).ok();
        let (head, rest) = large.split_at_checked(cut(from)?)?;
        let (bytes, tail) = rest.split_at_checked(cut(to)? - head.len())?;
        Some(Middle {
            head,
            bytes,
            tail,
            offset: from,
        })
    }
}

/// A large slice in three parts; `bytes` begin at a page of the file, and end there.
struct Middle<'a> {
    head: &'a [u8],
    bytes: &'a [u8],
    tail: &'a [u8],
    offset: u64,
}

/// Where a slice is in memory.
fn address(bytes: &[u8]) -> u64 {
    size_u64(bytes.as_ptr().addr())
}

impl OutputFile {
    /// Creates the file; an existing one is an error.
    pub(super) fn create(path: &Path, write_path: WritePath) -> Result<Self> {
        let file = create_file(path)?;
        let direct = match write_path {
            WritePath::Direct => direct::open(path, &file),
            WritePath::PageCache => None,
        };
        Ok(Self {
            file,
            direct,
            hurry: InHurry::default(),
        })
    }

    /// The switch for writers that must not wait for the disk.
    pub(super) fn hurry(&self) -> &InHurry {
        &self.hurry
    }

    /// The size of the padding record that aligns `large` with the file if it would begin at `offset`: 0 for none.
    pub(super) fn padding(&self, offset: u64, large: &[u8]) -> usize {
        if large.len() < LEAST_DIRECT || !self.is_direct() {
            return 0;
        }
        let missing = address(large).wrapping_sub(offset) % BLOCK;
        let least = size_u64(RECORD_HEAD);
        let size = if missing == 0 || missing >= least {
            missing
        } else {
            missing + BLOCK
        };
        usize::try_from(size).unwrap_or(0)
    }

    fn is_direct(&self) -> bool {
        self.direct.is_some() && !self.hurry.load(Ordering::Relaxed)
    }

    /// Writes all pieces at `position`, the end of the file; on failure the file is truncated to it, so that it stays
    /// readable.
    pub(super) fn append(&mut self, position: u64, pieces: &Pieces<'_>) -> io::Result<()> {
        let written = match pieces.middle(position).filter(|_| self.is_direct()) {
            Some(middle) => self.append_directly(pieces, &middle),
            None => write_all(&mut self.file, &mut pieces.slices.map(IoSlice::new)),
        };
        written.inspect_err(|_| {
            // The error of the write is reported; truncating is the best that remains.
            drop(self.truncate(position));
        })
    }

    fn append_directly(&mut self, pieces: &Pieces<'_>, middle: &Middle<'_>) -> io::Result<()> {
        let mut before = [IoSlice::new(&[]); 5];
        let mut after = before;
        for (at, slice) in pieces.slices.iter().enumerate() {
            match at.cmp(&pieces.large) {
                std::cmp::Ordering::Less => before[at] = IoSlice::new(slice),
                std::cmp::Ordering::Equal => {
                    before[at] = IoSlice::new(middle.head);
                    after[at] = IoSlice::new(middle.tail);
                }
                std::cmp::Ordering::Greater => after[at] = IoSlice::new(slice),
            }
        }
        write_all(&mut self.file, &mut before)?;
        let end = middle.offset + size_u64(middle.bytes.len());
        let done = match &self.direct {
            Some(file) => direct::write(middle.bytes, |bytes, done| {
                direct::write_at(file, bytes, middle.offset + done)
            })?,
            None => 0,
        };
        let rest = middle.bytes.get(done..).unwrap_or_default();
        if rest.is_empty() {
            self.file.seek(SeekFrom::Start(end))?;
        } else {
            tracing::debug!("the file system refuses direct writes");
            self.direct = None;
            self.file
                .seek(SeekFrom::Start(end - size_u64(rest.len())))?;
            write_all(&mut self.file, &mut [IoSlice::new(rest)])?;
        }
        write_all(&mut self.file, &mut after)
    }

    /// Truncates the file and continues there.
    pub(super) fn truncate(&mut self, position: u64) -> io::Result<()> {
        self.file.set_len(position)?;
        self.file.seek(SeekFrom::Start(position)).map(drop)
    }

    /// The file once more, to sync it on another thread. An error of a sync is reported to one of the two.
    pub(super) fn second_handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Makes everything so far survive a power cut.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Writes all slices at the place where the file was written last.
fn write_all(file: &mut File, slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    let mut rest = slices;
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes of aligned bytes beside the page cache.
mod direct {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use super::BLOCK;
    use crate::message::size_u64;

    /// Opens a file that was just created a second time, for direct writes; `None` where that is not known to work well.
    ///
    /// A network file system would wait for its server at each write, and one in memory has nothing beside the cache.
    #[cfg(target_os = "linux")]
    pub(super) fn open(path: &Path, created: &File) -> Option<File> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let system = rustix::fs::fstatfs(created).ok()?;
        // Of ext4, XFS and F2FS, as in linux/magic.h.
        if !matches!(system.f_type, 0xEF53 | 0x5846_5342 | 0xF2F5_2010) {
            return None;
        }
        let flags = i32::from_ne_bytes(rustix::fs::OFlags::DIRECT.bits().to_ne_bytes());
        let options = File::options().write(true).custom_flags(flags).open(path);
        options.ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open(_path: &Path, _created: &File) -> Option<File> {
        None
    }

    #[cfg(unix)]
    pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(file, bytes, offset)
    }

    #[cfg(not(unix))]
    pub(super) fn write_at(_file: &File, _bytes: &[u8], _offset: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Calls `write_at` with what is left and the count of what is written, until all is; returns that count.
    ///
    /// It is less than all if direct writes are refused: then the rest must go through the page cache.
    pub(super) fn write(
        bytes: &[u8],
        mut write_at: impl FnMut(&[u8], u64) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match write_at(rest, size_u64(done)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_refused(&error) => return Ok(done),
                Err(error) => return Err(error),
            }
            if !size_u64(done).is_multiple_of(BLOCK) {
                // No direct write can go on from here.
                return Ok(done);
            }
        }
        Ok(done)
    }

    /// Whether it is about direct writes: other alignment, or none at all.
    fn is_refused(error: &io::Error) -> bool {
        use io::ErrorKind::{InvalidInput, Unsupported};
        matches!(error.kind(), InvalidInput | Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is written, with the bytes that it must hold.
    struct Written {
        _directory: tempfile::TempDir,
        path: std::path::PathBuf,
        file: OutputFile,
        expected: Vec<u8>,
    }

    impl Written {
        fn new(write_path: WritePath) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            Self {
                file: OutputFile::create(&path, write_path).unwrap(),
                path,
                _directory: directory,
                expected: Vec::new(),
            }
        }

        /// Appends a head, padding as the sink does it, a large slice and a tail.
        fn append(&mut self, head: usize, large: &[u8], tail: usize) -> io::Result<()> {
            let position = size_u64(self.expected.len());
            let padding = self.file.padding(position + size_u64(head), large);
            let head = vec![1; head + padding];
            let tail = vec![2; tail];
            let slices = [&head[..], &[], large, &tail];
            self.file.append(position, &Pieces { slices, large: 2 })?;
            self.expected.extend(slices.concat());
            Ok(())
        }

        fn check(&self) {
            assert!(std::fs::read(&self.path).unwrap() == self.expected);
        }
    }

    fn pattern(size: usize) -> Vec<u8> {
        (0..size).map(|at| (at % 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn pieces_of_any_size_and_alignment_follow_each_other() {
        for write_path in [WritePath::Direct, WritePath::PageCache] {
            let mut written = Written::new(write_path);
            let bytes = pattern(1_500_000);
            for (round, skipped) in [0, 1, 16, 511, 512, 4095].into_iter().enumerate() {
                written.append(37 * round, &bytes[skipped..], 31).unwrap();
                written.append(5, &bytes[..100], 3).unwrap();
                let least = &bytes[skipped..skipped + LEAST_DIRECT];
                written.append(round, least, 0).unwrap();
                written.check();
            }
        }
    }

    /// On the file systems that the writer trusts; on others there is nothing to see.
    #[test]
    fn large_pieces_are_aligned_for_the_disk() {
        let written = Written::new(WritePath::Direct);
        let bytes = pattern(LEAST_DIRECT + 100);
        for (offset, skipped) in [(0, 0), (1, 0), (77, 3), (4096, 99)] {
            let large = &bytes[skipped..];
            let padding = written.file.padding(offset, large);
            if written.file.direct.is_none() {
                assert_eq!(padding, 0);
                continue;
            }
            assert!(padding == 0 || padding >= RECORD_HEAD, "{padding}");
            assert!(padding < 512 + RECORD_HEAD, "{padding}");
            let head = vec![0; padding];
            let slices = [&head[..], large, &[], &[]];
            let middle = Pieces { slices, large: 1 }.middle(offset).unwrap();
            assert!(middle.offset.is_multiple_of(PAGE));
            assert!(size_u64(middle.bytes.len()).is_multiple_of(PAGE));
            assert!(address(middle.bytes).is_multiple_of(BLOCK));
            assert!(middle.bytes.len() > large.len() - 2 * 4096);
        }
        assert_eq!(written.file.padding(1, &bytes[..LEAST_DIRECT - 1]), 0);
    }

    #[test]
    fn a_writer_in_a_hurry_does_not_wait_for_the_disk() {
        let mut written = Written::new(WritePath::Direct);
        written.file.hurry().store(true, Ordering::Relaxed);
        assert!(!written.file.is_direct());
        let bytes = pattern(600_000);
        written.append(3, &bytes[1..], 7).unwrap();
        written.file.hurry().store(false, Ordering::Relaxed);
        written.append(3, &bytes[1..], 7).unwrap();
        written.check();
    }

    /// A read-only descriptor stands for a disk that fails.
    #[test]
    fn an_error_of_a_direct_write_leaves_the_file_as_it_was() {
        let mut written = Written::new(WritePath::PageCache);
        written.append(10, &pattern(1000), 5).unwrap();
        written.file.direct = Some(File::open(&written.path).unwrap());
        let error = written.append(10, &pattern(600_000), 5).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::InvalidInput);
        written.check();
        written.file.direct = None;
        written.append(10, &pattern(600_000), 5).unwrap();
        written.check();
    }

    /// The process has a file that refuses what is no number, as a file system does with direct writes.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_that_refuses_direct_writes_gets_all_through_the_page_cache() {
        let mut written = Written::new(WritePath::PageCache);
        let refuses = File::options().write(true).open("/proc/self/oom_score_adj");
        written.file.direct = Some(refuses.unwrap());
        let bytes = pattern(600_000);
        for _ in 0..3 {
            written.append(10, &bytes, 5).unwrap();
            assert!(written.file.direct.is_none(), "it is not tried again");
            written.check();
        }
    }

    #[test]
    fn refused_direct_writes_are_left_to_the_page_cache() {
        let refused = || io::Error::from(io::ErrorKind::InvalidInput);
        let all = direct::write(&[0; 2048], |_, _| Err(refused()));
        assert_eq!(all.unwrap(), 0);
        // After a part, and at a place from which no direct write can go on.
        let mut parts = vec![Err(refused()), Ok(512), Ok(1024)];
        let some = direct::write(&[0; 2048], |rest, done| {
            assert_eq!(rest.len() as u64 + done, 2048);
            parts.pop().unwrap()
        });
        assert_eq!(some.unwrap(), 1536);
        assert_eq!(direct::write(&[0; 2048], |_, _| Ok(100)).unwrap(), 100);
        // A full disk is an error.
        let full = direct::write(&[0; 2048], |_, _| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        let interrupted = [Ok(2048), Err(io::ErrorKind::Interrupted.into())];
        let mut interrupted = interrupted.into_iter().rev();
        let done = direct::write(&[0; 2048], |_, _| interrupted.next().unwrap());
        assert_eq!(done.unwrap(), 2048);
    }
}
