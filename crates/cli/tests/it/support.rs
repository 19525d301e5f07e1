//! A directory to work in, and the messages of bags.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use timeloom_bag::storage::StorageReader as _;
use timeloom_bag::{BagReader, Message, TopicInfo};
pub(crate) use timeloom_testkit::{Run, golden_bags as bags};

/// A directory in which the binary `timeloom` runs.
pub(crate) struct Sandbox(timeloom_testkit::Sandbox);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(timeloom_testkit::Sandbox::new(env!(
            "CARGO_BIN_EXE_timeloom"
        )))
    }
}

impl Deref for Sandbox {
    type Target = timeloom_testkit::Sandbox;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Sandbox {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A message as it is in a bag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stored {
    pub(crate) log_time_ns: i64,
    pub(crate) topic: String,
    pub(crate) publish_time_ns: i64,
    pub(crate) data: Vec<u8>,
}

/// All messages of a bag in log-time order; it must be whole.
pub(crate) fn stored(bag: &Path) -> Vec<Stored> {
    let mut reader = BagReader::open(bag).unwrap();
    assert_eq!(
        reader.info().damage,
        Vec::<String>::new(),
        "{}",
        bag.display()
    );
    let topics: Vec<TopicInfo> = reader.info().topics.clone();
    let own = |message: Message<'_>| Stored {
        log_time_ns: message.log_time_ns,
        topic: topics[message.topic.index()].name.clone(),
        publish_time_ns: message.publish_time_ns,
        data: message.data.to_vec(),
    };
    let mut all = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        all.push(own(message));
    }
    all
}

/// The same messages as from a storage that keeps no publish time.
pub(crate) fn without_publish_time(mut messages: Vec<Stored>) -> Vec<Stored> {
    for message in &mut messages {
        message.publish_time_ns = message.log_time_ns;
    }
    messages
}
