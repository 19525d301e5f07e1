//! Our own nodes and their endpoints, as they are announced.

use std::sync::{Mutex, MutexGuard};

use timeloom_wire::{Gid, NodeName};

use crate::node_info::{NodeInfo, ParticipantInfo};
use timeloom_wire::backend::lock;

/// The nodes of our participant.
#[derive(Debug)]
pub(crate) struct OwnNodes {
    participant: Gid,
    nodes: Mutex<Vec<(u64, NodeInfo)>>,
}

/// The endpoints of one publisher, subscription, server or client of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndpointGids {
    pub(crate) readers: Vec<Gid>,
    pub(crate) writers: Vec<Gid>,
}

impl OwnNodes {
    pub(crate) fn new(participant: Gid) -> Self {
        Self {
            participant,
            nodes: Mutex::default(),
        }
    }

    pub(crate) fn participant(&self) -> Gid {
        self.participant
    }

    /// Adds a node; returns a number that identifies it, because two may have one name.
    pub(crate) fn add(&self, name: &NodeName) -> u64 {
        let mut nodes = self.lock();
        let number = nodes.last().map_or(0, |(number, _)| number + 1);
        let info = NodeInfo {
            namespace: name.namespace().into(),
            name: name.name().into(),
            ..NodeInfo::default()
        };
        nodes.push((number, info));
        number
    }

    pub(crate) fn remove(&self, node: u64) {
        self.lock().retain(|(number, _)| *number != node);
    }

    pub(crate) fn add_ends(&self, node: u64, ends: &EndpointGids) {
        self.change(node, |info| {
            info.readers.extend(&ends.readers);
            info.writers.extend(&ends.writers);
        });
    }

    pub(crate) fn remove_ends(&self, node: u64, ends: &EndpointGids) {
        self.change(node, |info| {
            info.readers.retain(|gid| !ends.readers.contains(gid));
            info.writers.retain(|gid| !ends.writers.contains(gid));
        });
    }

    /// All of them, for an announcement.
    pub(crate) fn info(&self) -> ParticipantInfo {
        ParticipantInfo {
            participant: self.participant,
            nodes: self.lock().iter().map(|(_, info)| info.clone()).collect(),
        }
    }

    fn change(&self, node: u64, change: impl FnOnce(&mut NodeInfo)) {
        if let Some((_, info)) = self.lock().iter_mut().find(|(number, _)| *number == node) {
            change(info);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, NodeInfo)>> {
        lock(&self.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_one_name_keep_their_own_endpoints() {
        let own = OwnNodes::new(Gid([9; 16]));
        let name = NodeName::new("/", "twin").unwrap();
        let (one, two) = (own.add(&name), own.add(&name));
        let ends = |n| EndpointGids {
            readers: vec![],
            writers: vec![Gid([n; 16])],
        };
        own.add_ends(one, &ends(1));
        own.add_ends(two, &ends(2));
        own.remove(one);
        assert_eq!(own.info().nodes.len(), 1);
        assert_eq!(own.info().nodes[0].writers, [Gid([2; 16])]);
        own.remove_ends(two, &ends(2));
        assert!(own.info().nodes[0].writers.is_empty());
    }
}
