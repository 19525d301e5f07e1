//! Test fixture for players: bags, a player, and a subscription that records the messages.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use timeloom_bag::mcap::McapOptions;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, StorageId, StorageOptions, TopicInfo,
};
use timeloom_msg::qos::{Durability, History};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::player::{
    Answer, Control, Notice, Options, PlayRange, Player, Refusal, Reporter,
};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_testkit::mcap::BagScratch;
use timeloom_time::{Clock, Duration, Ros, Steady, Time, VirtualTime};
use timeloom_wire::loopback::{LoopbackNetwork, LoopbackOptions};
use timeloom_wire::{Node, NodeName, Participant, Receiver, Sample, Subscription, TopicSpec};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const TOPIC: &str = "/topic1";
pub(crate) const STRING: &str = "std_msgs/msg/String";

/// A domain on virtual time, and a directory for bags.
pub(crate) struct Fixture {
    pub(crate) time: VirtualTime,
    _here: timeloom_time::Participant,
    pub(crate) network: LoopbackNetwork,
    pub(crate) clock: Clock<Steady>,
    pub(crate) directory: BagScratch,
    pub(crate) notices: Arc<Mutex<Vec<Notice>>>,
}

/// A message of a bag: topic, milliseconds, number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BagMessage(pub(crate) &'static str, pub(crate) i64, pub(crate) u32);

/// A subscription that records numbers and arrival times.
pub(crate) struct Listener {
    heard: Mutex<Vec<(u32, Time<Steady>)>>,
    clock: Clock<Steady>,
    subscription: Mutex<Option<Box<dyn Subscription>>>,
}

impl Receiver for Listener {
    fn sample(&self, sample: Sample) {
        let number = number_of(&sample.payload);
        self.heard.lock().unwrap().push((number, self.clock.now()));
    }
}

/// The number in a made-up message.
pub(crate) fn number_of(payload: &[u8]) -> u32 {
    u32::from_le_bytes(payload[4..8].try_into().unwrap())
}

