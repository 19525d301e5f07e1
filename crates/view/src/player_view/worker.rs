use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_time::{BaseThread, TimeBase};

use crate::error::{Error, Result};
use crate::peer::lock;

/// A thread that reads a bag in the background; it is stopped and joined on drop.
#[derive(Default)]
pub(super) struct Worker {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<BaseThread<()>>>,
}

impl Worker {
    /// Runs `work`, which must end soon after the flag is set.
    pub(super) fn start(
        &self,
        base: &TimeBase,
        name: &str,
        work: impl FnOnce(&AtomicBool) + Send + 'static,
    ) -> Result<()> {
        let stop = Arc::clone(&self.stop);
        let spawned = base.spawn(name, move || work(&stop));
        *lock(&self.thread) = Some(spawned.map_err(|source| Error::Thread {
            name: name.to_owned(),
            source,
        })?);
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = lock(&self.thread).take() {
            // A panicked thread needs no cleanup.
            drop(thread.join());
        }
    }
}
