//! The state of the host clock in the bag.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use timeloom_bag::{BagOptions, HOST_CLOCK_KEY, HostClockRecord, StorageId, StorageOptions};
use timeloom_node::host_clock::{ChronyTracking, Discipline, HostClock};

use crate::recorder_world::{RELIABLE, World, finish};

fn chrony(offset: &str) -> HostClock {
    let line = include_str!("../data/chrony_tracking.csv").replace("-0.000001476", offset);
    HostClock {
        discipline: Discipline::Chrony(ChronyTracking::parse(&line)),
        tai_offset_s: 37,
        hardware_clocks: Vec::new(),
    }
}

#[test]
fn the_state_at_the_start_and_of_every_minute_is_in_the_metadata() {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let world = World::new();
        let talker = world.publisher("talker", "/chatter", RELIABLE);
        let mut options = world.options();
        options.bag = Arc::new(move || BagOptions {
            storage: StorageOptions::preset(storage, "").unwrap(),
            ..BagOptions::default()
        });
        let looks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&looks);
        options.host_clock = Some(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            chrony("-0.000002000")
        }));
        let recorder = world.record(options);
        world.publish(&*talker, 10, 1_000);
        world.pass(150_000);
        let report = finish(&recorder);
        let data = report.metadata.custom_data.iter();
        let mut data = data.filter(|(key, _)| key == HOST_CLOCK_KEY);
        let (_, text) = data.next().expect("a history");
        assert_eq!(data.next(), None, "once");
        let records = HostClockRecord::parse_all(text);
        let reasons: Vec<&str> = records.iter().map(|one| one.reason.as_str()).collect();
        assert_eq!(reasons, ["start", "minute", "minute"], "{storage:?}");
        assert_eq!(looks.load(Ordering::Relaxed), 3);
        assert_eq!(records[0].source, "chrony");
        assert_eq!(records[0].offset_ns, Some(2_000));
        let stored = timeloom_bag::metadata::read_metadata_file(&world.bag()).unwrap();
        assert_eq!(
            stored.custom_data, report.metadata.custom_data,
            "{storage:?}"
        );
    }
}