impl Listener {
    /// The numbers of the messages, in order.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(number, _)| *number).collect()
    }

    /// Their arrivals, in milliseconds after the first.
    pub(crate) fn millis(&self) -> Vec<i64> {
        let heard = self.heard.lock().unwrap();
        let first = heard.first().map(|(_, at)| *at);
        heard
            .iter()
            .map(|(_, at)| (*at - first.unwrap()).nanos() / MS)
            .collect()
    }

    /// Their arrivals, in milliseconds of steady time.
    pub(crate) fn times(&self) -> Vec<i64> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|(_, at)| at.nanos() / MS).collect()
    }

    pub(crate) fn clear(&self) {
        self.heard.lock().unwrap().clear();
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(LoopbackOptions::default())
    }

    pub(crate) fn with(options: LoopbackOptions) -> Self {
        let time = VirtualTime::new();
        let base = time.base();
        Self {
            _here: time.enter(),
            network: LoopbackNetwork::with_options(&base, options),
            clock: Clock::on(&base),
            time,
            directory: BagScratch::new(),
            notices: Arc::default(),
        }
    }

    pub(crate) fn participant(&self, label: &str) -> (Arc<dyn Participant>, Arc<dyn Node>) {
        let participant = self.network.participant(label).unwrap();
        let node = participant
            .node(NodeName::new("/", label).unwrap())
            .unwrap();
        (participant, node)
    }

    /// Writes a bag in MCAP; messages are in the order of the list.
    pub(crate) fn bag(&self, name: &str, lines: &[BagMessage]) -> PathBuf {
        self.bag_in(name, StorageId::Mcap, lines)
    }

    pub(crate) fn bag_in(&self, name: &str, storage: StorageId, lines: &[BagMessage]) -> PathBuf {
        self.bag_with(name, storage, lines, |topic| TopicInfo::new(topic, STRING))
    }

    pub(crate) fn bag_with(
        &self,
        name: &str,
        storage: StorageId,
        lines: &[BagMessage],
        topic_info: impl Fn(&str) -> TopicInfo,
    ) -> PathBuf {
        let path = self.directory.path().join(name);
        let options = BagOptions {
            storage: StorageOptions::preset(storage, "none").unwrap(),
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&path, options).unwrap();
        for BagMessage(topic, millis, number) in lines {
            let topic = writer.add_topic(&topic_info(topic)).unwrap();
            let message = Message {
                topic,
                log_time_ns: millis * MS,
                publish_time_ns: millis * MS,
                sequence: 0,
                data: &payload(*number),
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        let (_, outcome) = writer.finish().unwrap();
        assert!(outcome.is_ok());
        path
    }

    /// A bag whose messages were received and sent at different times: received, sent, number.
    pub(crate) fn sent_bag(&self, name: &str, lines: &[(i64, i64, u32)]) -> PathBuf {
        let path = self.directory.path().join(name);
        let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
        let topic = writer.add_topic(&TopicInfo::new(TOPIC, STRING)).unwrap();
        for (received, sent, number) in lines {
            let message = Message {
                topic,
                log_time_ns: received * MS,
                publish_time_ns: sent * MS,
                sequence: 0,
                data: &payload(*number),
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        assert!(writer.finish().unwrap().1.is_ok());
        path
    }

    /// A bag of many chunks with a broken one in the middle; messages are 10 ms apart.
    pub(crate) fn damaged_bag(&self, name: &str, count: u32) -> PathBuf {
        let path = self.directory.path().join(name);
        let mut options = McapOptions::preset("none").unwrap();
        options.chunk_size = 64;
        options.chunk_crc = true;
        let options = BagOptions {
            storage: StorageOptions::Mcap(options),
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let topic = writer.add_topic(&TopicInfo::new(TOPIC, STRING)).unwrap();
        let mut data = payload(0);
        data.resize(1000, 0xab);
        for number in 0..count {
            data[4..8].copy_from_slice(&number.to_le_bytes());
            let message = Message {
                topic,
                log_time_ns: i64::from(number) * 10 * MS,
                publish_time_ns: 0,
                sequence: 0,
                data: &data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        assert!(writer.finish().unwrap().1.is_ok());
        let file = path.join(format!("{name}_0.mcap"));
        let mut bytes = std::fs::read(&file).unwrap();
        // In the middle of the messages: the payload is of one byte only.
        let middle = bytes.len() / 3;
        let at = bytes[middle..]
            .windows(8)
            .position(|w| w == [0xab; 8])
            .unwrap();
        bytes[middle + at] = 0;
        std::fs::write(file, bytes).unwrap();
        path
    }

    /// A subscription to a topic that keeps all.
    pub(crate) fn listener(&self, topic: &str) -> Arc<Listener> {
        self.listener_with(
            topic,
            QosProfile {
                history: History::KeepAll,
                ..QosProfile::DEFAULT
            },
        )
    }

    pub(crate) fn listener_with(&self, topic: &str, qos: QosProfile) -> Arc<Listener> {
        let (_, node) = self.participant("listener");
        let listener = Arc::new(Listener {
            heard: Mutex::default(),
            clock: self.clock.clone(),
            subscription: Mutex::default(),
        });
        let subscription = node.subscribe(&spec(topic, qos), Arc::clone(&listener) as _);
        *listener.subscription.lock().unwrap() = Some(subscription.unwrap());
        listener
    }

    /// A player of a bag with these options; it does not play yet.
    pub(crate) fn player(&self, bag: &PathBuf, options: Options) -> Player {
        self.player_named("rosbag2_player", &[bag], options)
    }

    pub(crate) fn player_named(&self, name: &str, bags: &[&PathBuf], options: Options) -> Player {
        self.player_on(&self.ros_node(name), bags, options)
    }

    pub(crate) fn ros_node(&self, name: &str) -> RosNode {
        let participant = self.network.participant(name).unwrap();
        RosNode::new(participant, NodeOptions::new(name)).unwrap()
    }

    pub(crate) fn player_on(&self, node: &RosNode, bags: &[&PathBuf], options: Options) -> Player {
        let notices = Arc::clone(&self.notices);
        let reporter = Reporter::new(move |notice| notices.lock().unwrap().push(notice.clone()));
        Player::open(node, BagReader::open_all(bags).unwrap(), options, reporter).unwrap()
    }

    /// Advances steady time.
    pub(crate) fn pass(&self, millis: i64) {
        let _woke = self.clock.sleep_for(Duration::from_millis(millis));
    }

    /// Waits until all threads wait.
    pub(crate) fn settle(&self) {
        let _woke = self.clock.sleep_for(Duration::from_micros(100));
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap().clone()
    }
}

pub(crate) fn spec(topic: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: topic.to_owned(),
        type_name: TypeName::parse(STRING).unwrap(),
        type_hash: None,
        qos,
    }
}

/// A serialised message with a number in it.
pub(crate) fn payload(number: u32) -> Vec<u8> {
    let mut payload = vec![0, 1, 0, 0];
    payload.extend(number.to_le_bytes());
    payload
}

/// A latched topic.
pub(crate) const LATCHED: QosProfile = QosProfile {
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};

/// Options with which time is stopped at first.
pub(crate) fn paused() -> Options {
    Options {
        start_paused: true,
        ..Options::default()
    }
}

pub(crate) fn at_ms(millis: i64) -> Time<Ros> {
    Time::from_nanos(millis * MS)
}

/// Starts to play the range of the options.
pub(crate) fn play(player: &Player) {
    assert_eq!(
        player.control(Control::Play(PlayRange::default())),
        Ok(Answer::Done)
    );
}

/// Plays the next message; true if there was one.
pub(crate) fn next(player: &Player) -> bool {
    match player.control(Control::PlayNext) {
        Ok(Answer::Played(count)) => count == 1,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn seek(player: &Player, time: Time<Ros>) -> Result<Answer, Refusal> {
    player.control(Control::Seek(time))
}
