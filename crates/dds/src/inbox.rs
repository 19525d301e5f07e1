//! Requests and replies on their way from Cyclone's threads to the participant's thread.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::dispatcher::{Dispatch, Task};
use crate::shared::Shared;
use crate::sys::{EndpointListener, ReaderHandle, TakenSample};
use timeloom_wire::backend::lock;
use timeloom_wire::backend::{NoteKind, Notes};

/// Handles samples one by one, on the participant's thread.
pub(crate) trait SampleHandler: Send + Sync {
    fn handle_sample(&self, sample: TakenSample);
}

/// Takes samples where they arrive, so that none is overwritten while the participant's thread is busy. Handlers may
/// write, which must not happen on the thread that receives acknowledgements.
pub(crate) struct Inbox {
    waiting: Arc<Waiting>,
    dispatch: Dispatch,
}

struct Waiting {
    // Weak: the owner of the reader owns the target as well.
    target: Weak<dyn SampleHandler>,
    samples: Mutex<VecDeque<TakenSample>>,
    notes: Arc<Notes>,
    scheduled: AtomicBool,
}

/// Requests above this limit are dropped with a note, so that a flood cannot fill the memory.
const MOST: usize = 10_000;

impl Inbox {
    pub(crate) fn new(target: &Arc<impl SampleHandler + 'static>, shared: &Shared) -> Self {
        let target: Weak<dyn SampleHandler> = Arc::downgrade(target) as _;
        Self {
            waiting: Arc::new(Waiting {
                target,
                samples: Mutex::default(),
                notes: Arc::clone(&shared.notes),
                scheduled: AtomicBool::new(false),
            }),
            dispatch: shared.dispatch().clone(),
        }
    }
}

impl EndpointListener for Inbox {
    fn data_available(&self, reader: ReaderHandle) {
        let waiting = &self.waiting;
        while reader.take(|sample| waiting.push(sample)) > 0 {}
        self.dispatch.schedule(waiting);
    }
}

impl Waiting {
    fn push(&self, sample: TakenSample) {
        let mut samples = self.lock();
        if samples.len() < MOST {
            samples.push_back(sample);
        } else {
            drop(samples);
            self.notes.add(
                NoteKind::Dropped,
                &format!("more than {MOST} requests or replies wait to be handled"),
            );
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<TakenSample>> {
        lock(&self.samples)
    }
}

impl Task for Waiting {
    fn scheduled(&self) -> &AtomicBool {
        &self.scheduled
    }

    fn run(&self) {
        loop {
            let next = self.lock().pop_front();
            match (next, self.target.upgrade()) {
                (Some(sample), Some(target)) => target.handle_sample(sample),
                _ => return,
            }
        }
    }
}
