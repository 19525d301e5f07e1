//! Ctrl-C and SIGTERM: the verb ends and prints its results.

use std::sync::{Arc, Mutex};

use timeloom_time::CancelToken;
use timeloom_time::sync::lock;

type Waker = Box<dyn Fn() + Send>;

/// Set once, by Ctrl-C or SIGTERM.
#[derive(Clone)]
pub(crate) struct Interrupt {
    token: CancelToken,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl Interrupt {
    /// Takes over the signals of the process; once.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let interrupt = Self {
            token: CancelToken::new(),
            wakers: Arc::default(),
        };
        let inside = interrupt.clone();
        ctrlc::set_handler(move || inside.interrupt())?;
        Ok(interrupt)
    }

    fn interrupt(&self) {
        // In this order: a woken thread looks at the token.
        self.token.cancel();
        for wake in &*lock(&self.wakers) {
            wake();
        }
    }

    /// Calls `wake` when it happens, to end a wait.
    pub(crate) fn wakes(&self, wake: impl Fn() + Send + 'static) {
        let mut wakers = lock(&self.wakers);
        wakers.push(Box::new(wake));
    }

    /// Whether it has happened.
    pub(crate) fn happened(&self) -> bool {
        self.token.is_cancelled()
    }

    /// For waits on clocks.
    pub(crate) fn token(&self) -> &CancelToken {
        &self.token
    }
}
