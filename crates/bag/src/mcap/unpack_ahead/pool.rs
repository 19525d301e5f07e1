//! The threads that unpack chunks.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::ChunkTask;
use crate::mcap::decode::Unpacker;

/// More threads than this hardly help: one reader consumes what they unpack.
const MAX_THREADS: usize = 7;

/// The pool that all readers use while there are any, so that a thousand readers start no more threads than one.
static SHARED: Mutex<Weak<UnpackPool>> = Mutex::new(Weak::new());

/// Threads that unpack chunks for all readers of this process. They end with the last reader that uses them.
pub(crate) struct UnpackPool {
    tasks: Sender<Arc<ChunkTask>>,
    threads: usize,
}

impl UnpackPool {
    /// The pool of this process: a thread for every core except the one that the reader runs on.
    pub(crate) fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = shared.upgrade() {
            return pool;
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let pool = Arc::new(Self::start((cores - 1).min(MAX_THREADS)));
        *shared = Arc::downgrade(&pool);
        pool
    }

    /// Starts so many threads, or as many as the system allows: without any, readers unpack themselves.
    fn start(threads: usize) -> Self {
        let (tasks, queue) = unbounded();
        let started = (0..threads).take_while(|_| {
            let queue = queue.clone();
            let thread = thread::Builder::new().name("bag-unpack".into());
            thread.spawn(move || unpack_all(&queue)).is_ok()
        });
        Self {
            threads: started.count(),
            tasks,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Queues a task; the reader does it itself if no thread comes to it in time.
    pub(super) fn submit(&self, task: &Arc<ChunkTask>) {
        if self.threads > 0 {
            // Without threads at the other end, the reader does it.
            self.tasks.send(Arc::clone(task)).unwrap_or_default();
        }
    }
}

fn unpack_all(tasks: &Receiver<Arc<ChunkTask>>) {
    let mut unpacker = Unpacker::default();
    for task in tasks {
        task.run(|chunk| chunk.unpack(&mut unpacker));
    }
}
