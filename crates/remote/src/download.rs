//! Files that are fetched completely.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectStore};
use tempfile::NamedTempFile;
use timeloom_bag::Source;
use timeloom_bag::place::LocalCopy;

use crate::object_source::ObjectSource;
use crate::runtime::Task;
use crate::{Error, Fetch, FetchReason, RemoteOptions, Result};

/// Bytes that are written at a time.
const STEP: u64 = 1 << 20;
/// Bytes that stay free on the disk, for other programs.
const RESERVE: u64 = 64 << 20;
/// Prefix of the names of copies.
const PREFIX: &str = "timeloom-copy-";
/// Number of attempts after another process removed a copy.
const TRIES: u32 = 3;

/// A copy that is being written.
pub(crate) struct Download<'a> {
    uri: &'a str,
    options: &'a RemoteOptions,
    directory: PathBuf,
    reason: FetchReason,
}

impl<'a> Download<'a> {
    pub(crate) fn new(uri: &'a str, options: &'a RemoteOptions, reason: FetchReason) -> Self {
        let directory = options.directory.clone().unwrap_or_else(std::env::temp_dir);
        Self {
            uri,
            options,
            directory,
            reason,
        }
    }

    /// Fetches a file in parts, several at a time.
    pub(crate) fn in_parts(&self, mut source: ObjectSource) -> timeloom_bag::Result<LocalCopy> {
        let size = source.size();
        let mut file = self.begin(size)?;
        source.announce(&mut std::iter::once(0..size));
        let mut buffer = vec![0; usize::try_from(STEP).unwrap_or(usize::MAX)];
        let mut done = 0;
        while done < size {
            let count = usize::try_from(STEP.min(size - done)).unwrap_or(usize::MAX);
            let bytes = buffer.get_mut(..count).unwrap_or_default();
            source.read_at(done, bytes)?;
            file.write_all(bytes)
                .map_err(|error| self.unwritten(&error))?;
            done += count as u64;
            self.report(size, done);
        }
        Ok(keep(file))
    }

    /// Fetches a file with one request, from a server without ranges.
    pub(crate) fn in_one(&self, store: Arc<dyn ObjectStore>, key: Key) -> Result<LocalCopy> {
        let uri = self.uri.to_owned();
        let answer = Task::start(async move {
            let answer = store.get_opts(&key, GetOptions::default()).await;
            answer.map_err(|error| Error::from_store(&uri, &error))
        })?
        .wait()??;
        let size = answer.meta.size;
        let file = self.begin(size)?;
        let copy = file.reopen().map_err(|error| self.unwritten(&error))?;
        let (sender, progress) = channel();
        let (uri, directory) = (self.uri.to_owned(), self.directory.clone());
        let task = Task::start(async move {
            let stream = answer.into_stream();
            write_stream(stream, copy, sender, &uri, &directory).await
        })?;
        // Ends when the task drops its end of the channel.
        for done in progress {
            self.report(size, done);
        }
        let got = task.wait()??;
        if got != size {
            return Err(Error::Short {
                uri: self.uri.to_owned(),
                offset: 0,
                wanted: size,
                got,
            });
        }
        Ok(keep(file))
    }

    fn begin(&self, size: u64) -> Result<NamedTempFile> {
        let free = free_space(&self.directory);
        if let Some(free) = free.filter(|free| size.saturating_add(RESERVE) > *free) {
            return Err(Error::NoSpace {
                uri: self.uri.to_owned(),
                size,
                directory: self.directory.display().to_string(),
                free,
            });
        }
        self.report(size, 0);
        remove_leftovers(&self.directory);
        for _ in 0..TRIES {
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .tempfile_in(&self.directory);
            let file = made.map_err(|error| self.unwritten(&error))?;
            // Held as long as the copy is needed. Another process may have removed the file before it was locked.
            let _held = file.as_file().try_lock();
            if file.path().exists() {
                return Ok(file);
            }
        }
        Err(self.unwritten(&std::io::Error::from(std::io::ErrorKind::NotFound)))
    }

    fn report(&self, size: u64, done: u64) {
        if let Some(listener) = &self.options.on_fetch {
            listener(&Fetch {
                uri: self.uri,
                reason: self.reason,
                size,
                done,
                directory: &self.directory,
            });
        }
    }

    fn unwritten(&self, error: &std::io::Error) -> Error {
        unwritten(self.uri, &self.directory, error)
    }
}

fn unwritten(uri: &str, directory: &Path, error: &std::io::Error) -> Error {
    Error::Copy {
        uri: uri.to_owned(),
        directory: directory.display().to_string(),
        reason: error.to_string(),
    }
}

/// Writes the received bytes; returns their number.
async fn write_stream(
    mut stream: futures_core::stream::BoxStream<'static, object_store::Result<bytes::Bytes>>,
    mut file: File,
    progress: Sender<u64>,
    uri: &str,
    directory: &Path,
) -> Result<u64> {
    let mut done = 0;
    while let Some(piece) = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
    {
        let piece = piece.map_err(|error| Error::from_store(uri, &error))?;
        file.write_all(&piece)
            .map_err(|error| unwritten(uri, directory, &error))?;
        done += piece.len() as u64;
        // The receiver may be gone; the next request notices.
        let _gone = progress.send(done);
    }
    Ok(done)
}

/// Bytes that are free in a directory, if that is known.
fn free_space(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn keep(file: NamedTempFile) -> LocalCopy {
    let path = file.path().to_path_buf();
    LocalCopy::fetched(&path, Arc::new(file))
}

/// Removes copies of processes that were killed: their locks are free.
fn remove_leftovers(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
        {
            continue;
        }
        let path = entry.path();
        let is_left = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_left {
            // Another process may have removed it already.
            let _removed = std::fs::remove_file(&path);
        }
    }
}
