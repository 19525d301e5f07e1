//! Tags as bytes.

use proptest::prelude::*;
use timeloom_msg::cdr::{EncodeOptions, Endian};
use timeloom_msg::{Definitions, Value};
use timeloom_time::{Ros, Time};
use timeloom_trace::{
    AnyTag, InputInfo, MessageTrackingTag, Moment, OutputInfo, PublishedTime, TAG_TYPE, TagView,
};

const SECOND: i64 = 1_000_000_000;

fn stamp(seconds: i64) -> Time<Ros> {
    Time::from_nanos(seconds * SECOND)
}

/// ROS time as in the sample of the specification; the steady clock is ten seconds ahead.
fn at(seconds: i64) -> Moment {
    Moment::from_nanos(seconds * SECOND, (seconds + 10) * SECOND)
}

/// `NodeC` of the specification: `topic_c` made of `topic_a` and `topic_b`.
fn node_c() -> MessageTrackingTag {
    let input = |topic: &str, received, stamped| InputInfo {
        topic: topic.into(),
        received: at(received),
        stamp: Some(stamp(stamped)),
    };
    MessageTrackingTag {
        header_stamp: Time::from_nanos(6 * SECOND),
        output: OutputInfo {
            topic: "topic_c".into(),
            node: "NodeC".into(),
            sequence: 0,
            published: at(6),
            stamp: Some(stamp(5)),
        },
        inputs: vec![input("topic_a", 2, 1), input("topic_b", 4, 3)],
    }
}

/// The same, written by hand: offsets on the left count from after the encapsulation header.
#[rustfmt::skip]
const NODE_C: &[u8] = &[
    /*      */ 0, 1, 0, 0,                                      // little-endian CDR
    /*   0  */ 6, 0, 0, 0,  0, 0, 0, 0,                         // header.stamp
    /*   8  */ 1, 0, 0, 0,  0,  0, 0, 0,                        // header.frame_id "", padding
    /*  16  */ 8, 0, 0, 0,  b't', b'o', b'p', b'i', b'c', b'_', b'c', 0,
    /*  28  */ 6, 0, 0, 0,  b'N', b'o', b'd', b'e', b'C', 0,  0, 0,
    /*  40  */ 0, 0, 0, 0,  0, 0, 0, 0,                         // seq, at a multiple of eight
    /*  48  */ 6, 0, 0, 0,  0, 0, 0, 0,                         // pub_time
    /*  56  */ 16, 0, 0, 0,  0, 0, 0, 0,                        // pub_time_steady
    /*  64  */ 1,  0, 0, 0,  5, 0, 0, 0,  0, 0, 0, 0,           // has_header_stamp, header_stamp
    /*  76  */ 2, 0, 0, 0,                                      // two inputs
    /*  80  */ 8, 0, 0, 0,  b't', b'o', b'p', b'i', b'c', b'_', b'a', 0,
    /*  92  */ 2, 0, 0, 0,  0, 0, 0, 0,                         // sub_time
    /* 100  */ 12, 0, 0, 0,  0, 0, 0, 0,                        // sub_time_steady
    /* 108  */ 1,  0, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,           // has_header_stamp, header_stamp
    /* 120  */ 8, 0, 0, 0,  b't', b'o', b'p', b'i', b'c', b'_', b'b', 0,
    /* 132  */ 4, 0, 0, 0,  0, 0, 0, 0,
    /* 140  */ 14, 0, 0, 0,  0, 0, 0, 0,
    /* 148  */ 1,  0, 0, 0,  3, 0, 0, 0,  0, 0, 0, 0,
];

#[test]
fn the_sample_of_the_specification_has_these_bytes() {
    assert_eq!(node_c().encode(), NODE_C);
    assert_eq!(MessageTrackingTag::decode(NODE_C).unwrap(), node_c());
}

#[test]
fn sources_of_the_sample_have_no_inputs() {
    for (topic, node, published, stamped) in
        [("topic_a", "NodeA", 2, 1), ("topic_b", "NodeB", 4, 3)]
    {
        let tag = MessageTrackingTag {
            header_stamp: Time::from_nanos(published * SECOND),
            output: OutputInfo {
                topic: topic.into(),
                node: node.into(),
                sequence: 0,
                published: at(published),
                stamp: Some(stamp(stamped)),
            },
            inputs: vec![],
        };
        let payload = tag.encode();
        // The head of NodeC's tag is as long: names of equal length.
        assert_eq!(payload.len(), 4 + 80);
        assert_eq!(payload.last_chunk(), Some(&[0; 4]));
        assert_eq!(MessageTrackingTag::decode(&payload).unwrap(), tag);
    }
}

