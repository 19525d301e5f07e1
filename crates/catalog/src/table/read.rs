//! From rows to entries.

use std::sync::Arc;

use timeloom_bag::{BagSummary, StorageId, TopicStatistics};
use timeloom_columns::PlainValues;

use super::columns::{self, Batch, Row, TOPIC};
use crate::topic_sets::{TOPIC_TEXTS, TopicSets};
use crate::{Catalog, Content, Entry, Error, Result};

/// Collects the rows of a table.
#[derive(Default)]
pub(super) struct Rows {
    catalog: Catalog,
    sets: TopicSets,
    bag: Option<OpenBag>,
}

/// The bag whose rows are being read.
#[derive(Default)]
struct OpenBag {
    name: String,
    identity: String,
    is_settled: bool,
    unreadable: Option<String>,
    summary: BagSummary,
    numbers: Vec<[u32; TOPIC_TEXTS]>,
}

impl Rows {
    pub(super) fn add(&mut self, columns: &[PlainValues]) -> Result<()> {
        let batch = Batch::new(columns);
        let numbers = self.topic_numbers(&batch);
        for at in 0..batch.len() {
            let row = batch.row(at);
            let name = row.texts[0].unwrap_or_default();
            if self.bag.as_ref().is_none_or(|bag| bag.name != name) {
                self.end_bag()?;
                self.bag = Some(open(&row)?);
            }
            let own = |column: usize| {
                let texts = batch.texts.get(TOPIC + column)?;
                let number = usize::try_from(texts.number(at)?).ok()?;
                numbers.get(column)?.get(number).copied()
            };
            let topic: Option<Vec<u32>> = (0..TOPIC_TEXTS).map(own).collect();
            if let (Some(topic), Some(bag)) = (topic, &mut self.bag) {
                bag.add_topic(&row, &topic)?;
            }
        }
        Ok(())
    }

    /// For each column of a topic, the number in all batches of each number in this one.
    fn topic_numbers(&mut self, batch: &Batch<'_>) -> Vec<Vec<u32>> {
        let mut numbers = Vec::with_capacity(TOPIC_TEXTS);
        for texts in batch.texts.iter().skip(TOPIC) {
            let distinct = texts.distinct().iter();
            numbers.push(distinct.map(|text| self.sets.number(text)).collect());
        }
        numbers
    }

    fn end_bag(&mut self) -> Result<()> {
        let Some(mut bag) = self.bag.take() else {
            return Ok(());
        };
        bag.summary.topics = self.sets.get(bag.numbers);
        let entry = Entry {
            identity: bag.identity,
            is_settled: bag.is_settled,
            content: match bag.unreadable {
                Some(reason) => Content::Unreadable(reason),
                None => Content::Bag(Arc::new(bag.summary)),
            },
        };
        match self.catalog.entries.insert(bag.name.clone(), entry) {
            None => Ok(()),
            Some(_) => Err(wrong(&bag.name, "it is there twice")),
        }
    }

    pub(super) fn finish(mut self) -> Result<Catalog> {
        self.end_bag()?;
        Ok(self.catalog)
    }
}

fn wrong(bag: &str, what: &str) -> Error {
    Error::Damaged {
        reason: format!("bag {bag}: {what}"),
    }
}

fn open(row: &Row<'_>) -> Result<OpenBag> {
    let name = row.texts[0].unwrap_or_default().to_owned();
    let number = |index: usize, what: &str| {
        let value = row.numbers.get(index).copied().flatten();
        value.ok_or_else(|| wrong(&name, what))
    };
    let unreadable = row.texts[5].map(str::to_owned);
    let mut summary = BagSummary::default();
    if unreadable.is_none() {
        let storage = row.texts[2].map(StorageId::from_name).transpose();
        let damage = row.texts[4].map(serde_json::from_str).transpose();
        summary = BagSummary {
            storage: storage.map_err(|error| wrong(&name, &error.to_string()))?,
            damage: damage
                .map_err(|error| wrong(&name, &error.to_string()))?
                .unwrap_or_default(),
            ros_distro: row.texts[3].unwrap_or_default().to_owned(),
            start_time_ns: row.times[0],
            end_time_ns: row.times[1],
            files: number(0, "no number of files")?,
            file_size: number(1, "no size")?,
            ..BagSummary::default()
        };
    }
    Ok(OpenBag {
        identity: row.texts[1].unwrap_or_default().to_owned(),
        is_settled: row.flags[0].unwrap_or(false),
        unreadable,
        summary,
        name,
        ..OpenBag::default()
    })
}

impl OpenBag {
    fn add_topic(&mut self, row: &Row<'_>, numbers: &[u32]) -> Result<()> {
        let numbers = numbers.try_into();
        let numbers = numbers.map_err(|_length| wrong(&self.name, "a topic has no name"))?;
        let messages = row.numbers[2].ok_or_else(|| wrong(&self.name, "no number of messages"))?;
        let account: Option<TopicStatistics> = columns::account(row);
        self.numbers.push(numbers);
        self.summary.message_counts.push(messages);
        self.summary.statistics.push(account);
        Ok(())
    }
}
