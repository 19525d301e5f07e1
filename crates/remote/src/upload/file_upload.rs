//! Upload of one file: compared with the stored object, sent in parts, compared again.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::{ObjectStoreExt as _, PutPayload};
use timeloom_time::{Duration, WaitOptions};

use super::hashes::{is_hash, md5_of, plain, tag_of_parts};
use super::journal::{FileState, Part, Parts};
use super::target::TargetObject;
use super::{UploadControl, UploadOptions};
use crate::runtime::Task;
use crate::{Error, Result};

/// Bytes of a part: four of them are in memory at a time. S3 takes no smaller ones than 5 MiB.
const PART_BYTES: u64 = 8 << 20;
/// S3 takes 10,000 parts.
const MAX_PARTS: u64 = 9_000;
/// Parts under way at a time.
const AT_ONCE: usize = 4;
/// An upload that the server has forgotten is begun again this often.
const TRIES: u32 = 2;

/// A file and where it goes.
pub(super) struct FileUpload<'a> {
    pub(super) local: &'a Path,
    pub(super) object: &'a TargetObject,
    pub(super) options: &'a UploadOptions,
    pub(super) control: &'a UploadControl,
    /// Whether an object of the same name may be replaced.
    pub(super) replace: bool,
}

/// Keeps the state of a file, so that the upload can go on later.
pub(super) type Save<'a> = &'a mut dyn FnMut(&FileState) -> Result<()>;

enum Found {
    Nothing,
    Same,
    Other { there: u64 },
}

