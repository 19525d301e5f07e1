//! The state of the robot on its way into the files.

use super::BagWriter;
use crate::message::size_u64;
use crate::robot::RobotState;
use crate::storage::{StorageWriter, WriteOutcome};
use crate::{MessagePublishers, RobotGraph, RobotParameters};

impl BagWriter {
    /// Records a change of the graph of the robot: the open file gets the change, and each further file begins with the
    /// graph of that moment.
    pub fn update_graph(&mut self, changed: &RobotGraph) -> WriteOutcome {
        self.graph.update(changed);
        self.save(changed)
    }

    /// Records values of parameters: the open file gets them, and each further file begins with the values of that
    /// moment.
    pub fn update_parameters(&mut self, changed: &RobotParameters) -> WriteOutcome {
        self.parameters.update(changed);
        // Only the last values are needed again.
        self.parameters.forget_past();
        self.save(changed)
    }

    /// Records who published messages: the open file gets it, and each further file begins with the last publishers.
    pub fn update_publishers(&mut self, changed: &MessagePublishers) -> WriteOutcome {
        self.publishers.update(changed);
        // Only the last of each topic is needed again.
        self.publishers.forget_past();
        self.save(changed)
    }

    fn save<T: RobotState>(&mut self, changed: &T) -> WriteOutcome {
        if changed.is_empty() {
            return WriteOutcome::default();
        }
        let text = changed.to_yaml();
        self.on_file(|writer| writer.save_state(T::PART, &text))
    }

    /// Begins a file with the state as it is now; returns the bytes that this takes.
    pub(super) fn begin_state(&mut self, writer: &mut dyn StorageWriter) -> u64 {
        let (graph, graph_size) = begin(&mut self.graph, writer);
        let (parameters, parameters_size) = begin(&mut self.parameters, writer);
        let (publishers, publishers_size) = begin(&mut self.publishers, writer);
        for outcome in [graph, parameters, publishers] {
            self.pending.absorb(outcome);
        }
        graph_size + parameters_size + publishers_size
    }
}

fn begin<T: RobotState>(state: &mut T, writer: &mut dyn StorageWriter) -> (WriteOutcome, u64) {
    state.forget_past();
    if state.is_empty() {
        return (WriteOutcome::default(), 0);
    }
    let text = state.to_yaml();
    (writer.save_state(T::PART, &text), size_u64(text.len()))
}
