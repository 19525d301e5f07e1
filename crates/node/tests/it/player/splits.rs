//! The events of a split bag.

use std::sync::Arc;

use timeloom_bag::TopicInfo;
use timeloom_msg::QosProfile;
use timeloom_node::player::Options;

use super::fixture::{Fixture, STRING, TOPIC, payload, play};

/// The closed and opened files on `events/read_split`.
#[derive(Default)]
struct SplitLog(std::sync::Mutex<Vec<(String, String)>>);

impl timeloom_wire::Receiver for SplitLog {
    fn sample(&self, sample: timeloom_wire::Sample) {
        let schema = timeloom_msg::Definitions::builtin();
        let schema = schema.schema("rosbag2_interfaces/msg/ReadSplitEvent");
        let event = schema.unwrap().decode(&sample.payload).unwrap();
        let name = |field: &str| {
            let value = event.get(field).unwrap();
            let path = value.as_str().unwrap().to_owned();
            path.rsplit('/').next().unwrap().to_owned()
        };
        let pair = (name("closed_file"), name("opened_file"));
        self.0.lock().unwrap().push(pair);
    }
}

#[test]
fn the_next_file_of_a_split_bag_is_published() {
    let fixture = Fixture::new();
    let path = fixture.directory.path().join("split");
    let mut writer =
        timeloom_bag::BagWriter::create(&path, timeloom_bag::BagOptions::default()).unwrap();
    let topic = TopicInfo::new(TOPIC, STRING);
    let topic = writer.add_topic(&topic).unwrap();
    for n in 0..6_u32 {
        if n == 2 || n == 4 {
            writer.split().unwrap();
        }
        let message = timeloom_bag::Message {
            topic,
            log_time_ns: i64::from(n) * 100_000_000,
            publish_time_ns: 0,
            sequence: 0,
            data: &payload(n),
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let log = Arc::new(SplitLog::default());
    let spec = timeloom_wire::TopicSpec {
        name: "/events/read_split".into(),
        type_name: timeloom_msg::TypeName::parse("rosbag2_interfaces/msg/ReadSplitEvent").unwrap(),
        type_hash: None,
        qos: QosProfile::DEFAULT,
    };
    let (_, node) = fixture.participant("listener");
    let _subscription = node.subscribe(&spec, Arc::clone(&log) as _).unwrap();
    let player = fixture.player(&path, Options::default());
    play(&player);
    player.wait();
    fixture.settle();
    let pair = |a: &str, b: &str| (format!("split_{a}.mcap"), format!("split_{b}.mcap"));
    assert_eq!(*log.0.lock().unwrap(), [pair("0", "1"), pair("1", "2")]);
}
