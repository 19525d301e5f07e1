//! eclipse-zenoh from `PyPI` with the layer of `rmw_zenoh`, in a process of its own.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::Command;

use timeloom_testkit::{JsonPeer, python};

pub(crate) struct Peer(JsonPeer);

impl Peer {
    /// A peer that looks for others at the router; `None` without Python.
    pub(crate) fn start(router: &str) -> Option<Self> {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/zenoh_peer.py");
        let mut command = Command::new(python()?);
        command.arg(script).arg(router);
        Some(Self(JsonPeer::start(command)))
    }
}

impl Deref for Peer {
    type Target = JsonPeer;

    fn deref(&self) -> &JsonPeer {
        &self.0
    }
}

impl DerefMut for Peer {
    fn deref_mut(&mut self) -> &mut JsonPeer {
        &mut self.0
    }
}
