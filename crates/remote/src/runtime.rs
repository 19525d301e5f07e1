//! The threads of requests.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use timeloom_time::CancelToken;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use crate::{Error, Result};

/// Polling interval of cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// Never dropped: a runtime must not be dropped within another one, and the last reader may be dropped anywhere.
static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

fn runtime() -> Result<&'static Runtime> {
    let started = RUNTIME.get_or_init(|| {
        // The cryptography of TLS; another library may have installed one already, which works as well.
        let _known = rustls::crypto::ring::default_provider().install_default();
        Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("timeloom-remote")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    });
    started.as_ref().map_err(|reason| Error::Threads {
        reason: reason.clone(),
    })
}

/// Starts the threads, unless they run.
pub(crate) fn start() -> Result<()> {
    runtime().map(|_| ())
}

/// Work on the runtime's threads; cancelled when dropped.
pub(crate) struct Task<T> {
    receiver: Receiver<T>,
    abort: AbortHandle,
}

impl<T: Send + 'static> Task<T> {
    /// Starts the work at once.
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Result<Self> {
        let (sender, receiver) = channel();
        let task = runtime()?.spawn(async move {
            // The caller is gone: the result is not needed.
            let _gone = sender.send(work.await);
        });
        Ok(Self {
            receiver,
            abort: task.abort_handle(),
        })
    }

    /// Blocks until the work is done. Unlike `block_on`, this may be called on a thread of another runtime.
    pub(crate) fn wait(self) -> Result<T> {
        self.receiver.recv().map_err(|_gone| Error::Threads {
            reason: "a request ended without an answer".into(),
        })
    }
}

impl<T: Send + 'static> Task<T> {
    /// Like [`wait`](Self::wait), but gives the work up soon after the token is cancelled.
    pub(crate) fn wait_unless(self, stop: &CancelToken) -> Result<T> {
        loop {
            match self.receiver.recv_timeout(LOOK) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) if stop.is_cancelled() => {
                    return Err(Error::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Threads {
                        reason: "a request ended without an answer".into(),
                    });
                }
            }
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.abort.abort();
    }
}
