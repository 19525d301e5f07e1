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
/// Any number of participants join it; they see only each other. It behaves as DDS does: `QoS` matching and its events,
/// histories, late joiners, deadlines, liveliness, lifespan, sequence numbers. Faults of a real network are available
/// on demand ([`Faults`]), and the true outcome of every sample can be queried ([`account`](Self::account)).
///
/// Each participant has its own thread, on which its receivers, handlers and observers are called, one at a time. They
/// may publish, subscribe, call and drop anything. On [virtual time](timeloom_time::VirtualTime) the thread acts within
/// the next microsecond, when all other threads wait, and makes one call at a time, so that a test does the same every
/// time. With manual virtual time, nothing is delivered before time is advanced.
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

    /// Joins a participant; faults and [`kill`](Self::kill) refer to it by its label.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn participant(&self, label: &str) -> Result<Arc<dyn Participant>> {
        Ok(Arc::new(LoopbackParticipant::join(&self.0, label)?))
    }

    /// Sets the faults of a scope, from now on.
    ///
    /// Where scopes overlap, the last one that was set applies. [`Faults::NONE`] removes all faults.
    pub fn set_faults(&self, scope: Scope, faults: Faults) {
        self.0
            .with(|state, now| state.set_faults(scope, faults, now));
    }

    /// Kills the participants of that label without a farewell; returns their number.
    ///
    /// They are silent at once: their publishing fails and nothing reaches them. Others see them in the graph until the
    /// [lease](LoopbackOptions::lease) expires.
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

    /// The counts of samples from one writer to one reader; `None` if the two never matched.
    pub fn account(&self, writer: Gid, reader: Gid) -> Option<LinkAccount> {
        self.0.with(|state, _| {
            let key = (writer, reader);
            let now = state.links.get(&key).map(|link| link.account);
            now.or_else(|| state.ended_links.get(&key).copied())
        })
    }
}

impl std::fmt::Debug for LoopbackNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let participants = self.0.with(|state, _| state.members.len());
        write!(f, "LoopbackNetwork({participants} participants)")
    }
}
