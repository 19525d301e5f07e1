//! From entries to rows.

use std::collections::HashMap;

use timeloom_bag::{BagSummary, TopicInfo};
use timeloom_columns::PlainWriter;

use super::columns::{self, ACCOUNT, Row, Rows, TOPIC};
use super::unencoded;
use crate::{Catalog, Content, Entry, Error, Result, topic_sets};

/// Rows of a row group.
const GROUP_ROWS: usize = 64 << 10;

/// Writes all rows.
pub(super) fn rows(catalog: &Catalog) -> Result<PlainWriter> {
    let mut output = Output {
        writer: PlainWriter::new(&columns::all()).map_err(|error| unencoded(&error))?,
        rows: Rows::new(),
        topic_rows: HashMap::new(),
    };
    for (name, entry) in &catalog.entries {
        output.entry(name, entry)?;
    }
    output.flush()?;
    Ok(output.writer)
}

struct Output {
    writer: PlainWriter,
    rows: Rows,
    /// The last row of the batch with a topic, by where the topic is in memory: bags of a fleet share topics, whose long
    /// definitions are compared once in a batch. The catalogue keeps them there while it is written.
    topic_rows: HashMap<*const TopicInfo, usize>,
}

impl Output {
    fn entry(&mut self, name: &str, entry: &Entry) -> Result<()> {
        let mut row = Row::default();
        row.texts[0] = Some(name);
        row.texts[1] = Some(&entry.identity);
        row.flags[0] = Some(entry.is_settled);
        match &entry.content {
            Content::Unreadable(reason) => {
                row.texts[5] = Some(reason);
                self.push(&row)
            }
            Content::Bag(summary) => self.bag(row, summary),
        }
    }

    /// One row for each topic; one without a topic for a bag that has none.
    fn bag<'a>(&mut self, mut row: Row<'a>, summary: &'a BagSummary) -> Result<()> {
        let damage = (!summary.damage.is_empty())
            .then(|| serde_json::to_string(&summary.damage))
            .transpose();
        let damage = damage.map_err(|error| Error::Encode {
            reason: error.to_string(),
        })?;
        row.texts[2] = summary.storage.map(timeloom_bag::StorageId::name);
        row.texts[3] = Some(&summary.ros_distro);
        row.numbers[0] = Some(summary.files);
        row.numbers[1] = Some(summary.file_size);
        row.times[0] = summary.start_time_ns;
        row.times[1] = summary.end_time_ns;
        let mut row = Row {
            texts: row.texts,
            ..row
        };
        row.texts[4] = damage.as_deref();
        if summary.topics.is_empty() {
            return self.push(&row);
        }
        for (index, topic) in summary.topics.iter().enumerate() {
            let place = std::ptr::from_ref(topic);
            row.same_topic = self.topic_rows.insert(place, self.rows.len());
            let texts = row.texts.iter_mut().skip(TOPIC);
            for (value, text) in texts.zip(topic_sets::texts(topic)) {
                *value = Some(text);
            }
            row.numbers[2] = summary.message_counts.get(index).copied();
            let account = summary.statistics.get(index).and_then(Option::as_ref);
            let counts = account.map(columns::counts);
            for (place, value) in row.numbers.iter_mut().skip(ACCOUNT).enumerate() {
                *value = counts
                    .as_ref()
                    .and_then(|counts| counts.get(place).copied());
            }
            row.times[2] = account.and_then(|it| it.first_time_ns);
            row.times[3] = account.and_then(|it| it.last_time_ns);
            row.flags[1] = account.map(|it| it.unknown.interrupted);
            row.flags[2] = account.map(|it| it.unknown.uncounted);
            self.push(&row)?;
        }
        Ok(())
    }

    fn push(&mut self, row: &Row<'_>) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let rows = std::mem::replace(&mut self.rows, Rows::new());
        self.topic_rows.clear();
        if rows.len() == 0 {
            return Ok(());
        }
        self.writer
            .write(&rows.columns)
            .map_err(|error| unencoded(&error))
    }
}
