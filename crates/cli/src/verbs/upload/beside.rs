//! The upload beside a recording.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_remote::{RemoteOptions, UploadOptions, UploadTarget, UploadWorker};
use timeloom_text::{counted, size};
use timeloom_time::{Clock, Duration, Steady};

use super::follow::News;
use super::once::bag_error;
use super::{CatalogPolicy, RecordArguments, outcome};
use crate::context::Context;
use crate::live::Interrupt;

/// How often the end of the upload is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Uploads what a recorder closes.
pub(crate) struct Upload {
    worker: UploadWorker,
    news: News,
    /// Signals to end; the second one ends the upload, too.
    signals: Arc<AtomicUsize>,
    clock: Clock<Steady>,
}

impl Upload {
    /// `None` when no upload is asked for. Fails before anything is recorded if the address is not usable.
    pub(crate) fn start(
        arguments: &RecordArguments,
        clock: Clock<Steady>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(address) = &arguments.upload else {
            return Ok(None);
        };
        let target = UploadTarget::open(address, &RemoteOptions::default()).map_err(bag_error)?;
        let options = UploadOptions {
            delete: arguments.delete_uploaded,
            bytes_per_second: arguments.upload_limit,
            ..UploadOptions::default()
        };
        let policy = CatalogPolicy::new(arguments.index_uploaded, arguments.no_index_uploaded);
        let after = policy.after_upload(target.uri());
        let news = News::new(target.uri());
        let worker =
            UploadWorker::start(target, options, clock.clone(), after).map_err(bag_error)?;
        Ok(Some(Self {
            worker,
            news,
            signals: Arc::default(),
            clock,
        }))
    }

    /// Counts the signals of the process.
    pub(crate) fn count_signals(&self, interrupt: &Interrupt) {
        let signals = Arc::clone(&self.signals);
        interrupt.wakes(move || {
            signals.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Adds the bag that is recorded now, and prints what is new.
    pub(crate) fn look(&mut self, directory: &Path, context: &mut Context) {
        if directory.is_dir()
            && let Err(error) = self.worker.add(directory)
        {
            context.printer.warning(&format!("upload: {error}"));
        }
        self.news.print(&self.worker.report(), context);
    }

    /// Sends the rest; true when everything is there. A second Ctrl-C ends it before.
    pub(crate) fn finish(mut self, context: &mut Context) -> bool {
        self.worker.end();
        let waiting = self.worker.report().total;
        if waiting.waiting_files > 0 {
            let text = format!(
                "uploading the rest, {}: Ctrl-C ends it",
                size(waiting.waiting_bytes)
            );
            context.printer.aside(&text);
        }
        let mut progress = context.progress("uploading");
        while !self.worker.has_ended() {
            if self.signals.load(Ordering::Relaxed) > 1 {
                self.worker.stop();
            }
            let total = self.worker.report().total;
            let done = total.arrived_bytes;
            progress.update_bytes(done, done + total.waiting_bytes);
            // Only its time ends this wait.
            let _woke = self.clock.sleep_for(LOOK);
        }
        drop(progress);
        let report = self.worker.report();
        self.news.print(&report, context);
        for (path, status, _) in &report.incomplete {
            let waiting = counted(status.waiting_files, "file");
            let deleted = outcome::deleted(status).map(|text| format!(", {text}"));
            let text = format!(
                "not uploaded: {waiting} ({}) of {}{}",
                size(status.waiting_bytes),
                path.display(),
                deleted.unwrap_or_default()
            );
            context.printer.warning(&text);
            let hint = format!(
                "`timeloom upload {} --to …` goes on from there",
                path.display()
            );
            context.printer.hint(&hint);
        }
        report.incomplete.is_empty()
    }
}
