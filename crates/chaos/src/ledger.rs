use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Failure;
use crate::account::Seen;

/// The messages that peers published, as they logged them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) writers: BTreeMap<String, Writer>,
}

/// The messages of one writer.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) topic: String,
    /// Each message that was to be written.
    pub(crate) messages: Vec<Line>,
    /// Number of messages that were certainly written. There may be one more if the peer was killed.
    pub(crate) done: u64,
}

/// When a recorder started and was killed, in nanoseconds of system time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) begun_ns: u64,
    pub(crate) died_ns: u64,
}

/// A message that was about to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    length: u32,
    crc: u32,
    /// When, in nanoseconds of system time.
    pub(crate) time_ns: u64,
}

const RECORD: usize = 24;

impl Ledger {
    pub(crate) fn read(directory: &Path) -> Result<Self, Failure> {
        let mut ledger = Self::default();
        for entry in fs::read_dir(directory.join("ledger"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "ledger") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                ledger.writers.insert(name.into_owned(), writer(&path)?);
            }
        }
        Ok(ledger)
    }

    /// Messages published while a recorder ran: the first number and the one after the last, by writer. Recorded
    /// numbers belong to it whatever the clocks say.
    pub(crate) fn within(&self, life: Life, seen: &Seen) -> BTreeMap<String, (u64, u64)> {
        let of = |(name, writer): (&String, &Writer)| {
            let numbers = seen.get(name);
            let (first, last) = (
                numbers.and_then(BTreeSet::first),
                numbers.and_then(BTreeSet::last),
            );
            let until = |time_ns: u64| {
                let place = writer
                    .messages
                    .partition_point(|line| line.time_ns < time_ns);
                (place as u64).min(writer.done)
            };
            let begin = until(life.begun_ns);
            let begin = first.map_or(begin, |first| begin.min(*first));
            let end = last.map_or(0, |last| last + 1).max(until(life.died_ns));
            (name.clone(), (begin, end.max(begin)))
        };
        self.writers.iter().map(of).collect()
    }

    /// Whether a text was published by that writer with that number, byte for byte.
    pub(crate) fn knows(&self, writer: &str, number: u64, text: &[u8]) -> bool {
        let place = usize::try_from(number).ok();
        let written = self.writers.get(writer).zip(place);
        let written = written.and_then(|(writer, place)| writer.messages.get(place));
        written.is_some_and(|line| {
            text.len() as u64 == u64::from(line.length) && crc32fast::hash(text) == line.crc
        })
    }
}

fn writer(path: &Path) -> Result<Writer, Failure> {
    let about: Value = serde_json::from_slice(&fs::read(path.with_extension("json"))?)?;
    let mut messages = Vec::new();
    for record in fs::read(path)?.chunks_exact(RECORD) {
        let (number, rest) = record.split_at(8);
        let (length, rest) = rest.split_at(4);
        let (crc, time) = rest.split_at(4);
        if u64_of(number) != messages.len() as u64 {
            return Err(format!("{} is out of order", path.display()).into());
        }
        messages.push(Line {
            length: u32_of(length),
            crc: u32_of(crc),
            time_ns: u64_of(time),
        });
    }
    let done = fs::read(path.with_extension("done"))?;
    Ok(Writer {
        topic: about["topic"].as_str().unwrap_or_default().to_owned(),
        messages,
        done: if done.len() == 8 { u64_of(&done) } else { 0 },
    })
}

fn u64_of(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn u32_of(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
