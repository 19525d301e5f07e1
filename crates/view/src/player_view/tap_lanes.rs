use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use timeloom_node::player::PlayerHandle;

use crate::channel::ChannelId;
use crate::peer::lock;
use crate::stage::Stage;
use crate::tap::Listener;

/// The way of each topic's messages from the player to the stage.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Mutex<BTreeMap<String, Arc<Lane>>>,
    player: Arc<OnceLock<PlayerHandle>>,
}

/// One topic; it leads nowhere before it is shown.
struct Lane {
    target: OnceLock<(Stage, ChannelId)>,
    player: Arc<OnceLock<PlayerHandle>>,
}

impl Lanes {
    /// Whose time messages carry.
    pub(super) fn follow(&self, player: &PlayerHandle) {
        // A tap is made for one player.
        drop(self.player.set(player.clone()));
    }

    pub(super) fn listener(&self, topic: &str) -> Listener {
        let lane = self.lane(topic);
        Arc::new(move |payload| lane.pass(payload))
    }

    pub(super) fn show(&self, topic: &str, stage: &Stage, channel: ChannelId) {
        // A topic is shown once.
        drop(self.lane(topic).target.set((stage.clone(), channel)));
    }

    fn lane(&self, topic: &str) -> Arc<Lane> {
        let mut lanes = lock(&self.lanes);
        let new = || {
            Arc::new(Lane {
                target: OnceLock::new(),
                player: Arc::clone(&self.player),
            })
        };
        Arc::clone(lanes.entry(topic.to_owned()).or_insert_with(new))
    }
}

impl Lane {
    /// On the player's own thread: its status is that of this very message.
    fn pass(&self, payload: &Bytes) {
        let (Some((stage, channel)), Some(player)) = (self.target.get(), self.player.get()) else {
            return;
        };
        // While time stands, messages that are stepped to take the clock along.
        let time = if player.is_paused() {
            player.clock().now()
        } else {
            player.status().time
        };
        stage.message(*channel, time.nanos(), payload.clone());
    }
}
