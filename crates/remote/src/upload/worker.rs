//! Uploads beside a recording, on a thread of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use timeloom_time::{CancelToken, Clock, Duration, Steady, WaitOptions};

use super::{AfterUpload, BagUpload, UploadControl, UploadOptions, UploadStatus, UploadTarget};
use crate::{Error, Result};

/// How often closed files are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How often what follows an upload is tried.
const TRIES_AFTER: u32 = 5;
/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Sends bags while they are recorded. It only reads closed files, so that the recorder never waits for it; while the
/// network is down it tries again, and what is not yet there is counted.
pub struct UploadWorker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The state of all bags of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UploadReport {
    /// The bags together. `is_finished` and `is_complete` say it of all of them.
    pub total: UploadStatus,
    /// Bags that are not complete: the local path, how far it is, and the last error.
    pub incomplete: Vec<(PathBuf, UploadStatus, Option<Error>)>,
    /// Bags that are complete, by their address.
    pub complete: Vec<String>,
    /// Complete bags after whose upload something failed: the address, and the last error.
    pub failed_after: Vec<(String, String)>,
}

#[derive(Default)]
struct State {
    bags: Vec<Bag>,
    known: BTreeSet<PathBuf>,
    /// No bag follows, and recordings have ended: one more attempt each.
    is_ending: bool,
}

struct Bag {
    path: PathBuf,
    uri: String,
    status: UploadStatus,
    error: Option<Error>,
    after: After,
    /// Taken by the thread while it sends.
    upload: Option<BagUpload>,
}

/// What follows the upload of a bag.
#[derive(Default)]
enum After {
    #[default]
    Waiting,
    Failed {
        tries: u32,
        reason: String,
    },
    Done,
}

struct Shared {
    after: Option<AfterUpload>,
    state: Mutex<State>,
    target: UploadTarget,
    options: UploadOptions,
    control: UploadControl,
    /// Cancelled to cut a pause short; replaced by a new one.
    pause: Mutex<CancelToken>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *pause).cancel();
    }

    fn sleep(&self, duration: Duration) {
        let pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        let token = pause.clone();
        drop(pause);
        let options = WaitOptions::new().cancel(&token);
        // Woken early or not: the loop looks again.
        let _woke = self.control.clock.sleep_for_with(duration, &options);
    }
}

impl UploadWorker {
    /// Starts the thread; it has no bags yet.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        target: UploadTarget,
        options: UploadOptions,
        clock: Clock<Steady>,
        after: Option<AfterUpload>,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            after,
            state: Mutex::default(),
            target,
            options,
            control: UploadControl {
                clock,
                stop: CancelToken::new(),
            },
            pause: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("upload".into());
        let thread = thread.spawn(move || run(&of_thread));
        let thread = thread.map_err(|error| Error::Threads {
            reason: error.to_string(),
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Adds the directory of a bag, once; it may still be recorded.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn add(&self, bag: &Path) -> Result<()> {
        if self.shared.state().known.contains(bag) {
            return Ok(());
        }
        let upload = BagUpload::open(bag, &self.shared.target, self.shared.options.clone())?;
        let mut state = self.shared.state();
        state.known.insert(bag.to_path_buf());
        state.bags.push(Bag {
            path: upload.path().to_path_buf(),
            uri: upload.uri(),
            status: UploadStatus::default(),
            error: None,
            after: After::Waiting,
            upload: Some(upload),
        });
        drop(state);
        self.shared.wake();
        Ok(())
    }

    /// How far everything is.
    pub fn report(&self) -> UploadReport {
        let state = self.shared.state();
        let mut report = UploadReport {
            total: UploadStatus {
                is_finished: true,
                is_complete: true,
                ..UploadStatus::default()
            },
            ..UploadReport::default()
        };
        for bag in &state.bags {
            report.total.add(&bag.status);
            if bag.status.is_complete {
                report.complete.push(bag.uri.clone());
                if let After::Failed { tries, reason } = &bag.after
                    && *tries >= TRIES_AFTER
                {
                    report.failed_after.push((bag.uri.clone(), reason.clone()));
                }
            } else {
                let entry = (bag.path.clone(), bag.status.clone(), bag.error.clone());
                report.incomplete.push(entry);
            }
        }
        report
    }

    /// The recordings have ended: one more attempt for each bag, then the thread ends. Does not wait.
    pub fn end(&self) {
        self.shared.state().is_ending = true;
        self.shared.wake();
    }

    /// Whether the thread has ended.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends the requests under way and the thread; what arrived is kept in the journal.
    pub fn stop(&self) {
        self.shared.control.stop.cancel();
        self.shared.wake();
    }
}

impl Drop for UploadWorker {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; the recording is not touched by it.
            let _ended = thread.join();
        }
    }
}

