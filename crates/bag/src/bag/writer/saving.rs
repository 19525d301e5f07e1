//! Saving: when written data reaches the operating system and the disk.

use super::BagWriter;
use crate::storage::{StorageWriter, WriteOutcome};

impl BagWriter {
    /// Saves the account in the open file when it changed and the last save is a second old; false if it did not.
    pub(super) fn save_account(&mut self, now_ns: i64, outcome: &mut WriteOutcome) -> bool {
        let Some(account) = self.account.save(now_ns, &self.topics) else {
            return false;
        };
        if let Some(file) = self.files.current_mut() {
            let saved = file.writer.save_account(&account);
            self.account.settle(&saved);
            outcome.absorb(saved);
        }
        true
    }

    /// Saves what is not known in the file that was just opened, and waits until it is written: the file before it, which
    /// has it too, drops it when it is finished.
    pub(super) fn carry_unknown(&mut self, now_ns: i64) {
        let mut saved = WriteOutcome::default();
        if self.save_account(now_ns, &mut saved)
            && let Some(file) = self.files.current_mut()
        {
            let sealed = file.writer.seal();
            self.account.settle(&sealed);
            saved.absorb(sealed);
        }
        self.pending.absorb(saved);
    }

    /// Seals what is buffered if it is old enough at `now_ns`.
    pub fn tick(&mut self, now_ns: i64) -> WriteOutcome {
        let mut outcome = self.on_file(|writer| writer.tick(now_ns));
        self.save_account(now_ns, &mut outcome);
        outcome
    }

    /// Hands everything to the operating system and waits for it, files that are being closed included.
    pub fn seal(&mut self) -> WriteOutcome {
        self.closer.wait();
        self.on_file(|writer| writer.seal())
    }

    /// Makes everything survive a power cut. Blocks on the disk.
    pub fn sync(&mut self) -> WriteOutcome {
        self.closer.wait();
        self.on_file(|writer| writer.sync())
    }

    /// Asks for a sync without waiting for it, where the storage writes on a thread of its own.
    pub fn request_sync(&mut self) -> WriteOutcome {
        self.on_file(|writer| writer.request_sync())
    }

    pub(super) fn on_file(
        &mut self,
        action: impl FnOnce(&mut Box<dyn StorageWriter>) -> WriteOutcome,
    ) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        if let Some(file) = self.files.current_mut() {
            outcome = action(&mut file.writer);
            file.count(0, &outcome);
            self.account.settle(&outcome);
        }
        self.collect(&mut outcome);
        outcome
    }
}
