//! Parts of an intact file that libmcap, hence `ros2 bag`, does not read.
//!
//! All of it follows from the summary: `IndexedMessageReader` of libmcap takes chunks, channels and message indexes
//! only from there.

use super::record::{Channel, Schema};
use super::summary::Statistics;

/// Opcode, length, channel and size of the entries of a message index.
const INDEX_HEAD: u64 = 9 + 2 + 4;
/// Time and offset of a message.
const INDEX_ENTRY: u64 = 16;

/// The part of a chunk index that libmcap uses to select chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexedChunk {
    pub(super) offset: u64,
    /// First and last log time.
    pub(super) times: (i64, i64),
    /// Channels with a message index.
    pub(super) channels: u64,
    /// Bytes of the message indexes.
    pub(super) index_length: u64,
}

impl IndexedChunk {
    /// Number of messages in the indexes.
    fn messages(&self) -> u64 {
        let heads = self.channels.saturating_mul(INDEX_HEAD);
        self.index_length.saturating_sub(heads) / INDEX_ENTRY
    }

    fn is_indexed(&self) -> bool {
        self.index_length > 0
    }

    /// Whether it has no messages by its index; libmcap 1.3.0 itself wrote such chunks, with the latest time as start.
    fn is_empty(&self) -> bool {
        let (start, end) = self.times;
        !self.is_indexed() && (end == 0 && matches!(start, 0 | -1))
    }
}

/// Number of messages in the message indexes; `None` without any index: then readers scan the whole file.
pub(super) fn indexed_messages(chunks: &[IndexedChunk]) -> Option<u64> {
    let indexed = chunks.iter().any(IndexedChunk::is_indexed);
    indexed.then(|| chunks.iter().map(IndexedChunk::messages).sum())
}

/// Descriptions of everything that `ros2 bag` does not read; empty if it reads the whole file.
pub(super) fn problems(
    chunks: &[IndexedChunk],
    statistics: Option<&Statistics>,
    schemas: &[Schema],
    channels: &[Channel],
) -> Vec<String> {
    let mut problems = chunk_problems(chunks);
    problems.extend(statistics.and_then(|statistics| time_problem(chunks, statistics)));
    let stated = statistics.map_or(0, |statistics| statistics.message_count);
    let indexed = indexed_messages(chunks);
    if let Some(missing) = indexed.and_then(|indexed| stated.checked_sub(indexed))
        && missing > 0
    {
        problems.push(format!(
            "{missing} of {stated} messages are in no message index: ros2 bag skips them"
        ));
    }
    for (id, count) in statistics.map_or(&[][..], |statistics| &statistics.channels) {
        if *count > 0 && channels.iter().all(|channel| channel.id != *id) {
            problems.push(format!(
                "channel {id} is not in the summary: ros2 bag skips its {count} messages"
            ));
        }
    }
    for channel in channels {
        let described = schemas.iter().any(|schema| schema.id == channel.schema);
        if !described {
            problems.push(format!(
                "topic {} has no schema: ros2 bag refuses the file",
                channel.topic
            ));
        }
    }
    problems
}

fn chunk_problems(chunks: &[IndexedChunk]) -> Vec<String> {
    let mut in_file: Vec<_> = chunks.iter().collect();
    in_file.sort_by_key(|chunk| chunk.offset);
    let empty = in_file.iter().filter(|chunk| chunk.is_empty()).count();
    let first = in_file.first().filter(|chunk| !chunk.is_indexed());
    let others = in_file.iter().any(|chunk| chunk.is_indexed());
    match first {
        Some(chunk) if others => {
            let what = if chunk.is_empty() {
                "holds no message"
            } else {
                "has no message index"
            };
            let text = "ros2 bag reads this file as empty (libmcap up to 1.3.0)";
            vec![format!("chunk 0 {what}: {text}")]
        }
        _ if empty > 0 && others => {
            let text = "other readers may refuse the file";
            vec![format!(
                "{empty} of {} chunks hold no message: {text}",
                in_file.len()
            )]
        }
        _ => Vec::new(),
    }
}

