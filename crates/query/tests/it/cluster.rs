//! Queries on workers of this process: the plans that are sent, and the answers that come back.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::BagReader;
use timeloom_query::{
    BagSource, Cluster, Format, LocalBags, Session, SessionOptions, Worker, WorkerOptions,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{GOLDEN, float, golden, open, record, topic, written};

fn worker(source: Arc<dyn BagSource>) -> Worker {
    let options = WorkerOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        threads: Some(2),
        ..WorkerOptions::default()
    };
    Worker::start(source, options).unwrap()
}

fn open_on(workers: &[Worker], bags: &[String]) -> Session {
    let workers = workers.iter().map(|it| it.address().to_string().parse());
    let cluster = Cluster::new(workers.collect::<Result<_, _>>().unwrap(), None);
    let options = SessionOptions {
        threads: Some(2),
        ..SessionOptions::default()
    };
    Session::open_on(cluster, Arc::new(LocalBags), bags, options).unwrap()
}

/// Every table of the golden bags, with all columns, in the order of one process.
#[test]
fn every_table_of_golden_bags_is_the_same_on_workers() {
    let workers: Vec<Worker> = (0..3).map(|_| worker(Arc::new(LocalBags))).collect();
    let bags: Vec<String> = GOLDEN.iter().map(|name| golden(name)).collect();
    let (alone, together) = (open(&bags), open_on(&workers, &bags));
    assert_eq!(alone.tables(), together.tables());
    for table in alone.tables() {
        let sql = format!("SELECT * FROM \"{table}\"");
        let expected = written(&alone, &sql, Format::Json);
        assert!(
            written(&together, &sql, Format::Json) == expected,
            "{table}"
        );
    }
    assert!(together.notices().is_empty(), "{:?}", together.notices());
    assert_eq!(together.findings().damage(), alone.findings().damage());
}

/// The machine that asks may be far from the bags.
#[test]
fn a_single_worker_reads_all_bags() {
    let bags = ["mcap_plain", "mcap_split_dur"].map(golden);
    let workers = [worker(Arc::new(NoBags))];
    let session = open_on(&workers, &bags);
    let mut answer = session.query("SELECT * FROM \"/imu/data\"").unwrap();
    let error = answer.find_map(Result::err).unwrap().to_string();
    assert!(error.contains(&workers[0].address().to_string()), "{error}");
    let workers = [worker(Arc::new(LocalBags))];
    let (alone, together) = (open(&bags), open_on(&workers, &bags));
    let sql = "SELECT * FROM \"/imu/data\"";
    let expected = written(&alone, sql, Format::Json);
    assert!(written(&together, sql, Format::Json) == expected);
}

/// Another bag under the same address.
struct OtherBags;

impl BagSource for OtherBags {
    fn open(&self, _bag: &str) -> timeloom_bag::Result<BagReader> {
        BagReader::open(Path::new(&golden("sqlite3_plain")))
    }
}

/// No bag at all.
struct NoBags;

impl BagSource for NoBags {
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader> {
        BagReader::open(Path::new(&format!("{bag}_elsewhere")))
    }
}

#[test]
fn a_worker_that_sees_another_bag_or_none_fails_the_query_with_its_address() {
    let bags = ["mcap_plain", "mcap_split_dur", "mcap_fastwrite"].map(golden);
    let sources: [(Arc<dyn BagSource>, &str); 2] = [
        (
            Arc::new(OtherBags),
            "not the one that the query was planned for",
        ),
        (Arc::new(NoBags), "_elsewhere"),
    ];
    for (source, words) in sources {
        let workers = [worker(Arc::clone(&source)), worker(source)];
        let session = open_on(&workers, &bags);
        for table in ["/imu/data", "messages", "parameters"] {
            let mut answer = session
                .query(&format!("SELECT * FROM \"{table}\""))
                .unwrap();
            let error = answer.find_map(Result::err).unwrap().to_string();
            assert!(error.contains(words), "{error}");
            let named = workers
                .iter()
                .any(|it| error.contains(&it.address().to_string()));
            assert!(named, "{error}");
        }
    }
}

#[test]
fn findings_of_workers_are_those_of_one_process() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let bags: Vec<String> = (0..4_u8)
        .map(|bag| {
            let mut payloads: Vec<_> = (0..20).map(|n| float(&schema, f64::from(n))).collect();
            for payload in payloads.iter_mut().take(usize::from(bag)) {
                *payload = vec![0, 1, 0, 0, 7];
            }
            let path = directory.path().join(format!("bag_{bag}"));
            record(path, &info, &payloads)
        })
        .collect();
    let workers: Vec<Worker> = (0..3).map(|_| worker(Arc::new(LocalBags))).collect();
    let (alone, together) = (open(&bags), open_on(&workers, &bags));
    let sql =
        "SELECT bag, count(data) AS n, sum(data) AS sum FROM \"/n\" GROUP BY bag ORDER BY bag";
    let expected = written(&alone, sql, Format::Csv);
    assert_eq!(written(&together, sql, Format::Csv), expected);
    let undecoded = together.findings().undecoded();
    assert_eq!(undecoded, alone.findings().undecoded());
    assert_eq!(undecoded.iter().map(|it| it.2).sum::<u64>(), 6);
    // Each of the workers has read: a plan that was not sent would give the same answer.
    let explained = written(&together, &format!("EXPLAIN ANALYZE {sql}"), Format::Csv);
    assert!(explained.contains("tasks=3"), "{explained}");
}
