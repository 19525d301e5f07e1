//! A bounded cache of fetched bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use timeloom_time::sync::{Mutex, lock};

/// Byte ranges of all files of a place; the least recently used one is evicted first.
pub(crate) struct BlockCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By file and first byte.
    blocks: BTreeMap<(u64, u64), Block>,
    bytes: usize,
    clock: u64,
}

struct Block {
    bytes: Bytes,
    used: u64,
}

impl BlockCache {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// The cached bytes from an offset on; never empty.
    pub(crate) fn get(&self, file: u64, at: u64) -> Option<Bytes> {
        let mut state = lock(&self.state);
        state.clock += 1;
        let now = state.clock;
        let (key, block) = state.blocks.range_mut(..=(file, at)).next_back()?;
        if key.0 != file {
            return None;
        }
        let skip = usize::try_from(at - key.1).ok()?;
        if skip >= block.bytes.len() {
            return None;
        }
        block.used = now;
        Some(block.bytes.slice(skip..))
    }

    pub(crate) fn put(&self, file: u64, at: u64, bytes: &Bytes) {
        let mut state = lock(&self.state);
        if bytes.is_empty() || bytes.len() > self.limit {
            return;
        }
        state.clock += 1;
        let block = Block {
            bytes: bytes.clone(),
            used: state.clock,
        };
        state.bytes += bytes.len();
        if let Some(old) = state.blocks.insert((file, at), block) {
            state.bytes -= old.bytes.len();
        }
        while state.bytes > self.limit {
            let oldest = state.blocks.iter().min_by_key(|(_, block)| block.used);
            let Some(key) = oldest.map(|(key, _)| *key) else {
                return;
            };
            if let Some(old) = state.blocks.remove(&key) {
                state.bytes -= old.bytes.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_the_least_recently_used_block_is_evicted() {
        let cache = BlockCache::new(100);
        let block = Bytes::from(vec![7; 40]);
        cache.put(1, 0, &block);
        cache.put(1, 40, &block);
        assert_eq!(cache.get(1, 10).unwrap().len(), 30);
        cache.put(2, 0, &block);
        assert!(cache.get(1, 0).is_some() && cache.get(2, 0).is_some());
        assert!(cache.get(1, 40).is_none());
        cache.put(3, 0, &Bytes::from(vec![7; 101]));
        assert!(cache.get(3, 0).is_none());
    }

    #[test]
    fn files_are_kept_apart() {
        let cache = BlockCache::new(100);
        cache.put(1, 0, &Bytes::from_static(b"abc"));
        assert_eq!(cache.get(1, 2).unwrap(), "c");
        assert!(cache.get(1, 3).is_none());
        assert!(cache.get(2, 0).is_none());
    }
}
