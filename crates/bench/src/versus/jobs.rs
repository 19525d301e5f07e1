//! The jobs, their sides and sizes.

use std::path::{Path, PathBuf};

use super::live;
use super::peers::{Measured, Peers, Side};

/// The number of messages of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes(f64);

/// One job and its sides; the first side is ours.
pub(super) struct Job {
    pub(super) name: &'static str,
    /// The unit of a value.
    pub(super) unit: &'static str,
    /// Factor from seconds to the unit.
    pub(super) factor: f64,
    /// The job of each side; the same for all sides except for the storage.
    word: &'static str,
    /// The bag to read.
    input: Option<&'static str>,
    count: u64,
    size: usize,
    pub(super) sides: &'static [Side],
}

const SMALL: u64 = 100_000;
const SMALL_BYTES: usize = 324;
const LARGE: u64 = 200;
const LARGE_BYTES: usize = 1_000_000;
const CPU_PER_MESSAGE: (&str, f64) = ("µs CPU per message", 1e6);

const WRITERS: &[Side] = &[
    Side::Ours,
    Side::Raw,
    Side::McapCrate,
    Side::McapPython,
    Side::Rosbags,
];
const SQLITE_WRITERS: &[Side] = &[Side::Ours, Side::Raw, Side::Rosbags];
const READERS: &[Side] = &[Side::Ours, Side::McapCrate, Side::McapPython, Side::Rosbags];
const WITH_ROSBAGS: &[Side] = &[Side::Ours, Side::Rosbags];

pub(super) fn all() -> Vec<Job> {
    let mut all = on_bags();
    all.extend(live_and_timed());
    all
}

fn on_bags() -> Vec<Job> {
    let (small, large) = ((SMALL, SMALL_BYTES), (LARGE, LARGE_BYTES));
    vec![
        job("write.mcap.small", "write-mcap", None, small, WRITERS),
        job("write.mcap.large", "write-mcap", None, large, WRITERS),
        job(
            "write.sqlite3.small",
            "write-sqlite3",
            None,
            small,
            SQLITE_WRITERS,
        ),
        job(
            "write.sqlite3.large",
            "write-sqlite3",
            None,
            large,
            SQLITE_WRITERS,
        ),
        job(
            "read.mcap.small",
            "read",
            Some("small.mcap"),
            small,
            READERS,
        ),
        job(
            "read.mcap.large",
            "read",
            Some("large.mcap"),
            large,
            READERS,
        ),
        job(
            "read.sqlite3.small",
            "read",
            Some("small.sqlite3"),
            small,
            WITH_ROSBAGS,
        ),
        Job {
            unit: "ms CPU",
            factor: 1e3,
            ..job("info", "info", Some("small.mcap"), (20, 0), READERS)
        },
        Job {
            unit: "ms CPU",
            factor: 1e3,
            ..job("slice", "slice", Some("small.mcap"), small, READERS)
        },
        job(
            "decode",
            "decode",
            Some("small.mcap"),
            small,
            &[Side::Ours, Side::McapPython, Side::Rosbags],
        ),
        job(
            "convert",
            "convert",
            Some("small.mcap"),
            small,
            WITH_ROSBAGS,
        ),
    ]
}

fn live_and_timed() -> [Job; 2] {
    [
        job(
            "record",
            "record",
            None,
            (20, 1000),
            &[Side::Ours, Side::BareSubscriber],
        ),
        Job {
            unit: "µs late, median",
            factor: 1e6,
            ..job(
                "pace",
                "pace",
                None,
                (2000, 0),
                &[Side::Ours, Side::Tokio, Side::PythonSleep],
            )
        },
    ]
}

fn job(
    name: &'static str,
    word: &'static str,
    input: Option<&'static str>,
    (count, size): (u64, usize),
    sides: &'static [Side],
) -> Job {
    Job {
        name,
        unit: CPU_PER_MESSAGE.0,
        factor: CPU_PER_MESSAGE.1,
        word,
        input,
        count,
        size,
        sides,
    }
}

impl Sizes {
    pub(super) fn new(scale: f64) -> Self {
        Self(scale)
    }

    /// At least so many that a slice is not empty.
    fn messages(self, count: u64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a scale is above 0"
        )]
        let count = (count as f64 * self.0) as u64;
        count.max(20)
    }
}

impl Job {
    fn count(&self, sizes: Sizes) -> u64 {
        match self.word {
            "info" | "record" => self.count,
            _ => sizes.messages(self.count),
        }
    }

    /// Creates the bag to read, once for all jobs.
    pub(super) fn prepare(&self, peers: &Peers, sizes: Sizes, work: &Path) -> anyhow::Result<()> {
        let Some(input) = self.input else {
            return Ok(());
        };
        let path = work.join(input);
        if !path.exists() {
            let (count, size) = match input {
                "large.mcap" => (LARGE, LARGE_BYTES),
                _ => (SMALL, 0),
            };
            peers.run(
                Side::Ours,
                "prepare",
                Path::new("-"),
                &path,
                sizes.messages(count),
                size,
            )?;
        }
        Ok(())
    }

    /// Runs one side once.
    pub(super) fn run(
        &self,
        peers: &Peers,
        side: Side,
        sizes: Sizes,
        work: &Path,
    ) -> anyhow::Result<Measured> {
        if self.word == "record" {
            return live::run(peers, side, self.count, self.size, work);
        }
        let input = self
            .input
            .map_or_else(|| PathBuf::from("-"), |name| work.join(name));
        let output = work.join("output");
        let word = if side == Side::Raw {
            "write-raw"
        } else {
            self.word
        };
        let measured = peers.run(side, word, &input, &output, self.count(sizes), self.size);
        remove(&output)?;
        measured
    }
}

/// Removes a file or a directory, if it exists.
pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else if path.exists() {
        std::fs::remove_file(path)
    } else {
        Ok(())
    }
}
