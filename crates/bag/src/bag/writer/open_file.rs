//! The file of a bag that is written now, and when it is full.

use std::path::PathBuf;

use super::BagOptions;
use crate::message::size_u64;
use crate::storage::{StorageWriter, WriteOutcome};
use crate::{LossCause, Message};

/// The file that is written now.
pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) writer: Box<dyn StorageWriter>,
    /// Log time of the first message, unless every message was refused.
    pub(super) first_time_ns: Option<i64>,
    /// Messages that were accepted and not refused.
    pub(super) messages: u64,
    /// Bytes of the robot's state that it began with: they do not count towards a split.
    pub(super) state_size: u64,
}

impl OpenFile {
    /// Counts messages; a file in which all of them were refused is empty, and is not split for its age.
    pub(super) fn count(&mut self, accepted: usize, outcome: &WriteOutcome) {
        let refused = outcome.unwritten.iter();
        let refused = refused.filter(|lost| lost.cause == LossCause::Storage);
        let refused: u64 = refused.map(|lost| lost.messages).sum();
        self.messages = (self.messages + size_u64(accepted)).saturating_sub(refused);
        if self.messages == 0 {
            self.first_time_ns = None;
        }
    }

    /// Number of messages of a batch that fit into this file; 0 asks for a split.
    pub(super) fn until_split(&self, batch: &[Message<'_>], options: &BagOptions) -> usize {
        let (max_duration, max_size) = (options.max_file_duration_ns, options.max_file_size);
        let Some(first_time) = self.first_time_ns else {
            // An empty file takes at least one message, however large.
            return if max_duration > 0 || max_size > 0 {
                1
            } else {
                batch.len()
            };
        };
        let mut size = self.writer.file_size().saturating_sub(self.state_size);
        let full = |size: u64| max_size > 0 && size >= max_size;
        let over = |message: &Message<'_>| {
            max_duration > 0 && message.log_time_ns.saturating_sub(first_time) > max_duration
        };
        batch
            .iter()
            .position(|message| {
                let split = full(size) || over(message);
                size += message.size();
                split
            })
            .unwrap_or(batch.len())
    }
}