#[test]
fn the_size_equals_the_measurement() {
    // tilde.md §1.2: 76 B and 36 B for each input, with empty names and the encapsulation.
    let mut tag = node_c();
    tag.output.topic.clear();
    tag.output.node.clear();
    for input in &mut tag.inputs {
        input.topic.clear();
    }
    assert_eq!(tag.encode().len(), 76 + 2 * 36);
}

#[test]
fn a_truncated_tag_is_refused_at_any_length() {
    for end in 0..NODE_C.len() {
        assert!(TagView::parse(&NODE_C[..end]).is_err(), "{end}");
    }
    // An impossible count: refused before anything is read or allocated.
    let mut many = NODE_C.to_vec();
    many[4 + 76..4 + 80].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = TagView::parse(&many).unwrap_err().to_string();
    assert!(error.contains("input_infos"), "{error}");
}

#[test]
fn the_tag_of_tilde_lite_is_distinguished() {
    // Only a header, with and without padding behind the empty frame.
    for length in [4 + 13, 4 + 16] {
        match AnyTag::parse(&NODE_C[..length]).unwrap() {
            AnyTag::HeaderOnly { stamp } => assert_eq!(stamp, Time::from_nanos(6 * SECOND)),
            AnyTag::Full(tag) => panic!("{tag:?}"),
        }
    }
    assert!(matches!(AnyTag::parse(NODE_C).unwrap(), AnyTag::Full(_)));
}

#[test]
fn published_time_of_autoware() {
    let schema = Definitions::builtin()
        .schema("autoware_internal_msgs/msg/PublishedTime")
        .unwrap();
    let mut value = schema.default_value().unwrap();
    value.set("header.stamp.sec", Value::Int32(3)).unwrap();
    value
        .set("header.frame_id", Value::String("map".into()))
        .unwrap();
    value
        .set("published_stamp.nanosec", Value::Uint32(9))
        .unwrap();
    let payload = schema.encode(&value).unwrap();
    let expected = PublishedTime {
        stamp: Time::from_nanos(3 * SECOND),
        published: Time::from_nanos(9),
    };
    assert_eq!(PublishedTime::decode(&payload).unwrap(), expected);
}

fn moments() -> impl Strategy<Value = Moment> {
    let nanos = -(1_i64 << 60)..1 << 60;
    (nanos.clone(), nanos).prop_map(|(ros, steady)| Moment::from_nanos(ros, steady))
}

fn stamps() -> impl Strategy<Value = Option<Time<Ros>>> {
    proptest::option::of((-(1_i64 << 60)..1 << 60).prop_map(Time::from_nanos))
}

prop_compose! {
    fn inputs()(topic in "[a-z_/]{0,9}", received in moments(), stamp in stamps()) -> InputInfo {
        InputInfo { topic, received, stamp }
    }
}

prop_compose! {
    fn tags()(
        header in moments(), topic in "[a-z_/é]{0,20}", node in "[a-z/]{0,9}", sequence in any::<i64>(),
        published in moments(), stamp in stamps(), inputs in proptest::collection::vec(inputs(), 0..6),
    ) -> MessageTrackingTag {
        let output = OutputInfo { topic, node, sequence, published, stamp };
        MessageTrackingTag { header_stamp: header.ros, output, inputs }
    }
}

proptest! {
    /// The general codec of `msg` is another implementation: it reads our tags, and we read its tags, in every
    /// encoding.
    #[test]
    fn tags_agree_with_the_general_codec(tag in tags()) {
        let schema = Definitions::builtin().schema(TAG_TYPE).unwrap();
        let payload = tag.encode();
        let value = schema.decode(&payload).unwrap();
        prop_assert_eq!(&schema.encode(&value).unwrap(), &payload);
        for endian in [Endian::Little, Endian::Big] {
            let options = EncodeOptions { endian, ..EncodeOptions::default() };
            let theirs = schema.encode_with(&value, options).unwrap();
            prop_assert_eq!(MessageTrackingTag::decode(&theirs).unwrap(), tag.clone());
        }
    }

    #[test]
    fn wild_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..164_usize) {
        if let Ok(AnyTag::Full(tag)) = AnyTag::parse(&bytes) {
            prop_assert!(tag.inputs().count() <= 6);
        }
        let mut bent = NODE_C.to_vec();
        for (place, byte) in bent.iter_mut().skip(at).zip(&bytes) {
            *place = *byte;
        }
        if let Ok(AnyTag::Full(tag)) = AnyTag::parse(&bent) {
            prop_assert!(tag.inputs().count() <= 4);
        }
    }
}
