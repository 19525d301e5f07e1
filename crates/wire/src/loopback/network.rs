use std::sync::Arc;

use timeloom_time::TimeBase;

use super::faults::{Faults, Scope};
use super::link::LinkAccount;
use super::options::LoopbackOptions;
use super::participant::LoopbackParticipant;
use super::shared::Shared;
use crate::error::Result;
use crate::gid::Gid;
use crate::participant::Participant;

/// A ROS domain inside this process, on any time base.
///
/// Any number of participants join it; they see each other and nobody else. It behaves as DDS does: `QoS` matching and
/// its events, histories, late joiners, deadlines, liveliness, lifespan, sequence numbers. What a real network does
/// wrong can be asked for ([`Faults`]), and what really happened to every sample can be looked up
/// ([`account`](Self::account)).
///
/// Each participant has a thread of its own on which its receivers, handlers and observers are called, one at a time.
/// They may publish, subscribe, call and drop anything. On [virtual time](timeloom_time::VirtualTime) the thread acts
/// within the next microsecond, when everybody else has come to rest, and makes one call at a time: so a test does the
/// same every time. With manual virtual time, nothing is delivered before time is advanced.
///
/// Clones are the same network.
#[derive(Clone)]
pub struct LoopbackNetwork(Arc<Shared>);

impl LoopbackNetwork {
    /// An empty network.
    pub fn new(base: &TimeBase) -> Self {
        Self::with_options(base, LoopbackOptions::default())
    }

    /// An empty network with its seed, leases and limits.
    pub fn with_options(base: &TimeBase, options: LoopbackOptions) -> Self {
        Self(Shared::new(base, options))
    }

    /// Joins a participant; the label is what faults and [`kill`](Self::kill) know it by.
    ///
    /// # Errors
    /// When the operating system has no thread to give.
    pub fn participant(&self, label: &str) -> Result<Arc<dyn Participant>> {
        Ok(Arc::new(LoopbackParticipant::join(&self.0, label)?))
    }

    /// Changes what goes wrong within a scope, from now on.
    ///
    /// Where scopes overlap, the one that was set last counts alone. [`Faults::NONE`] makes everything well again.
    pub fn set_faults(&self, scope: Scope, faults: Faults) {
        self.0
            .with(|state, now| state.set_faults(scope, faults, now));
    }

    /// Lets the participants of that label die without good-bye; gives how many.
    ///
    /// They fall silent at once: what they publish is refused and nothing reaches them. Others believe in them until
    /// the [lease](LoopbackOptions::lease) is over.
    pub fn kill(&self, label: &str) -> usize {
        self.0.with(|state, now| {
            let named = |(_, member): &(&u32, &super::member::Member)| member.label == label;
            let ids: Vec<_> = state
                .members
                .iter()
                .filter(named)
                .map(|(id, _)| *id)
                .collect();
            for id in &ids {
                state.kill(*id, now.steady);
            }
            ids.len()
        })
    }

    /// What became of the samples from one writer to one reader; none if the two never matched.
    pub fn account(&self, writer: Gid, reader: Gid) -> Option<LinkAccount> {
        self.0.with(|state, _| {
            let key = (writer, reader);
            let now = state.links.get(&key).map(|link| link.account);
            now.or_else(|| state.past.get(&key).copied())
        })
    }
}

impl std::fmt::Debug for LoopbackNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let participants = self.0.with(|state, _| state.members.len());
        write!(f, "LoopbackNetwork({participants} participants)")
    }
}
