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

    /// Saves the unknown messages in the file that was just opened, and waits until they are written: the file before
    /// it, which has them too, drops them when it is finished.
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

    /// Seals buffered messages if they are old enough at `now_ns`.
    pub fn tick(&mut self, now_ns: i64) -> WriteOutcome {
        let mut outcome = self.on_file(|writer| writer.tick(now_ns));
        self.save_account(now_ns, &mut outcome);
        outcome
    }

    /// Passes everything to the operating system and waits for it, including files that are being closed.
    pub fn seal(&mut self) -> WriteOutcome {
        self.closer.wait();
        self.on_file(|writer| writer.seal())
    }

    /// Makes everything survive a power cut. Blocks on the disk.
    pub fn sync(&mut self) -> WriteOutcome {
        self.closer.wait();
        self.on_file(|writer| writer.sync())
    }

    /// Requests a sync without waiting for it, where the storage writes on its own thread.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::storage::FileSummary;
    use crate::{
        BagMetadata, BagOptions, Message, Result, StatePart, StorageId, StorageOptions, TopicId,
        TopicInfo, UnknownMessages,
    };

    /// A storage that checks the next file at the moment when it is handed to the closing thread: a split queries the
    /// size of the old file then.
    struct ClosedBySplit {
        inner: Box<dyn StorageWriter>,
        next: PathBuf,
        /// Whether the next file had the unknown messages, at each hand-over.
        found: Arc<Mutex<Vec<bool>>>,
        finished: Arc<AtomicUsize>,
    }

    impl StorageWriter for ClosedBySplit {
        fn add_topic(&mut self, topic: &TopicInfo) -> Result<TopicId> {
            self.inner.add_topic(topic)
        }

        fn write(&mut self, batch: &[Message<'_>], now_ns: i64) -> WriteOutcome {
            self.inner.write(batch, now_ns)
        }

        fn tick(&mut self, now_ns: i64) -> WriteOutcome {
            self.inner.tick(now_ns)
        }

        fn seal(&mut self) -> WriteOutcome {
            self.inner.seal()
        }

        fn sync(&mut self) -> WriteOutcome {
            self.inner.sync()
        }

        fn save_account(&mut self, account: &str) -> WriteOutcome {
            self.inner.save_account(account)
        }

        fn save_state(&mut self, part: StatePart, text: &str) -> WriteOutcome {
            self.inner.save_state(part, text)
        }

        fn file_size(&self) -> u64 {
            if self.next.exists() {
                let finished = self.finished.load(Ordering::Acquire) > 0;
                let found = !finished && has_unknown(&self.next);
                self.found.lock().unwrap().push(found);
            }
            self.inner.file_size()
        }

        fn finish(
            self: Box<Self>,
            metadata: &mut dyn FnMut(&FileSummary) -> BagMetadata,
        ) -> (FileSummary, WriteOutcome) {
            self.finished.fetch_add(1, Ordering::AcqRel);
            self.inner.finish(metadata)
        }
    }

    /// Whether a file, or the journal of sqlite3 beside it, has the unknown messages.
    fn has_unknown(file: &Path) -> bool {
        let prefix = file.to_str().unwrap();
        let files = fs::read_dir(file.parent().unwrap()).unwrap();
        let mut files = files
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().starts_with(prefix));
        files.any(|path| {
            let bytes = fs::read(path).unwrap();
            bytes.windows(18).any(|text| text == b"before_first: 4711")
        })
    }

    /// A finished file does not have them: a recorder that is killed right after a split has them nowhere else.
    #[test]
    fn a_split_saves_the_unknown_messages_in_the_new_file_before_it_closes_the_old_one() {
        let directory = tempfile::tempdir().unwrap();
        for storage in [StorageId::Mcap, StorageId::Sqlite3] {
            let options = BagOptions {
                storage: StorageOptions::preset(storage, "").unwrap(),
                ..BagOptions::default()
            };
            let path = directory.path().join(storage.name());
            let mut bag = BagWriter::create(&path, options).unwrap();
            let topic = bag.add_topic(&TopicInfo::new("/a", "a/msg/A")).unwrap();
            let unknown = UnknownMessages {
                before_first: 4711,
                ..UnknownMessages::default()
            };
            bag.set_unknown(topic, unknown);
            let found = Arc::new(Mutex::new(Vec::new()));
            let extension = storage.extension();
            let file = bag.files.take_last().unwrap();
            bag.files.put_back(super::super::open_file::OpenFile {
                writer: Box::new(ClosedBySplit {
                    inner: file.writer,
                    next: path.join(format!("{}_1.{extension}", storage.name())),
                    found: Arc::clone(&found),
                    finished: Arc::default(),
                }),
                ..file
            });
            bag.split().unwrap();
            assert_eq!(*found.lock().unwrap(), [true], "{storage:?}");
            assert!(bag.finish().unwrap().1.is_ok());
        }
    }
}