impl std::fmt::Debug for UploadWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UploadWorker({})", self.shared.target.uri())
    }
}

impl UploadStatus {
    fn add(&mut self, other: &Self) {
        self.arrived_files += other.arrived_files;
        self.arrived_bytes += other.arrived_bytes;
        self.waiting_files += other.waiting_files;
        self.waiting_bytes += other.waiting_bytes;
        self.deleted_unsent.extend_from_slice(&other.deleted_unsent);
        self.is_finished &= other.is_finished;
        self.is_complete &= other.is_complete;
    }
}

fn run(shared: &Shared) {
    let mut pause = LOOK;
    loop {
        // Read before the attempt: what was closed before the end is sent by it.
        let (is_ending, count) = {
            let state = shared.state();
            (state.is_ending, state.bags.len())
        };
        let mut failed = false;
        for index in 0..count {
            failed |= !attempt(shared, index);
            after(shared, index, is_ending);
            if shared.control.stop.is_cancelled() {
                return;
            }
        }
        if is_ending {
            return;
        }
        pause = if failed {
            pause.saturating_add(pause).min(LONGEST_PAUSE)
        } else {
            LOOK
        };
        shared.sleep(pause);
    }
}

/// Sends what is closed of one bag; false when that failed.
fn attempt(shared: &Shared, index: usize) -> bool {
    let taken = {
        let mut state = shared.state();
        let bag = state.bags.get_mut(index);
        bag.filter(|bag| !bag.status.is_complete)
            .and_then(|bag| bag.upload.take())
    };
    let Some(mut upload) = taken else {
        return true;
    };
    let sent = upload.advance(&shared.control, &mut |status| {
        if let Some(bag) = shared.state().bags.get_mut(index) {
            bag.status = status.clone();
        }
    });
    let status = upload.status();
    let mut state = shared.state();
    let Some(bag) = state.bags.get_mut(index) else {
        return true;
    };
    let succeeded = sent.is_ok();
    match sent {
        Ok(status) => (bag.status, bag.error) = (status, None),
        Err(error) => {
            tracing::warn!(bag = %bag.path.display(), %error, "upload failed");
            bag.error = Some(error);
            if let Ok(status) = status {
                bag.status = status;
            }
        }
    }
    bag.upload = Some(upload);
    succeeded
}

/// What follows the upload of a bag that is complete. Failures are counted, and hold up nothing.
fn after(shared: &Shared, index: usize, is_last: bool) {
    let Some(call) = &shared.after else {
        return;
    };
    let due = {
        let state = shared.state();
        let bag = state.bags.get(index).filter(|bag| bag.status.is_complete);
        bag.and_then(|bag| match &bag.after {
            After::Waiting => Some((bag.uri.clone(), 0)),
            After::Failed { tries, .. } if *tries < TRIES_AFTER => Some((bag.uri.clone(), *tries)),
            After::Failed { .. } | After::Done => None,
        })
    };
    let Some((uri, tries)) = due else {
        return;
    };
    let after = match call(&uri) {
        Ok(()) => After::Done,
        Err(reason) => {
            tracing::warn!(uri, reason, "failed after the upload");
            let tries = if is_last { TRIES_AFTER } else { tries + 1 };
            After::Failed { tries, reason }
        }
    };
    if let Some(bag) = shared.state().bags.get_mut(index) {
        bag.after = after;
    }
}
