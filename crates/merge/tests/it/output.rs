//! The bag that comes out.

use timeloom_bag::{BagOptions, BagReader, MergedHost, StorageReader as _};
use timeloom_merge::{Duplicates, MergeOptions, MergeReport, Stamps, write};

use crate::fleet::{Fleet, MILLISECOND, SECOND, START, Topic, host};

const BOTH: &[usize] = &[0, 1];

fn fleet() -> Fleet {
    let mut hosts = vec![host("car", 0, 0), host("arm", 2 * SECOND, 10)];
    hosts[1].loses = Some(10);
    let topics = vec![
        Topic {
            name: "/a",
            on: 0,
            recorded_by: BOTH,
        },
        Topic {
            name: "/b",
            on: 1,
            recorded_by: BOTH,
        },
        Topic {
            name: "/own",
            on: 1,
            recorded_by: &[1],
        },
    ];
    let fleet = Fleet::new(hosts, topics);
    fleet.record();
    fleet
}

fn merged(fleet: &Fleet, options: &MergeOptions) -> (MergeReport, BagReader) {
    let hosts = fleet.compare(options).unwrap();
    let output = fleet.path("merged");
    let bag = BagOptions::default();
    let report = write(fleet.reader(), &hosts, &output, bag, options, &mut |_| {}).unwrap();
    (report, BagReader::open(&output).unwrap())
}

/// Log and publish times by topic name.
fn times(reader: &mut BagReader, name: &str) -> Vec<(i64, i64)> {
    let query = reader.query_for(&[name]);
    reader.start(&query).unwrap();
    let mut times = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        times.push((message.log_time_ns, message.publish_time_ns));
    }
    times
}

#[test]
fn by_default_times_stay_and_offsets_are_noted() {
    let fleet = fleet();
    let (report, mut reader) = merged(&fleet, &MergeOptions::default());
    assert_eq!(report.messages_written, 2 * 1_200 + 3 * 1_080);
    let own = times(&mut reader, "/own");
    assert!(own[0].0 > START + 2 * SECOND, "{}", own[0].0);
    let metadata = reader.info().metadata.clone().unwrap();
    let hosts = MergedHost::read(&metadata.custom_data);
    assert_eq!(
        hosts
            .iter()
            .map(|host| host.name.as_str())
            .collect::<Vec<_>>(),
        ["car", "arm"]
    );
    assert_eq!(hosts[0].offset_ns, Some(0));
    assert!(!hosts[1].corrected);
    let truth = fleet.true_offset(1, START + 30 * SECOND);
    let (lower, upper) = (hosts[1].lower_ns.unwrap(), hosts[1].upper_ns.unwrap());
    assert!(lower <= truth && truth <= upper, "{lower} {truth} {upper}");
    assert!(hosts[1].bound_ns().unwrap() < 3 * MILLISECOND);
}

#[test]
fn corrected_times_are_by_the_clock_of_the_reference() {
    let fleet = fleet();
    let options = MergeOptions {
        stamps: Stamps::Corrected,
        ..MergeOptions::default()
    };
    let (report, mut reader) = merged(&fleet, &options);
    // It is not known where a topic of one recorder is published.
    assert_eq!(report.publish_times_left, 1_080);
    let near = |a: i64, b: i64| a.abs_diff(b) < MILLISECOND.unsigned_abs();
    let own = times(&mut reader, "/own");
    assert!(
        near(own[0].0, START + 3 * MILLISECOND),
        "{}",
        own[0].0 - START
    );
    for (log, publish) in times(&mut reader, "/b") {
        assert!(
            near(publish, log) || log - publish < 5 * MILLISECOND,
            "{log} {publish}"
        );
        assert!(log > publish - MILLISECOND, "{log} {publish}");
    }
    let all = times(&mut reader, "/a");
    assert!(all.is_sorted_by_key(|(log, _)| *log));
    // Losses are counted in full, and at the right time.
    let topic = reader.info().topic_id("/a").unwrap();
    let account = reader.accounts()[topic.index()].clone().unwrap();
    assert_eq!(account.statistics.messages_lost_in_transport, 120);
    let first = account.timeline.intervals().next().unwrap();
    assert!(
        first.start_ns.abs_diff(START) <= SECOND.unsigned_abs(),
        "{first:?}"
    );
}

#[test]
fn copies_are_removed_and_losses_stay_open() {
    let fleet = fleet();
    for stamps in [Stamps::Left, Stamps::Corrected] {
        let options = MergeOptions {
            stamps,
            duplicates: Duplicates::Remove,
            ..MergeOptions::default()
        };
        let (report, mut reader) = merged(&fleet, &options);
        assert_eq!(report.copies_removed, 2 * 1_080);
        assert_eq!(report.messages_written, 2 * 1_200 + 1_080);
        assert_eq!(times(&mut reader, "/a").len(), 1_200);
        let statistics = |name: &str| {
            let topic = reader.info().topic_id(name).unwrap();
            reader.accounts()[topic.index()].clone().unwrap().statistics
        };
        // What one recorder lost may be in the bag of the other: it is at most that much.
        assert_eq!(statistics("/a").messages_lost_in_transport, 0);
        assert_eq!(statistics("/a").unknown.unplaced, 120);
        assert_eq!(statistics("/own").messages_lost_in_transport, 120);
        std::fs::remove_dir_all(fleet.path("merged")).unwrap();
    }
}

#[test]
fn a_merged_bag_with_several_clocks_is_not_merged_again() {
    let fleet = fleet();
    let _written = merged(&fleet, &MergeOptions::default());
    let mut reader = BagReader::open_all(&[fleet.path("merged"), fleet.path("car")]).unwrap();
    let names = ["merged".to_owned(), "car".to_owned()];
    let error = timeloom_merge::survey(&mut reader, &names, &MergeOptions::default(), &mut |_| {});
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("merged is a merged bag")
    );
}
