//! The examples are those in the design document of `rmw_zenoh` (`docs/design.md`).

use proptest::prelude::*;
use timeloom_msg::qos::Durability;

use super::*;

const STRING: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
const ADD: &str = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a";

fn route(name: &str, type_name: &str, hash: &str) -> Route {
    let type_name = TypeName::parse(type_name).unwrap();
    Route::new(name, &type_name, Some(hash.parse().unwrap()))
}

fn token(session: &str, node: &str, id: u64, end: Option<End>) -> Token {
    Token {
        domain: 2,
        session: session.into(),
        node_id: 0,
        id,
        enclave: "/".into(),
        node: NodeName::new("/", node).unwrap(),
        end,
    }
}

fn end(kind: EndpointKind, route: Route, depth: u64) -> End {
    let qos = QosProfile {
        depth,
        ..QosProfile::DEFAULT
    };
    End {
        kind,
        route,
        qos: qos_code::adapt(&qos),
    }
}

#[test]
fn keys_are_those_of_the_design_document() {
    let chatter = route("/chatter", "std_msgs/msg/String", STRING);
    assert_eq!(
        chatter.key(0),
        format!("0/chatter/std_msgs::msg::dds_::String_/{STRING}")
    );
    let robot = route("/robot1/chatter", "std_msgs/msg/String", STRING);
    assert_eq!(
        robot.key(0),
        format!("0/robot1/chatter/std_msgs::msg::dds_::String_/{STRING}")
    );
    let add = route("/add_two_ints", "example_interfaces/srv/AddTwoInts", ADD);
    assert_eq!(
        add.key(2),
        format!("2/add_two_ints/example_interfaces::srv::dds_::AddTwoInts_/{ADD}")
    );
}

#[test]
fn tokens_are_those_of_the_design_document() {
    let chatter = || route("/chatter", "std_msgs/msg/String", STRING);
    let add = || route("/add_two_ints", "example_interfaces/srv/AddTwoInts", ADD);
    let string = format!("std_msgs::msg::dds_::String_/{STRING}");
    let ints = format!("example_interfaces::srv::dds_::AddTwoInts_/{ADD}");
    let cases = [
        (
            token("aac3178e146ba6f1fc6e6a4085e77f21", "listener", 0, None),
            "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener".to_owned(),
        ),
        (
            token(
                "aac3178e146ba6f1fc6e6a4085e77f21",
                "listener",
                10,
                Some(end(EndpointKind::Subscription, chatter(), 10)),
            ),
            format!(
                "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MS/%/%/listener/%chatter/{string}/::,10:,:,:,,"
            ),
        ),
        (
            token(
                "8b20917502ee955ac4476e0266340d5c",
                "talker",
                10,
                Some(end(EndpointKind::Publisher, chatter(), 7)),
            ),
            format!(
                "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/{string}/::,7:,:,:,,"
            ),
        ),
        (
            token(
                "f9980ee0495eaafb3e38f0d19e2eae12",
                "add_two_ints_server",
                10,
                Some(end(EndpointKind::Server, add(), 10)),
            ),
            format!(
                "@ros2_lv/2/f9980ee0495eaafb3e38f0d19e2eae12/0/10/SS/%/%/add_two_ints_server/%add_two_ints/{ints}/::,10:,:,:,,"
            ),
        ),
        (
            token(
                "e1dc8d1b45ae8717fce78689cc655685",
                "add_two_ints_client",
                10,
                Some(end(EndpointKind::Client, add(), 10)),
            ),
            format!(
                "@ros2_lv/2/e1dc8d1b45ae8717fce78689cc655685/0/10/SC/%/%/add_two_ints_client/%add_two_ints/{ints}/::,10:,:,:,,"
            ),
        ),
    ];
    for (token, text) in cases {
        assert_eq!(token.encode(), text);
        assert_eq!(Token::decode(&text), Ok(token));
    }
}

#[test]
fn the_gid_is_the_hash_of_the_token() {
    // By `xxhash.xxh3_128` of PyPI's xxhash, low half first.
    assert_eq!(
        gid_of("@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener").to_string(),
        "49.87.79.99.da.cb.85.87.02.d1.1a.c8.23.78.59.12"
    );
    let long = format!(
        "@ros2_lv/0/1/0/1/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/{STRING}/::,10:,:,:,,"
    );
    assert_eq!(
        gid_of(&long.repeat(2)).to_string(),
        "14.21.17.58.cf.a9.b5.cf.23.10.2b.29.69.ce.82.24"
    );
}

#[test]
fn an_endpoint_is_described_with_ros_names() {
    let chatter = route("/robot/chatter", "std_msgs/msg/String", STRING);
    let token = token(
        "1",
        "talker",
        3,
        Some(end(EndpointKind::Publisher, chatter, 5)),
    );
    let info = token.info(Gid([1; 16])).unwrap();
    assert_eq!(info.topic, "/robot/chatter");
    assert_eq!(info.type_name, "std_msgs/msg/String");
    assert_eq!(info.type_hash.unwrap().to_string(), STRING);
    assert_eq!(
        (info.qos.depth, info.qos.durability),
        (5, Durability::Volatile)
    );
    let strange = Token::decode(
        &token
            .encode()
            .replace("std_msgs::msg::dds_::String_", "Odd"),
    );
    assert_eq!(
        strange.unwrap().info(Gid::UNKNOWN).unwrap().type_name,
        "Odd"
    );
}

#[test]
fn an_invalid_token_is_refused_with_the_reason() {
    let good = "@ros2_lv/0/ab/0/1/MP/%/%/talker/%a/T/TypeHashNotSupported/::,:,:,:,,";
    assert!(Token::decode(good).is_ok());
    assert!(
        Token::decode(&format!("{good}/cuda:1")).is_ok(),
        "newer peers say more"
    );
    for (text, reason) in [
        ("", "no space"),
        ("@other/0/ab/0/1/NN/%/%/talker", "not in @ros2_lv"),
        ("@ros2_lv/x/ab/0/1/NN/%/%/talker", "domain is no number"),
        ("@ros2_lv/99999999999/ab/0/1/NN/%/%/talker", "no domain"),
        ("@ros2_lv/0/ab/0/-1/NN/%/%/talker", "id is no number"),
        ("@ros2_lv/0/ab/0/1/ZZ/%/%/talker", "`ZZ`"),
        ("@ros2_lv/0/ab/0/1/NN/%/%", "no node name"),
        ("@ros2_lv/0/ab/0/1/NN/%/%/two words", "two words"),
        ("@ros2_lv/0/ab/0/1/MP/%/%/talker", "no topic"),
        (
            "@ros2_lv/0/ab/0/1/MP/%/%/talker/%a/T/H/7",
            "QoS is malformed",
        ),
    ] {
        let error = Token::decode(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert!(
        Token::decode(&format!("{good}{}", "x".repeat(LONGEST)))
            .unwrap_err()
            .contains("bytes")
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(@ros2_lv/)?[a-zA-Z0-9%:,_/@]{0,120}") {
        if let Ok(token) = Token::decode(&text) {
            prop_assert!(text.starts_with(&token.encode()) || token.end.is_some());
        }
    }
}
