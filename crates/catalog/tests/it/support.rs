//! Folders of bags, and a place that counts what is opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use timeloom_bag::{
    BagOptions, BagReader, BagSummary, BagWriter, Message, Place, Source, TopicInfo,
};
use timeloom_catalog::{IndexReport, Indexer, LocalStore, Scope};
use timeloom_testkit::place::{HookedPlace, OnOpen};
use timeloom_time::{Clock, Duration, VirtualTime};

/// The names of files that were opened.
#[derive(Default)]
pub(crate) struct Opened(Mutex<Vec<PathBuf>>);

/// The files of this machine, and the names of those that were opened.
pub(crate) type CountingPlace = HookedPlace<Opened>;

impl OnOpen for Opened {
    fn opened(&self, file: Box<dyn Source>) -> Box<dyn Source> {
        self.0.lock().unwrap().push(file.path().to_path_buf());
        file
    }
}

impl Opened {
    /// Bags that were opened since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        let opened = std::mem::take(&mut *self.0.lock().unwrap());
        let folder = |path: &PathBuf| {
            let folder = path.parent().unwrap().file_name().unwrap();
            folder.to_string_lossy().into_owned()
        };
        let storage = |path: &&PathBuf| path.extension().is_some_and(|it| it == "mcap");
        let mut names: Vec<String> = opened.iter().filter(storage).map(folder).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Writes a bag of one topic with some messages.
pub(crate) fn record(path: &Path, topic: &str, messages: i64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new(topic, "std_msgs/msg/String");
    let topic = writer.add_topic(&topic).unwrap();
    for time in 0..messages {
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &[0, 1, 0, 0, 1, 0, 0, 0, 0],
        };
        writer.write(&[message], 0).into_result().unwrap();
    }
    writer.finish().unwrap().1.into_result().unwrap();
}

/// The file with the messages of a bag.
pub(crate) fn storage_file(bag: &Path) -> PathBuf {
    let files = fs::read_dir(bag)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files = files.filter(|path| path.extension().is_some_and(|it| it == "mcap"));
    files.next().unwrap()
}

/// A clock to which all files are old.
pub(crate) fn later() -> Clock<timeloom_time::System> {
    let world = VirtualTime::manual();
    world.step_system_clock(Duration::from_secs(40 * 365 * 86_400));
    Clock::on(&world.base())
}

/// Indexes a folder of this machine.
pub(crate) fn index(place: &Arc<CountingPlace>, root: &Path) -> IndexReport {
    index_with(place, root, later())
}

pub(crate) fn index_with(
    place: &Arc<CountingPlace>,
    root: &Path,
    clock: Clock<timeloom_time::System>,
) -> IndexReport {
    let indexer = Indexer {
        place: Arc::clone(place) as Arc<dyn Place>,
        root,
        store: &LocalStore::new(root),
        clock,
        threads: 3,
    };
    indexer.update(&Scope::All, &mut |_, _| {}).unwrap()
}

/// What opening a bag tells now.
pub(crate) fn opened(path: &Path) -> Option<BagSummary> {
    Some(BagSummary::of(&BagReader::open(path).ok()?))
}
