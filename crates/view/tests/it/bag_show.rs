//! A generated bag, its player on a loopback, and a server in front of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, MessageDefinition, StorageReader as _, TopicInfo,
};
use timeloom_msg::{Definitions, Schema};
use timeloom_node::player::{Control, Options, PlayRange, Player, Reporter, Services};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_testkit::mcap::BagScratch;
use timeloom_time::TimeBase;
use timeloom_view::{BagContents, BagMarks, PlayerTap, PlayerView, Server, ViewOptions};
use timeloom_wire::loopback::LoopbackNetwork;

/// Start of the bag.
pub(crate) const BEGIN: i64 = 1_700_000_000_000_000_000;
/// Interval of the busy topic; the other topic has every tenth message.
pub(crate) const STEP: i64 = 5_000_000;
/// Messages of the busy topic.
pub(crate) const COUNT: i64 = 200;

pub(crate) const BUSY: &str = "/busy";
pub(crate) const RARE: &str = "/rare";
const STRING: &str = "std_msgs/msg/String";

/// A message in the bag: topic, log time, payload.
pub(crate) type Line = (String, i64, Vec<u8>);

/// A string as CDR.
fn text(text: &str) -> Vec<u8> {
    let schema = Definitions::builtin().schema(STRING).unwrap();
    let mut value = schema.default_value().unwrap();
    value.set("data", text).unwrap();
    schema.encode(&value).unwrap()
}

/// The messages of the bag.
pub(crate) fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for number in 0..COUNT {
        let time = BEGIN + number * STEP;
        lines.push((BUSY.into(), time, text(&format!("{number}"))));
        if number % 10 == 0 {
            lines.push((
                RARE.into(),
                time + 1,
                text(&"long ".repeat(usize::try_from(number).unwrap())),
            ));
        }
    }
    lines
}

/// The last log time.
pub(crate) fn end() -> i64 {
    lines().iter().map(|line| line.1).max().unwrap()
}

fn write_bag(path: &Path) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let schema = Definitions::builtin().schema(STRING).unwrap();
    for (topic, time, data) in lines() {
        let mut info = TopicInfo::new(topic, STRING);
        info.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: schema.ros2msg().unwrap(),
        };
        let message = Message {
            topic: writer.add_topic(&info).unwrap(),
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    let (_, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

/// A player behind a server.
pub(crate) struct BagShow {
    pub(crate) server: Server,
    pub(crate) player: Player,
    pub(crate) marks: BagMarks,
    _services: Services,
    _node: RosNode,
    _directory: BagScratch,
}

impl BagShow {
    /// The bag, paused at its start.
    pub(crate) fn paused() -> Self {
        let options = Options {
            start_paused: true,
            ..Options::default()
        };
        Self::with(options)
    }

    pub(crate) fn with(options: Options) -> Self {
        let directory = BagScratch::new();
        let path: PathBuf = directory.path().join("made_up");
        write_bag(&path);
        let network = LoopbackNetwork::new(&TimeBase::machine());
        let reader = BagReader::open(&path).unwrap();
        let topics = reader.info().topics.clone();
        let contents = BagContents::new("made_up", &reader, |topic| {
            let info = &topics[topic];
            Schema::parse_ros2msg(&info.type_name, &info.definition.text)
                .map_err(|error| error.to_string())
        });
        let tap = PlayerTap::default();
        let participant = tap.participant(network.participant("player").unwrap());
        let node = RosNode::new(participant, NodeOptions::new("rosbag2_player")).unwrap();
        let player = Player::open(&node, reader, options, Reporter::default()).unwrap();
        let handle = player.handle().clone();
        let services = Services::start(&node, handle.clone(), timeloom_msg::Distro::default());
        let viewer = network.participant("viewer").unwrap();
        let view = PlayerView::new(handle, contents, tap, viewer);
        view.count_messages(BagReader::open(&path).unwrap())
            .unwrap();
        let marks = view.marks();
        let mut address = ViewOptions::default();
        address.address.set_port(0);
        let server = Server::start(address, Arc::new(view)).unwrap();
        player.control(Control::Play(PlayRange::default())).unwrap();
        Self {
            server,
            player,
            marks,
            _services: services.unwrap(),
            _node: node,
            _directory: directory,
        }
    }
}
