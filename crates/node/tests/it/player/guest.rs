//! A player disturbs no other node.

use timeloom_bag::{StorageId, TopicInfo};
use timeloom_msg::Distro;
use timeloom_node::player::{Notice, Options};

use super::fixture::{BagMessage, Fixture, STRING, TOPIC, play};

const EVENTS: &str = "/events/rosbag2_messages_lost";
const EVENT: &str = "rosbag2_interfaces/msg/MessagesLostEvent";

/// Number of messages of a bag with losses of its recorder that are played, and the notices.
fn played(options: Options) -> (u64, Vec<Notice>) {
    let fixture = Fixture::new();
    let lines = [
        BagMessage(TOPIC, 0, 1),
        BagMessage(EVENTS, 5, 2),
        BagMessage(TOPIC, 10, 3),
    ];
    let bag = fixture.bag_with("bag", StorageId::Mcap, &lines, |name| {
        TopicInfo::new(name, if name == EVENTS { EVENT } else { STRING })
    });
    let player = fixture.player(&bag, options);
    play(&player);
    player.wait();
    (player.status().played(), fixture.notices())
}

#[test]
fn a_type_that_the_distribution_lacks_is_not_played_unless_selected() {
    let jazzy = Options {
        peers: Some(Distro::Jazzy),
        ..Options::default()
    };
    let notice = Notice::LeftOut {
        topic: EVENTS.into(),
        type_name: EVENT.into(),
        distro: Distro::Jazzy,
    };
    assert_eq!(played(jazzy.clone()), (2, vec![notice]));
    let named = Options {
        named_topics: [EVENTS.to_owned()].into(),
        ..jazzy
    };
    assert_eq!(played(named), (3, vec![]));
    let lyrical = Options {
        peers: Some(Distro::Lyrical),
        ..Options::default()
    };
    assert_eq!(played(lyrical), (3, vec![]));
    assert_eq!(played(Options::default()), (3, vec![]));
}
