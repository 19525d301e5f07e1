//! A file of a store as bytes that can be read at any offset.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::Source;

use crate::block_cache::BlockCache;
use crate::object::Object;
use crate::plan::Plan;
use crate::read_ahead::{ReadAhead, RequestContext};
use crate::{Error, Result};

/// The smallest request: a request for nine bytes costs the same.
const SMALLEST: u64 = 16 << 10;

/// An open file of a store.
pub(crate) struct ObjectSource {
    path: PathBuf,
    object: Arc<Object>,
    file: u64,
    cache: Arc<BlockCache>,
    ahead: ReadAhead,
    /// The failure that ended the last query.
    failed: Option<Error>,
}

impl ObjectSource {
    /// `file` is the number of the file in the cache.
    pub(crate) fn new(path: &Path, object: Arc<Object>, file: u64, cache: Arc<BlockCache>) -> Self {
        Self {
            path: path.to_path_buf(),
            object,
            file,
            cache,
            ahead: ReadAhead::default(),
            failed: None,
        }
    }

    fn fill(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let (mut at, mut rest) = (offset, buffer);
        self.ahead.begin();
        while !rest.is_empty() {
            let bytes = self.bytes(at, rest.len() as u64)?;
            let count = bytes.len().min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(bytes.get(..count).unwrap_or_default());
            at += count as u64;
            rest = later;
        }
        Ok(())
    }

    /// Bytes from an offset on, at least one.
    fn bytes(&mut self, at: u64, wanted: u64) -> Result<Bytes> {
        let around = RequestContext {
            object: &self.object,
            cache: &self.cache,
            file: self.file,
        };
        if let Some(bytes) = self.ahead.read(at, wanted, &around)? {
            return Ok(bytes);
        }
        let end = at + wanted.max(SMALLEST).min(self.object.size() - at);
        let bytes = self.object.fetch(at..end)?.wait()??;
        self.cache.put(self.file, at, &bytes);
        Ok(bytes)
    }
}

impl Source for ObjectSource {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        self.object.size()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> timeloom_bag::Result<()> {
        let needed = buffer.len() as u64;
        let available = self.size().saturating_sub(offset);
        if needed > available {
            return Err(timeloom_bag::Error::Truncated {
                path: self.path.clone(),
                offset,
                needed,
                available,
            });
        }
        if let Some(error) = &self.failed {
            return Err(error.clone().into());
        }
        self.fill(offset, buffer).map_err(|error| {
            self.failed = Some(error.clone());
            error.into()
        })
    }

    fn announce(&mut self, stretches: &mut dyn Iterator<Item = Range<u64>>) {
        self.ahead.set(Plan::new(stretches, self.object.size()));
        // Another query may succeed after a network failure, but not with a changed file.
        if !matches!(self.failed, Some(Error::Changed { .. })) {
            self.failed = None;
        }
    }
}
