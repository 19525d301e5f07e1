//! The columns of the table.

use timeloom_bag::{LeftOut, RecorderLoss, TopicStatistics, UnknownMessages};
use timeloom_columns::{PlainColumn, PlainType, PlainValues, TextValues};

use crate::topic_sets::TOPIC_TEXTS;

/// Columns of texts: of the bag, then of the topic.
const TEXTS: [&str; 13] = [
    "bag",
    "identity",
    "storage",
    "ros_distro",
    "damage",
    "unreadable",
    "topic",
    "type",
    "format",
    "qos",
    "type_hash",
    "definition_encoding",
    "definition",
];

/// Columns of numbers: of the bag, then of the topic, then of its account.
const NUMBERS: [&str; 18] = [
    "files",
    "size",
    "messages",
    "recorded",
    "bytes",
    "lost_in_transport",
    "lost_in_queue",
    "lost_in_compression",
    "lost_in_storage",
    "lost_in_backpressure",
    "left_out_paused",
    "left_out_throttled",
    "left_out_overwritten",
    "left_out_deleted",
    "left_out_type_conflict",
    "unknown_before_first",
    "open_publishers",
    "unknown_unplaced",
];

/// Columns of times: of the bag, then of the topic.
const TIMES: [&str; 4] = ["start_time", "end_time", "first_time", "last_time"];

const FLAGS: [&str; 3] = ["settled", "interrupted", "uncounted"];

/// Where the account begins among the numbers.
pub(super) const ACCOUNT: usize = 3;
/// Numbers of an account.
pub(super) const COUNTS: usize = NUMBERS.len() - ACCOUNT;
/// Where the texts of a topic begin.
pub(super) const TOPIC: usize = TEXTS.len() - TOPIC_TEXTS;

/// All columns.
pub(super) fn all() -> Vec<PlainColumn> {
    let of =
        |names: &'static [&'static str], of: PlainType| names.iter().map(move |name| (*name, of));
    of(&TEXTS, PlainType::Text)
        .chain(of(&NUMBERS, PlainType::Number))
        .chain(of(&TIMES, PlainType::Time))
        .chain(of(&FLAGS, PlainType::Flag))
        .collect()
}

/// A row, as values of each kind of column.
#[derive(Debug, Clone, Default)]
pub(super) struct Row<'a> {
    pub(super) texts: [Option<&'a str>; TEXTS.len()],
    pub(super) numbers: [Option<u64>; NUMBERS.len()],
    pub(super) times: [Option<i64>; TIMES.len()],
    pub(super) flags: [Option<bool>; FLAGS.len()],
    /// An earlier row of the batch with the texts of the topic, where there is one.
    pub(super) same_topic: Option<usize>,
}

/// Rows that are collected for a batch.
pub(super) struct Rows {
    pub(super) columns: Vec<PlainValues>,
}

impl Rows {
    pub(super) fn new() -> Self {
        let columns = all().into_iter().map(|(_, of)| PlainValues::new(of));
        Self {
            columns: columns.collect(),
        }
    }

    pub(super) fn push(&mut self, row: &Row<'_>) {
        let mut texts = row.texts.iter();
        let mut numbers = row.numbers.iter();
        let mut times = row.times.iter();
        let mut flags = row.flags.iter();
        for (index, column) in self.columns.iter_mut().enumerate() {
            let same = row.same_topic.filter(|_| index >= TOPIC);
            match (column, same) {
                (PlainValues::Text(values), Some(same)) => values.repeat(same),
                (PlainValues::Text(values), None) => values.push(texts.next().copied().flatten()),
                (PlainValues::Number(values), _) => values.push(numbers.next().copied().flatten()),
                (PlainValues::Time(values), _) => values.push(times.next().copied().flatten()),
                (PlainValues::Flag(values), _) => values.push(flags.next().copied().flatten()),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, PlainValues::len)
    }
}

/// The columns of a batch by kind.
pub(super) struct Batch<'a> {
    pub(super) texts: Vec<&'a TextValues>,
    numbers: Vec<&'a [Option<u64>]>,
    times: Vec<&'a [Option<i64>]>,
    flags: Vec<&'a [Option<bool>]>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(columns: &'a [PlainValues]) -> Self {
        let mut batch = Self {
            texts: Vec::new(),
            numbers: Vec::new(),
            times: Vec::new(),
            flags: Vec::new(),
        };
        for column in columns {
            match column {
                PlainValues::Text(values) => batch.texts.push(values),
                PlainValues::Number(values) => batch.numbers.push(values),
                PlainValues::Time(values) => batch.times.push(values),
                PlainValues::Flag(values) => batch.flags.push(values),
            }
        }
        batch
    }

    pub(super) fn len(&self) -> usize {
        self.texts.first().map_or(0, |texts| texts.len())
    }

    pub(super) fn row(&self, at: usize) -> Row<'a> {
        let mut row = Row::default();
        for (value, column) in row.texts.iter_mut().zip(&self.texts) {
            *value = column.get(at);
        }
        for (value, column) in row.numbers.iter_mut().zip(&self.numbers) {
            *value = column.get(at).copied().flatten();
        }
        for (value, column) in row.times.iter_mut().zip(&self.times) {
            *value = column.get(at).copied().flatten();
        }
        for (value, column) in row.flags.iter_mut().zip(&self.flags) {
            *value = column.get(at).copied().flatten();
        }
        row
    }
}

/// The numbers of an account, in the order of the columns.
pub(super) fn counts(it: &TopicStatistics) -> [u64; COUNTS] {
    [
        it.messages_recorded,
        it.bytes_written,
        it.messages_lost_in_transport,
        it.lost_in_recorder.queue,
        it.lost_in_recorder.compression,
        it.lost_in_recorder.storage,
        it.lost_in_recorder.backpressure,
        it.left_out.paused,
        it.left_out.throttled,
        it.left_out.overwritten,
        it.left_out.deleted,
        it.left_out.type_conflict,
        it.unknown.before_first,
        it.unknown.open_publishers,
        it.unknown.unplaced,
    ]
}

/// The account of a row; `None` when the bag keeps none.
pub(super) fn account(row: &Row<'_>) -> Option<TopicStatistics> {
    let mut counts = [0; COUNTS];
    for (count, number) in counts.iter_mut().zip(row.numbers.iter().skip(ACCOUNT)) {
        *count = (*number)?;
    }
    let [
        messages_recorded,
        bytes_written,
        messages_lost_in_transport,
        queue,
        compression,
        storage,
        backpressure,
        paused,
        throttled,
        overwritten,
        deleted,
        type_conflict,
        before_first,
        open_publishers,
        unplaced,
    ] = counts;
    Some(TopicStatistics {
        messages_recorded,
        messages_lost_in_transport,
        lost_in_recorder: RecorderLoss {
            queue,
            compression,
            storage,
            backpressure,
        },
        left_out: LeftOut {
            paused,
            throttled,
            overwritten,
            deleted,
            type_conflict,
        },
        unknown: UnknownMessages {
            before_first,
            open_publishers,
            unplaced,
            interrupted: row.flags[1].unwrap_or(false),
            uncounted: row.flags[2].unwrap_or(false),
        },
        bytes_written,
        first_time_ns: row.times[2],
        last_time_ns: row.times[3],
    })
}
