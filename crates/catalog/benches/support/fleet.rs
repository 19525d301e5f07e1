//! Many bags in a folder of this machine, and a place that counts what is read of them.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_bag::{BagOptions, BagWriter, Message, Source, TopicInfo};
use timeloom_testkit::place::OnOpen;

/// A file of ext4 has at most 65,000 names.
const NAMES_PER_FILE: u64 = 50_000;

/// One bag of so many is replaced.
pub(crate) const REPLACED: u64 = 100;

/// Bags that are names of a few files: as many to list and to open as different ones, without their space.
pub(crate) struct Fleet {
    pub(crate) root: PathBuf,
    originals: PathBuf,
}

impl Fleet {
    pub(crate) fn new(directory: &Path, bags: u64, topics: &[TopicInfo]) -> Self {
        let fleet = Self {
            root: directory.join("robots"),
            originals: directory.join("originals"),
        };
        let original = |bag: u64| match bag % REPLACED {
            // Files of their own: when one name of a file goes, the time of its change is another one for all.
            0 => "replaced".to_owned(),
            _ => (bag / NAMES_PER_FILE).to_string(),
        };
        for bag in 0..bags {
            let original = original(bag);
            if !fleet.originals.join(&original).exists() {
                record(&fleet.originals.join(&original), topics);
            }
            fleet.place(bag, &original);
        }
        fleet
    }

    /// Puts another bag in place of some: all of those whose number is a multiple of [`REPLACED`].
    pub(crate) fn replace(
        &self,
        name: &str,
        bags: impl Iterator<Item = u64>,
        topics: &[TopicInfo],
    ) {
        record(&self.originals.join(name), topics);
        for bag in bags {
            fs::remove_dir_all(self.folder(bag)).expect("a bag");
            self.place(bag, name);
        }
    }

    pub(crate) fn folder(&self, bag: u64) -> PathBuf {
        let robot = format!("robot_{:03}", bag % 1000);
        self.root.join(robot).join(format!("run_{bag:06}"))
    }

    fn place(&self, bag: u64, original: &str) {
        let folder = self.folder(bag);
        fs::create_dir_all(&folder).expect("a folder");
        for file in fs::read_dir(self.originals.join(original)).expect("a bag") {
            let file = file.expect("a file");
            fs::hard_link(file.path(), folder.join(file.file_name())).expect("a name");
        }
    }
}

/// A bag with one message of each topic.
pub(crate) fn record(path: &Path, topics: &[TopicInfo]) {
    fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
    let mut writer = BagWriter::create(path, BagOptions::default()).expect("a new bag");
    for topic in topics {
        let topic = writer.add_topic(topic).expect("a topic");
        let message = Message {
            topic,
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 0,
            data: &[0, 1, 0, 0],
        };
        let written = writer.write(&[message], 0);
        written.into_result().expect("a message");
    }
    let ended = writer.finish().expect("a bag");
    ended.1.into_result().expect("a whole bag");
}

/// Files that were opened, reads of them, and bytes.
#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<[AtomicU64; 3]>);

impl Counts {
    /// The counts since the last call.
    pub(crate) fn take(&self) -> [u64; 3] {
        [0, 1, 2].map(|index: usize| self.0[index].swap(0, Ordering::Relaxed))
    }

    fn add(&self, counts: [u64; 3]) {
        for (counter, count) in self.0.iter().zip(counts) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl OnOpen for Counts {
    fn opened(&self, file: Box<dyn Source>) -> Box<dyn Source> {
        self.add([1, 0, 0]);
        let counts = self.clone();
        Box::new(CountedSource { file, counts })
    }
}

struct CountedSource {
    file: Box<dyn Source>,
    counts: Counts,
}

impl Source for CountedSource {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> timeloom_bag::Result<()> {
        self.counts.add([0, 1, buffer.len() as u64]);
        self.file.read_at(offset, buffer)
    }

    fn announce(&mut self, stretches: &mut dyn Iterator<Item = Range<u64>>) {
        self.file.announce(stretches);
    }
}
