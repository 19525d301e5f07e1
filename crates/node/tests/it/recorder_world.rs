//! A robot on the loopback network, a recorder beside it, and the bag that comes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::qos::{Durability, Reliability};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::recorder::{
    BuiltinTypes, Note, Options, Recorder, Report, Selection, Status, TopicStatus,
};
use timeloom_testkit::mcap::BagScratch;
use timeloom_time::{Clock, Duration, Steady, TimeBase, VirtualTime};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{Node, NodeName, Participant, PublishOptions, Publisher, TopicSpec};

pub(crate) const STRING: &str = "std_msgs/msg/String";

pub(crate) const LATCHED: QosProfile = QosProfile {
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};
pub(crate) const BEST_EFFORT: QosProfile = QosProfile {
    reliability: Reliability::BestEffort,
    depth: 100_000,
    ..QosProfile::DEFAULT
};
pub(crate) const RELIABLE: QosProfile = QosProfile {
    depth: 100_000,
    ..QosProfile::DEFAULT
};

pub(crate) struct World {
    _here: timeloom_time::Participant,
    pub(crate) network: LoopbackNetwork,
    pub(crate) base: TimeBase,
    pub(crate) clock: Clock<Steady>,
    pub(crate) directory: BagScratch,
    notes: Arc<Mutex<Vec<Note>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let time = VirtualTime::new();
        let base = time.base();
        Self {
            _here: time.enter(),
            network: LoopbackNetwork::new(&base),
            clock: Clock::on(&base),
            base,
            directory: BagScratch::new(),
            notes: Arc::default(),
        }
    }

    pub(crate) fn bag(&self) -> PathBuf {
        self.directory.path().join("bag")
    }

    pub(crate) fn node(&self, label: &str) -> Arc<dyn Node> {
        let participant = self.network.participant(label).unwrap();
        participant
            .node(NodeName::new("/", label).unwrap())
            .unwrap()
    }

    pub(crate) fn publisher(
        &self,
        label: &str,
        topic: &str,
        qos: QosProfile,
    ) -> Box<dyn Publisher> {
        self.node(label).publish(&spec(topic, STRING, qos)).unwrap()
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, millis: i64) {
        let _woke = self.clock.sleep_for(Duration::from_millis(millis));
    }

    /// Publishes a message every `period` microseconds.
    pub(crate) fn publish(&self, publisher: &dyn Publisher, count: u32, period: i64) {
        for number in 0..count {
            publisher
                .publish(text(number, 20), PublishOptions::default())
                .unwrap();
            let _woke = self.clock.sleep_for(Duration::from_micros(period));
        }
    }

    /// Everything, with the defaults.
    pub(crate) fn options(&self) -> Options {
        let everything = Selection {
            all_topics: true,
            all_services: true,
            all_actions: true,
            ..Selection::default()
        };
        self.options_for(everything)
    }

    pub(crate) fn options_for(&self, selection: Selection) -> Options {
        let notes = Arc::clone(&self.notes);
        let mut options = Options::new(self.bag(), selection, Arc::new(BuiltinTypes));
        options.reporter = Some(Arc::new(move |note| {
            notes.lock().unwrap().push(note.clone());
        }));
        options
    }

    pub(crate) fn record(&self, options: Options) -> Recorder {
        let participant = self.network.participant("recorder").unwrap();
        self.record_on(participant, options)
    }

    /// Records as a node of that participant.
    pub(crate) fn record_on(
        &self,
        participant: Arc<dyn Participant>,
        options: Options,
    ) -> Recorder {
        let name = NodeName::new("/", "rosbag2_recorder").unwrap();
        let node = participant.node(name).unwrap();
        let recorder = Recorder::start(participant, node, options).unwrap();
        self.pass(1);
        recorder
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock().unwrap();
        notes.iter().map(|note| note.text.clone()).collect()
    }
}

pub(crate) fn spec(topic: &str, type_name: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: topic.into(),
        type_name: TypeName::parse(type_name).unwrap(),
        type_hash: None,
        qos,
    }
}

/// A payload that carries a number.
pub(crate) fn text(number: u32, size: usize) -> Bytes {
    let mut payload = vec![0, 1, 0, 0];
    payload.extend(number.to_le_bytes());
    payload.resize(size.max(8), 0);
    payload.into()
}

/// The numbers of the messages of each topic in a bag, in the order of the bag; it must be whole.
pub(crate) fn recorded(bag: &Path) -> BTreeMap<String, Vec<u32>> {
    let mut reader = BagReader::open(bag).unwrap();
    assert_eq!(reader.info().damage, Vec::<String>::new());
    let topics: Vec<_> = reader
        .info()
        .topics
        .iter()
        .map(|t| t.name.clone())
        .collect();
    let mut all: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    while let Some(message) = reader.next_message().unwrap() {
        let number = u32::from_le_bytes(message.data[4..8].try_into().unwrap());
        let name = topics[message.topic.index()].clone();
        all.entry(name).or_default().push(number);
    }
    all
}

/// Ends a recording of one bag; checks the bag's own account against the report and the messages.
pub(crate) fn finish(recorder: &Recorder) -> Report {
    let mut reports = recorder.finish().unwrap();
    assert_eq!(reports.len(), 1);
    let report = reports.remove(0);
    let in_bag = recorded(&report.directory);
    for topic in &report.topics {
        let messages = in_bag.get(&topic.name).map_or(0, Vec::len) as u64;
        assert_eq!(
            topic.statistics.messages_recorded, messages,
            "{}",
            topic.name
        );
        let record = report.metadata.topics.iter();
        let mut record = record.filter(|record| record.topic.name == topic.name);
        let record = record.next().expect("every topic is in the metadata");
        assert_eq!(record.message_count, messages, "{}", topic.name);
        assert_eq!(record.statistics, Some(topic.statistics), "{}", topic.name);
        assert_eq!(topic.in_flight, 0);
    }
    report
}

pub(crate) fn topic<'a>(topics: &'a [TopicStatus], name: &str) -> &'a TopicStatus {
    topics
        .iter()
        .find(|topic| topic.name == name)
        .unwrap_or_else(|| panic!("no {name} in {topics:?}"))
}

/// The three numbers of a topic: recorded, lost in transport, lost in the recorder.
pub(crate) fn account(topic: &TopicStatus) -> (u64, u64, u64) {
    let statistics = &topic.statistics;
    (
        statistics.messages_recorded,
        statistics.messages_lost_in_transport,
        statistics.messages_lost_in_recorder(),
    )
}

pub(crate) fn names(status: &Status) -> Vec<&str> {
    status.topics.iter().map(|t| t.name.as_str()).collect()
}
