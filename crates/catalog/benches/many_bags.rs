//! A catalogue of 100,000 bags with 20 topics each: reading it against opening a bag, and the bags of a folder: from
//! nothing, after changes, and for a query that needs a few of them.

#[path = "support/fleet.rs"]
mod fleet;

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::place::ListedFile;
use timeloom_bag::{
    BagReader, BagSummary, MessageDefinition, Place, StorageId, TopicInfo, TopicStatistics,
};
use timeloom_catalog::{
    BagFolder, Catalog, Content, Entry, IndexReport, Indexer, LocalStore, Scope, discover,
};
use timeloom_testkit::bench::{Bench, Samples, Stopwatch};
use timeloom_testkit::place::HookedPlace;
use timeloom_time::{Clock, Duration, VirtualTime};

use self::fleet::{Counts, Fleet, REPLACED, record};

const BAGS: u64 = 100_000;
/// Bags with a topic that the others do not have.
const RARE: u64 = 3;
const TOPICS: u64 = 20;
const ROUNDS: usize = 3;

fn main() {
    // `cargo test` also starts benchmarks; without this it would run for a minute.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut bench = Bench::from_env();
    let shared = Path::new("/dev/shm");
    let directory = if shared.is_dir() {
        tempfile::tempdir_in(shared)
    } else {
        tempfile::tempdir()
    };
    let directory = directory.expect("a place for the bags");
    if bench.wants("catalog.index") || bench.wants("catalog.query") {
        on_disk(&mut bench, directory.path());
    }
    if bench.wants("catalog.read") {
        in_memory(&mut bench, directory.path());
    }
}

/// What a step took.
struct Step {
    seconds: f64,
    /// Files that were opened, reads, bytes.
    counts: [u64; 3],
}

impl Step {
    fn of<T>(counts: &Counts, work: impl FnOnce() -> T) -> (T, Self) {
        counts.take();
        let watch = Stopwatch::start();
        let done = work();
        let step = Self {
            seconds: watch.wall() / 1e9,
            counts: counts.take(),
        };
        (done, step)
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [opened, reads, bytes] = self.counts;
        let (seconds, megabytes) = (self.seconds, bytes as f64 / 1e6);
        write!(
            f,
            "{seconds:.2} s, {opened} files opened, {reads} reads, {megabytes:.1} MB"
        )
    }
}

/// Bags in a folder, through the index and the folder of a query.
fn on_disk(bench: &mut Bench, directory: &Path) {
    let topics: Vec<TopicInfo> = (0..TOPICS).map(topic).collect();
    let fleet = Fleet::new(directory, BAGS, &topics);
    let counts = Counts::default();
    let place: Arc<dyn Place> = Arc::new(HookedPlace(counts.clone()));
    let (report, new) = Step::of(&counts, || index(&place, &fleet.root));
    assert_eq!(report.opened, BAGS);
    let memory = peak_memory();
    let (report, again) = Step::of(&counts, || index(&place, &fleet.root));
    assert_eq!(report.opened, 0);
    // A few of the new bags have a topic more.
    let rare = TopicInfo::new("/rare", "my_msgs/msg/Rare");
    let with_rare: Vec<TopicInfo> = topics.iter().cloned().chain([rare]).collect();
    let changed = (RARE..BAGS / REPLACED).map(|bag| bag * REPLACED);
    fleet.replace("other", changed, &topics);
    fleet.replace("rare", (0..RARE).map(|bag| bag * REPLACED), &with_rare);
    let (report, update) = Step::of(&counts, || index(&place, &fleet.root));
    assert_eq!(report.changed.len() as u64, BAGS / REPLACED);
    let (found, query) = Step::of(&counts, || bags_with(&place, &fleet.root, "/rare"));
    assert_eq!(found, RARE);
    bench.ratio_at_most("catalog.index.again", again.seconds / new.seconds, 0.25);
    bench.note("catalog.index.again", format_args!("{again}"));
    bench.ratio_at_most("catalog.index.update", update.seconds / new.seconds, 0.3);
    let text = format_args!("1 % of the bags changed: {update}; from nothing: {new}");
    bench.note("catalog.index.update", text);
    bench.ratio_at_most("catalog.query.prune", query.seconds / new.seconds, 0.2);
    let text = format_args!("{RARE} of {BAGS} bags have the topic: {query}");
    bench.note("catalog.query.prune", text);
    bench.ratio_at_most("catalog.index.memory_mib", memory, 1024.0);
    let text = format_args!(
        "peak of the process after indexing {BAGS} bags from nothing; the table has {:.1} MB",
        report.catalog_bytes as f64 / 1e6
    );
    bench.note("catalog.index.memory_mib", text);
}

fn index(place: &Arc<dyn Place>, root: &Path) -> IndexReport {
    // A clock to which all files are old: none has to be looked at again later.
    let world = VirtualTime::manual();
    world.step_system_clock(Duration::from_secs(40 * 365 * 86_400));
    let indexer = Indexer {
        place: Arc::clone(place),
        root,
        store: &LocalStore::new(root),
        clock: Clock::on(&world.base()),
        threads: 8,
    };
    let report = indexer.update(&Scope::All, &mut |_, _| {});
    report.expect("an index")
}

/// What a query over a folder does before it reads messages: opens the bags that have a topic.
fn bags_with(place: &Arc<dyn Place>, root: &Path, topic: &str) -> u64 {
    let folder = BagFolder::find(place.as_ref(), root).expect("a folder of bags");
    let known = folder.known(place.as_ref(), &mut |_, error| panic!("{error}"));
    assert_eq!(known.len() as u64, BAGS);
    let mut found = 0;
    for (name, summary) in known {
        if summary.topics.iter().any(|it| it.name == topic) {
            let path = root.join(name);
            let reader = BagReader::open_in(Arc::clone(place), &[path]);
            assert_eq!(BagSummary::of(&reader.expect("a bag")), *summary);
            found += 1;
        }
    }
    found
}

/// The most memory that the process had, in MiB; not a number where the system does not tell.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// The table alone, without a folder.
fn in_memory(bench: &mut Bench, directory: &Path) {
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
    let bag = directory.join("bag");
    record(&bag, &(0..TOPICS).map(topic).collect::<Vec<_>>());
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
    bench.ratio_at_most("catalog.read", known.median() / opened.median(), 0.1);
    let text = format_args!(
        "{BAGS} bags of {TOPICS} topics: {:.1} MB, {:.0} B per bag; {:.2} s to read and compare, {:.0} µs to open one bag",
        bytes.len() as f64 / 1e6,
        bytes.len() as f64 / BAGS as f64,
        known.median() * BAGS as f64 / 1e9,
        opened.median() / 1e3,
    );
    bench.note("catalog.read", text);
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
