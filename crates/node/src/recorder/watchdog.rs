use std::fs;
use std::path::PathBuf;

use timeloom_bag::bag::RESERVED_FILE;
use timeloom_time::{Duration, Steady, Time};

use super::disk_guard::{DiskGuard, DiskSpace, LowSpace, LowSpaceAction};
use super::end_reason::EndReason;
use super::note::Note;
use super::shared::Shared;
use super::writer::Writer;

/// What the writer looks at now and then: the disk, the directory, its own errors.
pub(super) struct Watchdog {
    tick: Time<Steady>,
    sync: Time<Steady>,
    check: Time<Steady>,
    graph: Time<Steady>,
    /// When the last error was told; the same again and again helps nobody.
    told: Option<Time<Steady>>,
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
const TELL_AGAIN: Duration = Duration::from_secs(10);
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
            told: None,
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

    /// Tells an error of the storage, the first time and then every ten seconds with what was lost.
    pub(super) fn failed(&mut self, shared: &Shared, error: &timeloom_bag::Error, lost: u64) {
        self.lost += lost;
        let now = shared.clock.now();
        let again = |told: Time<Steady>| now - told >= TELL_AGAIN;
        if self.told.is_none_or(again) {
            self.told = Some(now);
            let text = match self.lost {
                0 => error.to_string(),
                lost => format!("{error} ({lost} messages not written so far)"),
            };
            shared.report(&Note::error(text));
        }
    }

    /// Gives the reserved space back, for the index and the metadata.
    pub(super) fn free_ballast(&mut self) {
        if let Some(path) = self.ballast.take() {
            // If it is gone already, so much the better.
            let _removed = fs::remove_file(path);
        }
    }

    /// Looks whether the bag is still there and whether the disk has room.
    pub(super) fn check(writer: &mut Writer) {
        if !writer.bag.current_path().exists() {
            let text = format!("{} is gone", writer.bag.current_path().display());
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

    /// Does what is to be done while the disk is too full.
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
                    "{} bytes are free on the disk, {} are to stay free: the recording ends",
                    space.available,
                    guard.wanted(&space)
                );
                writer.shared.report(&Note::error(text));
                writer.end(EndReason::LowDiskSpace);
                low.stopped = true;
                return low;
            };
            let text = format!("deleted {}: the disk is nearly full", deleted.display());
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

/// Takes up space on a disk that has plenty; none otherwise.
fn reserve(path: &std::path::Path) -> Option<()> {
    let space = DiskSpace::of(path.parent()?).ok()?;
    let bytes = BALLAST_BYTES.min(space.available / 16);
    let file = fs::File::create_new(path).ok()?;
    let flags = rustix::fs::FallocateFlags::empty();
    rustix::fs::fallocate(&file, flags, 0, bytes).ok()?;
    Some(())
}
