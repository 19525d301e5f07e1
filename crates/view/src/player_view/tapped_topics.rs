use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use timeloom_node::player::PlayerHandle;

use crate::channel::ChannelId;
use crate::peer::lock;
use crate::source_output::SourceOutput;
use crate::tap::Listener;

/// Passes the messages of each topic from the player to the output.
#[derive(Default)]
pub(super) struct TappedTopics {
    topics: Mutex<BTreeMap<String, Arc<TappedTopic>>>,
    player: Arc<OnceLock<PlayerHandle>>,
}

/// One topic; its messages are dropped until it has a channel.
struct TappedTopic {
    target: OnceLock<(SourceOutput, ChannelId)>,
    player: Arc<OnceLock<PlayerHandle>>,
}

impl TappedTopics {
    /// Sets the player whose time messages carry.
    pub(super) fn follow(&self, player: &PlayerHandle) {
        // A tap serves one player.
        drop(self.player.set(player.clone()));
    }

    pub(super) fn listener(&self, topic: &str) -> Listener {
        let topic = self.topic(topic);
        Arc::new(move |payload| topic.pass(payload))
    }

    pub(super) fn show(&self, topic: &str, output: &SourceOutput, channel: ChannelId) {
        // A topic is advertised once.
        drop(self.topic(topic).target.set((output.clone(), channel)));
    }

    fn topic(&self, topic: &str) -> Arc<TappedTopic> {
        let mut topics = lock(&self.topics);
        let new = || {
            Arc::new(TappedTopic {
                target: OnceLock::new(),
                player: Arc::clone(&self.player),
            })
        };
        Arc::clone(topics.entry(topic.to_owned()).or_insert_with(new))
    }
}

impl TappedTopic {
    /// Runs on the player's thread, so that its status belongs to this message.
    fn pass(&self, payload: &Bytes) {
        let (Some((output, channel)), Some(player)) = (self.target.get(), self.player.get()) else {
            return;
        };
        // While paused, the clock follows the messages of single steps.
        let time = if player.is_paused() {
            player.clock().now()
        } else {
            player.status().time
        };
        output.message(*channel, time.nanos(), payload.clone());
    }
}
