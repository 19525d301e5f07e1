use std::sync::Arc;

use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::wait_cell::WaitCell;

/// Ends the waits that carry it, now and later, on any clock.
///
/// Clones are the same token. A cancelled token stays cancelled: make a new one for the next round.
///
/// ```
/// use timeloom_time::{CancelToken, Clock, Duration, Steady, WaitOptions, Woke};
/// let token = CancelToken::new();
/// token.cancel();
/// let clock = Clock::<Steady>::new();
/// let woke = clock.sleep_for_with(Duration::from_secs(3600), &WaitOptions::new().cancel(&token));
/// assert_eq!(woke, Woke::Cancelled);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Inner>);

struct Inner {
    cancelled: AtomicBool,
    waiting: Mutex<Vec<Arc<WaitCell>>>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            waiting: Mutex::new(Vec::new()),
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cancelled: {}", self.cancelled.load(Ordering::Acquire))
    }
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every wait that carries this token. Never blocks for long; may be called from anywhere.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *lock(&self.0.waiting));
        for cell in waiting {
            cell.signal();
        }
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Registers a cell to be signalled on cancel; the caller checks `is_cancelled` afterwards.
    pub(crate) fn attach(&self, cell: &Arc<WaitCell>) {
        lock(&self.0.waiting).push(Arc::clone(cell));
    }

    pub(crate) fn detach(&self, cell: &Arc<WaitCell>) {
        lock(&self.0.waiting).retain(|waiting| !Arc::ptr_eq(waiting, cell));
    }
}