impl FileUpload<'_> {
    /// Sends the file, from where an earlier attempt stopped. It has arrived when this returns `Ok`.
    pub(super) fn send(&self, earlier: Option<&FileState>, save: Save<'_>) -> Result<()> {
        let mut state = identity(self.local)?;
        if let Some(earlier) = earlier.filter(|it| it.is_same_file(&state)) {
            if earlier.arrived {
                return Ok(());
            }
            state.parts = usable_parts(earlier);
        }
        for _ in 0..TRIES {
            if state.parts.is_none() {
                match self.compare(&state)? {
                    Found::Same => return self.arrived(state, save),
                    Found::Other { there } if !self.replace => {
                        return Err(Error::Exists {
                            uri: self.object.uri.clone(),
                            there,
                            here: state.size,
                        });
                    }
                    Found::Other { .. } | Found::Nothing => {}
                }
            }
            match self.transfer(&mut state, save) {
                // The server has forgotten the upload, or finished it while its answer was lost.
                Err(Error::NotFound { .. }) if state.parts.is_some() => {
                    state.parts = None;
                    save(&state)?;
                }
                Err(error) => return Err(error),
                Ok(()) => return self.arrived(state, save),
            }
        }
        Err(Error::NotFound {
            uri: self.object.uri.clone(),
        })
    }

    fn arrived(&self, mut state: FileState, save: Save<'_>) -> Result<()> {
        if !identity(self.local)?.is_same_file(&state) {
            return Err(Error::ChangedHere {
                path: self.local.to_path_buf(),
            });
        }
        tracing::info!(uri = self.object.uri, bytes = state.size, "file uploaded");
        state.arrived = true;
        state.parts = None;
        save(&state)
    }

    /// Sends the bytes, and compares the answer with them.
    fn transfer(&self, state: &mut FileState, save: Save<'_>) -> Result<()> {
        let file = File::open(self.local).map_err(|error| self.unreadable(&error))?;
        let (expected, tag) = if state.size <= PART_BYTES && state.parts.is_none() {
            let bytes = self.read(&file, 0, state.size)?;
            let expected = md5_of(&bytes);
            (expected, self.put(bytes)?)
        } else {
            self.send_parts(&file, state, save)?
        };
        let tag = tag.as_deref().map_or("", plain);
        if is_hash(tag) {
            if tag == expected {
                return Ok(());
            }
            return Err(Error::Damaged {
                uri: self.object.uri.clone(),
                what: format!("hash {tag} instead of {expected}"),
            });
        }
        // The tag is no hash, as with encryption by the server: read it back.
        if self.reads_back_the_same(state.size)? {
            return Ok(());
        }
        Err(Error::Damaged {
            uri: self.object.uri.clone(),
            what: "read back, it has other bytes".into(),
        })
    }

    fn put(&self, bytes: Vec<u8>) -> Result<Option<String>> {
        let TargetObject {
            key, uri, store, ..
        } = self.object.clone();
        let task = Task::start(async move {
            let put = store.put(&key, PutPayload::from(bytes)).await;
            put.map_err(|error| Error::from_store(&uri, &error))
        })?;
        Ok(task.wait_unless(&self.control.stop)??.e_tag)
    }

    /// Sends the missing parts; returns the expected and the actual tag of the object.
    fn send_parts(
        &self,
        file: &File,
        state: &mut FileState,
        save: Save<'_>,
    ) -> Result<(String, Option<String>)> {
        if state.parts.is_none() {
            state.parts = Some(Parts {
                id: self.begin()?,
                part_bytes: part_bytes(state.size),
                sent: Vec::new(),
            });
            save(state)?;
        }
        let size = state.size;
        let parts = state.parts.clone().unwrap_or_default();
        let count = usize::try_from(size.div_ceil(parts.part_bytes)).unwrap_or(usize::MAX);
        let mut next = parts.sent.len();
        let mut under_way = VecDeque::new();
        let at_once = if self.options.bytes_per_second.is_some() {
            1
        } else {
            AT_ONCE
        };
        loop {
            let started = self.control.clock.now();
            while next < count && under_way.len() < at_once {
                let at = next as u64 * parts.part_bytes;
                let length = parts.part_bytes.min(size - at);
                let bytes = self.read(file, at, length)?;
                let md5 = md5_of(&bytes);
                under_way.push_back((md5, length, self.put_part(&parts.id, next, bytes)?));
                next += 1;
            }
            let Some((md5, length, task)) = under_way.pop_front() else {
                break;
            };
            let part = task.wait_unless(&self.control.stop)??;
            let tag = plain(&part.content_id);
            if is_hash(tag) && tag != md5 {
                return Err(Error::Damaged {
                    uri: self.object.uri.clone(),
                    what: format!("part with hash {tag} instead of {md5}"),
                });
            }
            if let Some(parts) = &mut state.parts {
                parts.sent.push(Part {
                    content_id: part.content_id,
                    md5,
                });
            }
            save(state)?;
            self.pace(started, length)?;
        }
        let parts = state.parts.clone().unwrap_or_default();
        let expected = tag_of_parts(parts.sent.iter().map(|part| part.md5.as_str()));
        Ok((expected, self.complete(parts)?))
    }

    fn begin(&self) -> Result<String> {
        let TargetObject {
            key, uri, parts, ..
        } = self.object.clone();
        let task = Task::start(async move {
            let begun = parts.create_multipart(&key).await;
            begun.map_err(|error| Error::from_store(&uri, &error))
        })?;
        task.wait_unless(&self.control.stop)?
    }

    fn put_part(&self, id: &str, index: usize, bytes: Vec<u8>) -> Result<Task<Result<PartId>>> {
        let TargetObject {
            key, uri, parts, ..
        } = self.object.clone();
        let id = id.to_owned();
        Task::start(async move {
            let put = parts
                .put_part(&key, &id, index, PutPayload::from(bytes))
                .await;
            put.map_err(|error| Error::from_store(&uri, &error))
        })
    }

    fn complete(&self, sent: Parts) -> Result<Option<String>> {
        let TargetObject {
            key, uri, parts, ..
        } = self.object.clone();
        let ids = sent.sent.into_iter().map(|part| PartId {
            content_id: part.content_id,
        });
        let ids: Vec<_> = ids.collect();
        let task = Task::start(async move {
            let put = parts.complete_multipart(&key, &sent.id, ids).await;
            put.map_err(|error| Error::from_store(&uri, &error))
        })?;
        Ok(task.wait_unless(&self.control.stop)??.e_tag)
    }

    /// Compares the local file with the object that is there.
    fn compare(&self, state: &FileState) -> Result<Found> {
        let TargetObject {
            key, uri, store, ..
        } = self.object.clone();
        let task = Task::start(async move {
            let head = store.head(&key).await;
            head.map_err(|error| Error::from_store(&uri, &error))
        })?;
        let there = match task.wait_unless(&self.control.stop)? {
            Ok(there) => there,
            Err(Error::NotFound { .. }) => return Ok(Found::Nothing),
            Err(error) => return Err(error),
        };
        let other = Found::Other { there: there.size };
        if there.size != state.size {
            return Ok(other);
        }
        let tag = there.e_tag.as_deref().map_or("", plain);
        if is_hash(tag) && self.local_tag(state.size, tag.contains('-'))? == tag {
            return Ok(Found::Same);
        }
        // Another size of parts gives another tag for the same bytes.
        if is_hash(tag) && !tag.contains('-') {
            return Ok(other);
        }
        Ok(if self.reads_back_the_same(state.size)? {
            Found::Same
        } else {
            other
        })
    }

    /// The tag that the local file would have.
    fn local_tag(&self, size: u64, in_parts: bool) -> Result<String> {
        let file = File::open(self.local).map_err(|error| self.unreadable(&error))?;
        if !in_parts {
            return self.whole_tag(file);
        }
        let part_bytes = part_bytes(size);
        let mut hashes = Vec::new();
        for index in 0..size.div_ceil(part_bytes) {
            let at = index * part_bytes;
            let bytes = self.read(&file, at, part_bytes.min(size - at))?;
            hashes.push(md5_of(&bytes));
        }
        Ok(tag_of_parts(hashes.iter().map(String::as_str)))
    }

    fn whole_tag(&self, mut file: File) -> Result<String> {
        let mut hash = super::hashes::Running::default();
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = file.read(&mut buffer);
            match count.map_err(|error| self.unreadable(&error))? {
                0 => return Ok(hash.finish()),
                count => hash.add(buffer.get(..count).unwrap_or_default()),
            }
        }
    }

    /// Fetches the object and compares every byte.
    fn reads_back_the_same(&self, size: u64) -> Result<bool> {
        let file = File::open(self.local).map_err(|error| self.unreadable(&error))?;
        let mut at = 0;
        while at < size {
            let length = PART_BYTES.min(size - at);
            let there = self.fetch(at..at + length)?;
            if there.as_ref() != self.read(&file, at, length)?.as_slice() {
                return Ok(false);
            }
            at += length;
        }
        Ok(true)
    }

    fn fetch(&self, range: std::ops::Range<u64>) -> Result<Bytes> {
        let TargetObject {
            key, uri, store, ..
        } = self.object.clone();
        let task = Task::start(async move {
            let part = store.get_range(&key, range).await;
            part.map_err(|error| Error::from_store(&uri, &error))
        })?;
        task.wait_unless(&self.control.stop)?
    }

    fn read(&self, file: &File, at: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        match file.read_exact_at(&mut bytes, at) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(Error::ChangedHere {
                    path: self.local.to_path_buf(),
                })
            }
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// Waits so that the rate stays below its limit.
    fn pace(&self, started: timeloom_time::Time<timeloom_time::Steady>, sent: u64) -> Result<()> {
        let Some(rate) = self.options.bytes_per_second else {
            return Ok(());
        };
        let nanos = u128::from(sent) * 1_000_000_000 / u128::from(rate.max(1));
        let due = started.saturating_add(Duration::from_nanos(
            i64::try_from(nanos).unwrap_or(i64::MAX),
        ));
        let options = WaitOptions::new().cancel(&self.control.stop);
        // Cancelled or due: the token says which.
        let _woke = self.control.clock.sleep_until_with(due, &options);
        if self.control.stop.is_cancelled() {
            return Err(Error::Stopped);
        }
        Ok(())
    }

    fn unreadable(&self, error: &std::io::Error) -> Error {
        Error::Local {
            path: self.local.to_path_buf(),
            action: "read",
            reason: error.to_string(),
        }
    }
}

