//! A ROS node on Cyclone DDS from `PyPI`, in a process of its own.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

use timeloom_testkit::JsonPeer;
pub(crate) use timeloom_testkit::python;

use crate::robot::LOOPBACK;

pub(crate) struct Peer(JsonPeer);

impl Peer {
    /// `None` where there is no Python for it.
    pub(crate) fn new(domain: u32) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/ros_peer.py");
        let mut command = Command::new(python()?);
        command
            .arg(script)
            .arg(domain.to_string())
            .env("CYCLONEDDS_URI", LOOPBACK);
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
