use std::fs;
use std::path::PathBuf;

use timeloom_bag::bag::RESERVED_FILE;
use timeloom_time::{Duration, Steady, Time};

use super::disk_guard::{DiskGuard, DiskSpace, LowSpace, LowSpaceAction};
use super::end_reason::EndReason;
use super::note::Note;
use super::shared::Shared;
use super::writer::Writer;

/// The periodic checks of the writer: the disk, the directory, its own errors.
pub(super) struct Watchdog {
    tick: Time<Steady>,
    sync: Time<Steady>,
    check: Time<Steady>,
    graph: Time<Steady>,
    /// When the last error was reported: repeated errors are reported only now and then.
    reported: Option<Time<Steady>>,
    lost: u64,
    /// Messages of the circular buffer that were written again, by topic.
    repeated: Vec<u64>,
    /// A file that only takes up space, to have room for the end of the bag on a full disk.
    ballast: Option<PathBuf>,
}

const TICK: Duration = Duration::from_millis(100);
const CHECK: Duration = Duration::from_secs(1);
/// Endpoints come one by one: those of a second make one text.
const GRAPH: Duration = Duration::from_secs(1);
const MOST_LOW_SPACE: usize = 1024;
const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// Enough for the index of a long recording.
const BALLAST_BYTES: u64 = 2 << 20;

impl Watchdog {
    pub(super) fn new(shared: &Shared) -> Self {
        let now = shared.started;
        let path = shared.directory.join(RESERVED_FILE);
        let ballast = reserve(&path).is_some().then_some(path);
        Self {
            tick: now,
            sync: now,
            check: now,
            graph: now,
            reported: None,
            lost: 0,
            repeated: Vec::new(),
            ballast,
        }
    }

    pub(super) fn is_due(&mut self, now: Time<Steady>) -> bool {
        is_due(&mut self.tick, now, TICK)
    }

    pub(super) fn sync_is_due(&mut self, now: Time<Steady>, interval: Duration) -> bool {
        interval > Duration::ZERO && is_due(&mut self.sync, now, interval)
    }

    pub(super) fn check_is_due(&mut self, now: Time<Steady>) -> bool {
        is_due(&mut self.check, now, CHECK)
    }

    pub(super) fn graph_is_due(&mut self, now: Time<Steady>) -> bool {
        is_due(&mut self.graph, now, GRAPH)
    }

    pub(super) fn repeated(&mut self, topic: usize) {
        if self.repeated.len() <= topic {
            self.repeated.resize(topic + 1, 0);
        }
        if let Some(count) = self.repeated.get_mut(topic) {
            *count += 1;
        }
    }

    pub(super) fn repeats(&self, topic: usize) -> u64 {
        self.repeated.get(topic).copied().unwrap_or(0)
    }

    /// Reports an error of the storage: the first one, then one every ten seconds with the number of lost messages.
    pub(super) fn failed(&mut self, shared: &Shared, error: &timeloom_bag::Error, lost: u64) {
        self.lost += lost;
        let now = shared.clock.now();
        let is_old = |reported: Time<Steady>| now - reported >= REPORT_INTERVAL;
        if self.reported.is_none_or(is_old) {
            self.reported = Some(now);
            let text = match self.lost {
                0 => error.to_string(),
                lost => format!("{error} ({lost} messages not written so far)"),
            };
            shared.report(&Note::error(text));
        }
    }

    /// Frees the reserved space, for the index and the metadata.
    pub(super) fn free_ballast(&mut self) {
        if let Some(path) = self.ballast.take() {
            let _removed = fs::remove_file(path);
        }
    }

    /// Checks that the bag still exists and that the disk has space.
    pub(super) fn check(writer: &mut Writer) {
        if !writer.bag.current_path().exists() {
            let text = format!(
                "{} was deleted: the recording ends",
                writer.bag.current_path().display()
            );
            writer.shared.report(&Note::error(text));
            return writer.end(EndReason::Vanished);
        }
        if let Some(guard) = writer.shared.options.disk_guard {
            let low = Self::make_room(writer, guard);
            if low != LowSpace::default() {
                let mut progress = writer.shared.progress();
                // Without a notifier, a disk that stays full must not fill the memory.
                if progress.low_space.len() < MOST_LOW_SPACE {
                    progress.low_space.push(low);
                }
                drop(progress);
                writer.shared.news.set();
            }
        }
    }

    /// Frees disk space or ends the recording while too little is free.
    fn make_room(writer: &mut Writer, guard: DiskGuard) -> LowSpace {
        let mut low = LowSpace::default();
        while let Ok(space) = DiskSpace::of(&writer.shared.directory)
            && guard.is_low(&space)
        {
            (low.space, low.wanted) = (space, guard.wanted(&space));
            let deleted = match guard.action {
                LowSpaceAction::Stop => None,
                LowSpaceAction::DeleteOldestFiles => writer.bag.delete_oldest_file(),
            };
            let Some(deleted) = deleted else {
                let text = format!(
                    "low disk space: {} bytes free, {} required: the recording ends",
                    space.available,
                    guard.wanted(&space)
                );
                writer.shared.report(&Note::error(text));
                writer.end(EndReason::LowDiskSpace);
                low.stopped = true;
                return low;
            };
            let text = format!("low disk space: deleted {}", deleted.display());
            writer.shared.report(&Note::warning(text));
            low.deleted.push(deleted);
        }
        low
    }
}

fn is_due(last: &mut Time<Steady>, now: Time<Steady>, interval: Duration) -> bool {
    let due = now - *last >= interval;
    if due {
        *last = now;
    }
    due
}

/// Reserves space for the end of the bag: at most a sixteenth of the free space.
fn reserve(path: &std::path::Path) -> Option<()> {
    let space = DiskSpace::of(path.parent()?).ok()?;
    let bytes = BALLAST_BYTES.min(space.available / 16);
    let file = fs::File::create_new(path).ok()?;
    let flags = rustix::fs::FallocateFlags::empty();
    rustix::fs::fallocate(&file, flags, 0, bytes).ok()?;
    Some(())
}