/// Size and date of a file: another one has another size or date.
pub(super) fn identity(path: &Path) -> Result<FileState> {
    let failed = |error: std::io::Error| Error::Local {
        path: path.to_path_buf(),
        action: "read",
        reason: error.to_string(),
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    let modified = metadata.modified().map_err(failed)?;
    let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(FileState {
        size: metadata.len(),
        modified_ns: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX),
        ..FileState::default()
    })
}

/// The parts of an earlier attempt; none if the journal does not fit the file.
fn usable_parts(earlier: &FileState) -> Option<Parts> {
    let parts = earlier.parts.clone()?;
    let count = earlier.size.div_ceil(part_bytes(earlier.size));
    let fits = parts.part_bytes == part_bytes(earlier.size) && parts.sent.len() as u64 <= count;
    fits.then_some(parts)
}

/// As small as the limit of parts allows.
fn part_bytes(size: u64) -> u64 {
    let least = size.div_ceil(MAX_PARTS);
    PART_BYTES.max(least.next_multiple_of(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_does_not_fit_the_file_is_not_used() {
        let state = |part_bytes, sent| FileState {
            size: 20 << 20,
            parts: Some(Parts {
                part_bytes,
                sent: vec![
                    Part {
                        content_id: String::new(),
                        md5: String::new()
                    };
                    sent
                ],
                ..Parts::default()
            }),
            ..FileState::default()
        };
        assert!(usable_parts(&state(8 << 20, 3)).is_some());
        for (part_bytes, sent) in [(0, 1), (1, 1), (u64::MAX, 1), (8 << 20, 4)] {
            let parts = usable_parts(&state(part_bytes, sent));
            assert_eq!(parts, None, "{part_bytes} {sent}");
        }
    }

    #[test]
    fn parts_stay_within_the_limits_of_s3() {
        assert_eq!(part_bytes(0), 8 << 20);
        assert_eq!(part_bytes(60 << 30), 8 << 20);
        let large = 5 << 40;
        assert!(large / part_bytes(large) < 10_000);
    }
}