/// Chunks whose times contradict the statistics; libmcap finds and orders messages by the times of their chunks.
fn time_problem(chunks: &[IndexedChunk], statistics: &Statistics) -> Option<String> {
    let (first, last) = (statistics.start, statistics.end);
    // A writer without counts leaves them zero.
    let says_nothing = statistics.message_count == 0 || (first, last) == (0, 0);
    let chunks: Vec<_> = chunks.iter().filter(|chunk| chunk.is_indexed()).collect();
    if says_nothing || chunks.is_empty() {
        return None;
    }
    let text = "ros2 bag may skip messages or play them in another order";
    let is_outside = |(start, end): (i64, i64)| start > end || start < first || end > last;
    let outside = chunks.iter().filter(|chunk| is_outside(chunk.times));
    let outside = outside.count();
    if outside > 0 {
        let all = chunks.len();
        return Some(format!(
            "the times of {outside} of {all} chunks contradict those of the messages: {text}"
        ));
    }
    let messages: u64 = chunks.iter().map(|chunk| chunk.messages()).sum();
    let starts = chunks.iter().map(|chunk| chunk.times.0).min();
    let ends = chunks.iter().map(|chunk| chunk.times.1).max();
    let covers = (starts, ends) == (Some(first), Some(last));
    (messages == statistics.message_count && !covers)
        .then(|| format!("the times of the chunks do not cover those of the messages: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: IndexedChunk = IndexedChunk {
        offset: 500,
        times: (10, 20),
        channels: 2,
        index_length: 2 * INDEX_HEAD + 3 * INDEX_ENTRY,
    };
    const EMPTY: IndexedChunk = IndexedChunk {
        offset: 100,
        times: (0, 0),
        channels: 0,
        index_length: 0,
    };

    fn with_messages(message_count: u64) -> Statistics {
        Statistics {
            message_count,
            attachment_count: 0,
            metadata_count: 0,
            chunk_count: 0,
            start: 0,
            end: 0,
            channels: Vec::new(),
        }
    }

    fn texts(chunks: &[IndexedChunk], messages: u64) -> String {
        problems(chunks, Some(&with_messages(messages)), &[], &[]).join("; ")
    }

    #[test]
    fn files_that_ros2_bag_reads_in_full_have_no_problem() {
        assert_eq!(texts(&[], 0), "");
        assert_eq!(
            texts(&[], 7),
            "",
            "no chunks: read in the order of the file"
        );
        assert_eq!(texts(&[FULL], 3), "");
        let unindexed = IndexedChunk {
            times: (10, 20),
            ..EMPTY
        };
        assert_eq!(
            texts(&[unindexed, unindexed], 9),
            "",
            "no index at all: likewise"
        );
    }

    #[test]
    fn a_first_chunk_without_messages_hides_all_of_them() {
        let text =
            "chunk 0 holds no message: ros2 bag reads this file as empty (libmcap up to 1.3.0)";
        assert_eq!(texts(&[FULL, EMPTY], 3), text, "the first one in the file");
        let of_libmcap = IndexedChunk {
            times: (-1, 0),
            ..EMPTY
        };
        assert_eq!(texts(&[of_libmcap, FULL], 3), text);
        let unindexed = IndexedChunk {
            times: (5, 6),
            ..EMPTY
        };
        let found = texts(&[unindexed, FULL], 5);
        assert!(
            found.starts_with("chunk 0 has no message index: ros2 bag reads"),
            "{found}"
        );
        assert!(found.ends_with("2 of 5 messages are in no message index: ros2 bag skips them"));
    }

    #[test]
    fn a_later_one_and_messages_outside_of_chunks_are_named() {
        let late = IndexedChunk {
            offset: 900,
            ..EMPTY
        };
        assert_eq!(
            texts(&[FULL, late], 3),
            "1 of 2 chunks hold no message: other readers may refuse the file"
        );
        assert_eq!(
            texts(&[FULL], 5),
            "2 of 5 messages are in no message index: ros2 bag skips them"
        );
    }

    #[test]
    fn chunk_times_that_contradict_the_messages_are_named() {
        let timed = |times: [(i64, i64); 2], start, end| {
            let chunks = times.map(|times| IndexedChunk { times, ..FULL });
            let statistics = Statistics {
                start,
                end,
                ..with_messages(6)
            };
            problems(&chunks, Some(&statistics), &[], &[]).join("; ")
        };
        assert_eq!(timed([(10, 20), (15, 30)], 10, 30), "");
        assert_eq!(timed([(0, 0), (15, 30)], 0, 0), "", "not counted");
        for wrong in [(0, 0), (20, 10), (15, 31)] {
            let found = timed([(10, 20), wrong], 10, 30);
            assert!(
                found.starts_with("the times of 1 of 2 chunks contradict"),
                "{found}"
            );
        }
        let found = timed([(10, 20), (15, 29)], 10, 30);
        assert!(
            found.starts_with("the times of the chunks do not cover"),
            "{found}"
        );
    }

    #[test]
    fn a_channel_that_the_summary_lacks_is_named() {
        let mut statistics = with_messages(3);
        statistics.channels = vec![(1, 0), (2, 3)];
        assert_eq!(
            problems(&[FULL], Some(&statistics), &[], &[]),
            ["channel 2 is not in the summary: ros2 bag skips its 3 messages"]
        );
    }

    #[test]
    fn a_topic_without_a_schema_is_named() {
        let channel = Channel {
            id: 1,
            schema: 0,
            topic: "/json".into(),
            encoding: "json".into(),
            metadata: Vec::new(),
        };
        assert_eq!(
            problems(&[], None, &[], &[channel]),
            ["topic /json has no schema: ros2 bag refuses the file"]
        );
    }
}
