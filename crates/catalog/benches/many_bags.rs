//! A catalogue of 100,000 bags with 20 topics each: what it takes per bag, against opening a bag of this machine.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::place::ListedFile;
use timeloom_bag::{
    BagOptions, BagReader, BagSummary, BagWriter, Message, MessageDefinition, StorageId, TopicInfo,
    TopicStatistics,
};
use timeloom_catalog::{Catalog, Content, Entry, discover};
use timeloom_testkit::bench::{Bench, Samples, Stopwatch};

const ID: &str = "catalog.prune";
const BAGS: u64 = 100_000;
const TOPICS: u64 = 20;
const ROUNDS: usize = 3;

fn main() {
    let mut bench = Bench::from_env();
    if !bench.wants(ID) {
        return;
    }
    let files = files();
    let topics: Arc<[TopicInfo]> = (0..TOPICS).map(topic).collect();
    let catalog = Catalog {
        entries: discover(&files)
            .into_iter()
            .map(|bag| entry(&bag.name, bag.identity, &topics))
            .collect(),
    };
    let bytes = catalog.to_bytes().expect("a table");
    drop(catalog);
    let directory = tempfile::TempDir::new().expect("a place for the bag");
    let bag = directory.path().join("bag");
    record(&bag);
    let (mut known, mut opened) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let watch = Stopwatch::start();
        let catalog = Catalog::from_bytes(bytes.clone()).expect("a catalogue");
        let found = discover(&files);
        let certain = found.iter().filter(|bag| catalog.certain(bag).is_some());
        assert_eq!(certain.count() as u64, BAGS);
        known.push(watch.wall() / BAGS as f64);
        let watch = Stopwatch::start();
        for _ in 0..200 {
            let reader = BagReader::open(&bag).expect("a bag");
            assert_eq!(BagSummary::of(&reader).topics.len() as u64, TOPICS);
        }
        opened.push(watch.wall() / 200.0);
    }
    let known: Samples = known.into_iter().collect();
    let opened: Samples = opened.into_iter().collect();
    bench.ratio_at_most(ID, known.median() / opened.median(), 0.1);
    let text = format_args!(
        "{BAGS} bags of {TOPICS} topics: {:.1} MB, {:.0} B per bag; {:.2} s to read and compare, {:.0} µs to open one bag",
        bytes.len() as f64 / 1e6,
        bytes.len() as f64 / BAGS as f64,
        known.median() * BAGS as f64 / 1e9,
        opened.median() / 1e3,
    );
    bench.note(ID, text);
}

/// Two files for each bag, as a bucket lists them.
fn files() -> Vec<ListedFile> {
    let mut files = Vec::new();
    for bag in 0..BAGS {
        let name = format!("robot_{:03}/run_{bag:06}", bag % 1000);
        for (file, size) in [
            ("metadata.yaml".to_owned(), 9_000),
            (format!("run_{bag:06}_0.mcap"), 1 << 30),
        ] {
            files.push(ListedFile {
                name: format!("{name}/{file}"),
                size: size + bag,
                version: format!(
                    "\"{:032x}\"",
                    u128::from(bag).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C)
                ),
                changed_ns: None,
            });
        }
    }
    files
}

fn topic(number: u64) -> TopicInfo {
    TopicInfo {
        offered_qos_profiles: "- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n"
            .into(),
        type_description_hash: format!("RIHS01_{number:064x}"),
        definition: MessageDefinition {
            encoding: "ros2msg".into(),
            text: format!(
                "# type {number}\n{}",
                "float64 a_field_of_the_message\n".repeat(60)
            ),
        },
        ..TopicInfo::new(
            format!("/sensor_{number}/data"),
            format!("my_msgs/msg/Type{number}"),
        )
    }
}

/// Counts and times that differ, as they do.
fn entry(name: &str, identity: String, topics: &Arc<[TopicInfo]>) -> (String, Entry) {
    let seed = identity.bytes().fold(7_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let number = |index: u64| seed.wrapping_mul(index + 3) >> 40;
    let start = 1_794_733_000_000_000_000 + i64::try_from(seed >> 12).unwrap_or(0);
    let end = start + 60_000_000_000;
    let account = |index: u64| TopicStatistics {
        messages_recorded: number(index),
        messages_lost_in_transport: u64::from(number(index) % 50 == 0),
        bytes_written: number(index) * 320,
        first_time_ns: Some(start + i64::try_from(number(index)).unwrap_or(0)),
        last_time_ns: Some(end - i64::try_from(number(index)).unwrap_or(0)),
        ..TopicStatistics::default()
    };
    let summary = BagSummary {
        topics: Arc::clone(topics),
        message_counts: (0..TOPICS).map(number).collect(),
        statistics: (0..TOPICS).map(|index| Some(account(index))).collect(),
        start_time_ns: Some(start),
        end_time_ns: Some(end),
        ros_distro: "jazzy".into(),
        storage: Some(StorageId::Mcap),
        files: 1,
        file_size: seed >> 30,
        damage: Vec::new(),
    };
    let entry = Entry {
        identity,
        is_settled: true,
        content: Content::Bag(Arc::new(summary)),
    };
    (name.to_owned(), entry)
}

/// A bag with as many topics.
fn record(path: &Path) {
    let mut writer = BagWriter::create(path, BagOptions::default()).expect("a new bag");
    for number in 0..TOPICS {
        let id = writer.add_topic(&topic(number)).expect("a topic");
        let message = Message {
            topic: id,
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 0,
            data: &[0, 1, 0, 0],
        };
        writer
            .write(&[message], 0)
            .into_result()
            .expect("a message");
    }
    let ended = writer.finish().expect("a bag");
    ended.1.into_result().expect("a whole bag");
}
