//! The graph of the robot in the files of a bag.

use super::BagWriter;
use crate::RobotGraph;
use crate::message::size_u64;
use crate::storage::{StorageWriter, WriteOutcome};

impl BagWriter {
    /// Records a change of the graph of the robot: the open file gets the change, and each further file begins with the
    /// graph of that moment.
    pub fn update_graph(&mut self, changed: &RobotGraph) -> WriteOutcome {
        if changed.is_empty() {
            return WriteOutcome::default();
        }
        self.graph.update(changed);
        let text = changed.to_yaml();
        self.on_file(|writer| writer.save_graph(&text))
    }

    /// Begins a file with the current graph; returns its size in bytes.
    pub(super) fn begin_graph(&mut self, writer: &mut dyn StorageWriter) -> u64 {
        self.graph.forget_vanished();
        if self.graph.is_empty() {
            return 0;
        }
        let text = self.graph.to_yaml();
        self.pending.absorb(writer.save_graph(&text));
        size_u64(text.len())
    }
}
