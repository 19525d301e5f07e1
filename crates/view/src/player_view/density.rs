use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_time::TimeBase;

use super::worker::Worker;
use crate::error::Result;
use crate::peer::lock;

/// Number of bars of a timeline.
const PARTS: i64 = 240;
/// Limit for messages read per bar; the rest is extrapolated, so that the cost is bounded for huge bags.
const MOST_MESSAGES: u64 = 4_000;
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// The number of messages over time, counted in the background.
#[derive(Default)]
pub(super) struct Density {
    counted: Arc<Mutex<Counted>>,
    worker: Worker,
}

/// The time range of the bag and the message count of each bar.
type Counted = ((i64, i64), Vec<u64>);

impl Density {
    pub(super) fn count(&self, base: &TimeBase, mut reader: BagReader) -> Result<()> {
        let counted = Arc::clone(&self.counted);
        self.worker.start(base, "view-density", move |stop| {
            count(&counted, &mut reader, stop);
        })
    }

    /// The bars of a time range; empty until counting starts.
    pub(super) fn parts(&self, (from, to): (i64, i64)) -> Vec<u64> {
        let counted = lock(&self.counted);
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

fn count(counted: &Mutex<Counted>, reader: &mut BagReader, stop: &AtomicBool) {
    let info = reader.info();
    let (Some(start), Some(end)) = (info.start_time_ns, info.end_time_ns) else {
        return;
    };
    let range = (start, end);
    *lock(counted) = (range, vec![0; usize::try_from(PARTS).unwrap_or(0)]);
    for part in 0..PARTS {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // A range that cannot be read has no bar; the player reports the damage.
        let count = count_part(reader, range, part).unwrap_or(0);
        let mut counted = lock(counted);
        let place = usize::try_from(part).ok();
        if let Some(bar) = place.and_then(|place| counted.1.get_mut(place)) {
            *bar = count;
        }
    }
}

/// The start time of a bar.
fn part_start((start, end): (i64, i64), part: i64) -> i64 {
    let length = i128::from(end) - i128::from(start) + 1;
    let offset = length * i128::from(part) / i128::from(PARTS);
    start.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX))
}

/// The message count of a bar, extrapolated from its beginning if there are many.
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

/// Extrapolates a count.
fn scaled(count: u64, length: i64, passed: i64) -> u64 {
    let whole = i128::from(count) * i128::from(length) / i128::from(passed.max(1));
    u64::try_from(whole).unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_cover_the_range_without_gaps() {
        for range in [(0, 239), (5, 5), (-10, 1_000_000), (0, i64::MAX)] {
            assert_eq!(part_start(range, 0), range.0);
            assert_eq!(part_start(range, PARTS), range.1.saturating_add(1));
            for part in 0..PARTS {
                assert!(part_start(range, part) <= part_start(range, part + 1));
            }
        }
    }

    #[test]
    fn counts_are_extrapolated() {
        assert_eq!(scaled(100, 1_000, 250), 400);
        assert_eq!(scaled(100, 1_000, 1_000), 100);
    }
}
