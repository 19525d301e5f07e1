//! Runs the example `read_bag`.

use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};
use timeloom_msg::Definitions;
use timeloom_testkit::mcap::BagScratch;

#[path = "../examples/read_bag.rs"]
#[expect(dead_code, reason = "the main function of the example")]
mod read_bag;

#[test]
fn the_example_prints_topics_messages_and_a_field() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let schema = Definitions::builtin()
        .schema("geometry_msgs/msg/PointStamped")
        .unwrap();
    let mut value = schema.default_value().unwrap();
    value.set("header.frame_id", "map").unwrap();
    value.set("point.x", 1.5).unwrap();
    let data = schema.encode(&value).unwrap();
    let info = TopicInfo::new("/goal", "geometry_msgs/msg/PointStamped");
    let topic = writer.add_topic(&info).unwrap();
    let message = Message {
        topic,
        log_time_ns: 7,
        publish_time_ns: 5,
        sequence: 0,
        data: &data,
    };
    assert!(writer.write(&[message], 0).is_ok());
    assert!(writer.finish().unwrap().1.is_ok());

    let mut out = Vec::new();
    read_bag::print_bag(&path, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "/goal (geometry_msgs/msg/PointStamped): 1 messages\n\
         7 /goal {\"header\":{\"stamp\":{\"sec\":0,\"nanosec\":0},\"frame_id\":\"map\"},\
         \"point\":{\"x\":1.5,\"y\":0.0,\"z\":0.0}}\n\
         \x20 frame: \"map\"\n"
    );
}
