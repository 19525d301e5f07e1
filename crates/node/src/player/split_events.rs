use std::path::PathBuf;

use timeloom_bag::BagReader;
use timeloom_msg::{QosProfile, Value};

use crate::{Result, RosNode, TypedPublisher};

/// The `QoS` of rosbag2's events.
const QOS: QosProfile = QosProfile {
    depth: 1,
    ..QosProfile::DEFAULT
};

/// Publishes on `events/read_split` when playing moves from one file of a bag to the next.
pub(super) struct SplitEvents {
    publisher: TypedPublisher,
    files: Vec<PathBuf>,
    node_name: String,
    current: Option<u32>,
}

impl SplitEvents {
    /// The topic exists for every bag, as in rosbag2; a bag of one file has no event. Nor have several bags: no single
    /// file of them is played.
    pub(super) fn open(node: &RosNode, reader: &BagReader) -> Result<Self> {
        let files: Vec<PathBuf> = if reader.bags().len() == 1 {
            reader.files().map(|(path, _)| path.to_owned()).collect()
        } else {
            Vec::new()
        };
        let type_name = "rosbag2_interfaces/msg/ReadSplitEvent";
        Ok(Self {
            publisher: node.publisher("events/read_split", type_name, QOS)?,
            files,
            node_name: node.name().full(),
            current: None,
        })
    }

    /// A message of that file is played.
    pub(super) fn at(&mut self, file: u32) {
        if self.files.len() < 2 {
            return;
        }
        // Files may overlap a little: a file is not opened again.
        if self.current.is_some_and(|current| file <= current) {
            return;
        }
        let before = self.current.replace(file);
        if let Some(before) = before {
            // Subscriptions get the next event; a player does not stop for a failed one.
            let _published = self.publish(before, file);
        }
    }

    /// Playing continues at another position.
    pub(super) fn moved(&mut self) {
        self.current = None;
    }

    fn publish(&self, closed: u32, opened: u32) -> Result<()> {
        let path = |file: u32| -> Value {
            let path = usize::try_from(file)
                .ok()
                .and_then(|file| self.files.get(file));
            let text = path.map(|path| path.to_string_lossy().into_owned());
            Value::String(text.unwrap_or_default().as_str().into())
        };
        let mut event = self.publisher.message()?;
        event.set("closed_file", path(closed))?;
        event.set("opened_file", path(opened))?;
        event.set("node_name", Value::String(self.node_name.as_str().into()))?;
        self.publisher.publish(&event)?;
        Ok(())
    }
}
