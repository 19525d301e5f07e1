use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_time::{BaseThread, TimeBase};

use crate::error::{Error, Result};
use crate::peer::lock;

/// How many bars a timeline has.
const PARTS: i64 = 240;
/// What is read of a part at most; the rest of it is taken to be like that. So a huge bag costs no more than a large one.
const MOST_MESSAGES: u64 = 4_000;
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// How many messages a bag has over time; counted on a thread of its own, part by part.
#[derive(Default)]
pub(super) struct Density {
    shared: Arc<Shared>,
    thread: Mutex<Option<BaseThread<()>>>,
}

#[derive(Default)]
struct Shared {
    /// The range of the bag and the messages of each part of it.
    counted: Mutex<((i64, i64), Vec<u64>)>,
    stop: AtomicBool,
}

impl Density {
    pub(super) fn count(&self, base: &TimeBase, mut reader: BagReader) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let name = "view-density";
        let spawned = base.spawn(name, move || shared.count(&mut reader));
        *lock(&self.thread) = Some(spawned.map_err(|source| Error::Thread {
            name: name.to_owned(),
            source,
        })?);
        Ok(())
    }

    /// The bars of a part of the bag; none before something is known.
    pub(super) fn parts(&self, (from, to): (i64, i64)) -> Vec<u64> {
        let counted = lock(&self.shared.counted);
        let ((start, end), parts) = &*counted;
        if parts.is_empty() || from == *start && to == *end {
            return parts.clone();
        }
        let bars = parts.iter().enumerate().filter(|(index, _)| {
            let at = part_start((*start, *end), i64::try_from(*index).unwrap_or(PARTS));
            at >= from && at <= to
        });
        bars.map(|(_, count)| *count).collect()
    }
}

impl Drop for Density {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = lock(&self.thread).take() {
            // One that panicked has nothing left to do either.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn count(&self, reader: &mut BagReader) {
        let info = reader.info();
        let (Some(start), Some(end)) = (info.start_time_ns, info.end_time_ns) else {
            return;
        };
        let range = (start, end);
        *lock(&self.counted) = (range, vec![0; usize::try_from(PARTS).unwrap_or(0)]);
        for part in 0..PARTS {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            // A part that cannot be read has no bar; the player tells of the damage.
            let count = count_part(reader, range, part).unwrap_or(0);
            let mut counted = lock(&self.counted);
            let place = usize::try_from(part).ok();
            if let Some(bar) = place.and_then(|place| counted.1.get_mut(place)) {
                *bar = count;
            }
        }
    }
}

/// When a part begins.
fn part_start((start, end): (i64, i64), part: i64) -> i64 {
    let length = i128::from(end) - i128::from(start) + 1;
    let offset = length * i128::from(part) / i128::from(PARTS);
    start.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX))
}

/// How many messages there are in a part; worked out from its beginning if there are many.
fn count_part(reader: &mut BagReader, range: (i64, i64), part: i64) -> timeloom_bag::Result<u64> {
    let (from, to) = (part_start(range, part), part_start(range, part + 1));
    if from >= to {
        return Ok(0);
    }
    reader.start(&Query {
        start_ns: Some(from),
        end_ns: Some(to - 1),
        ..Query::default()
    })?;
    let (mut count, mut bytes) = (0, 0);
    while let Some(message) = reader.next_message()? {
        count += 1;
        bytes += message.data.len() as u64;
        let passed = message.log_time_ns - from;
        if (count >= MOST_MESSAGES || bytes >= MOST_BYTES) && passed > 0 {
            return Ok(scaled(count, to - from, passed));
        }
    }
    Ok(count)
}

/// A count of a beginning as that of the whole.
fn scaled(count: u64, length: i64, passed: i64) -> u64 {
    let whole = i128::from(count) * i128::from(length) / i128::from(passed.max(1));
    u64::try_from(whole).unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side_and_hold_everything() {
        for range in [(0, 239), (5, 5), (-10, 1_000_000), (0, i64::MAX)] {
            assert_eq!(part_start(range, 0), range.0);
            assert_eq!(part_start(range, PARTS), range.1.saturating_add(1));
            for part in 0..PARTS {
                assert!(part_start(range, part) <= part_start(range, part + 1));
            }
        }
    }

    #[test]
    fn a_beginning_stands_for_the_whole() {
        assert_eq!(scaled(100, 1_000, 250), 400);
        assert_eq!(scaled(100, 1_000, 1_000), 100);
    }
}
