use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use crate::clock_core::ClockCore;
use crate::jump::{JumpThreshold, TimeJump};
use crate::kind::{Kind, Ros};
use crate::raw_jump::RawJump;
use crate::sync::{Condvar, Mutex, ThreadId, current, lock, wait_timeout};

/// Callbacks around the jumps of a clock: one before the new time is published, one after.
///
/// No lock is held while they run. They may read the clock (before: the old time, after: the new), control it (which
/// takes effect when the jump is over), add and remove handlers, and panic. A wait on the same clock inside a callback
/// returns [`Woke::Jumped`](crate::Woke::Jumped) at once, because time cannot continue before the callback ends.
///
/// While the callbacks before a *backward* jump run, every other thread that reads the clock blocks, so that no reader
/// sees the new time before all state of the old one is cleared; see [`Clock::try_now`](crate::Clock::try_now) for a
/// read that does not block. A callback that does not return within the clock's patience (one second) is abandoned: the
/// jump happens without it, and the clock's [reporter](crate::Clock::set_reporter) gets its name.
///
/// ```
/// use timeloom_time::{Clock, Duration, JumpHandler, JumpThreshold, Ros, Time, TimeHub};
/// let clock = Clock::<Ros>::new();
/// let handle = clock.add_jump_handler(
///     JumpHandler::new("tf buffer", JumpThreshold::DISRUPTIVE)
///         .before(|jump| println!("about to go from {} to {}", jump.old, jump.new))
///         .after(|jump| println!("time is now {}", jump.new)),
/// );
/// drop(handle); // no more calls
/// ```
#[must_use = "a handler does nothing until it is added to a clock"]
pub struct JumpHandler<K: Kind = Ros> {
    name: String,
    threshold: JumpThreshold,
    before: Option<Callback<TimeJump<K>>>,
    after: Option<Callback<TimeJump<K>>>,
}

type Callback<J> = Box<dyn Fn(&J) + Send + Sync>;

impl<K: Kind> JumpHandler<K> {
    /// A handler without callbacks yet; the name appears in warnings.
    pub fn new(name: impl Into<String>, threshold: JumpThreshold) -> Self {
        Self {
            name: name.into(),
            threshold,
            before: None,
            after: None,
        }
    }

    /// Called before the new time is published; reads still give the old time.
    pub fn before(mut self, callback: impl Fn(&TimeJump<K>) + Send + Sync + 'static) -> Self {
        self.before = Some(Box::new(callback));
        self
    }

    /// Called after the new time is published.
    pub fn after(mut self, callback: impl Fn(&TimeJump<K>) + Send + Sync + 'static) -> Self {
        self.after = Some(Box::new(callback));
        self
    }

    pub(crate) fn erase(self) -> Registered {
        let erase = |callback: Callback<TimeJump<K>>| -> Callback<RawJump> {
            Box::new(move |jump: &RawJump| callback(&jump.typed()))
        };
        Registered {
            name: self.name,
            threshold: self.threshold,
            before: self.before.map(erase),
            after: self.after.map(erase),
            calls: Mutex::new(Calls::default()),
            ended: Condvar::new(),
        }
    }
}

/// A handler in a clock's list.
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) threshold: JumpThreshold,
    before: Option<Callback<RawJump>>,
    after: Option<Callback<RawJump>>,
    calls: Mutex<Calls>,
    ended: Condvar,
}

#[derive(Default)]
struct Calls {
    /// The threads that are inside a callback.
    threads: Vec<ThreadId>,
    /// No more calls: the handle is dropped, though a jump in progress may still have this handler on its list.
    removed: bool,
    /// A call did not return in time. Until it returns, there are no further calls: each would hang as well.
    hangs: bool,
}

impl Registered {
    pub(crate) fn wants_before(&self) -> bool {
        self.before.is_some()
    }

    /// Calls the callback for before the jump; the panic message if it panicked.
    pub(crate) fn call_before(&self, jump: &RawJump) -> Result<(), String> {
        self.call(self.before.as_ref(), jump)
    }

    /// Calls the callback for after the jump; the panic message if it panicked.
    pub(crate) fn call_after(&self, jump: &RawJump) -> Result<(), String> {
        self.call(self.after.as_ref(), jump)
    }

    fn call(&self, callback: Option<&Callback<RawJump>>, jump: &RawJump) -> Result<(), String> {
        let Some(callback) = callback else {
            return Ok(());
        };
        let me = current().id();
        let mut calls = lock(&self.calls);
        if calls.removed || calls.hangs {
            return Ok(());
        }
        calls.threads.push(me);
        drop(calls);
        let outcome = catch_unwind(AssertUnwindSafe(|| callback(jump)));
        let mut calls = lock(&self.calls);
        if let Some(mine) = calls.threads.iter().position(|thread| *thread == me) {
            calls.threads.swap_remove(mine);
        }
        calls.hangs &= !calls.threads.is_empty();
        drop(calls);
        self.ended.notify_all();
        outcome.map_err(|panic| panic_message(panic.as_ref()))
    }

    /// Records that a call hangs; there are no further calls until it returns.
    pub(crate) fn give_up(&self) {
        let mut calls = lock(&self.calls);
        calls.hangs = !calls.threads.is_empty();
    }

    /// Prevents further calls and waits until no other thread is inside one, for at most `patience`.
    fn silence(&self, patience: std::time::Duration) {
        let me = current().id();
        let mut calls = lock(&self.calls);
        calls.removed = true;
        while calls.threads.iter().any(|thread| *thread != me) {
            let (guard, timed_out) = wait_timeout(&self.ended, calls, patience);
            calls = guard;
            if timed_out {
                return;
            }
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

/// Keeps a [`JumpHandler`] on its clock; dropping it removes the handler: no call begins after the drop, not even for a
/// jump in progress.
///
/// The drop waits for a call in progress on another thread, so that everything that the callbacks borrow is free
/// afterwards; it does not wait inside the handler's own callback, nor longer than the clock's patience. It may outlive
/// the clock.
#[must_use = "dropping the handle removes the handler"]
pub struct JumpHandle {
    core: Weak<ClockCore>,
    handler: Arc<Registered>,
}

impl JumpHandle {
    pub(crate) fn new(core: &Arc<ClockCore>, handler: Arc<Registered>) -> Self {
        Self {
            core: Arc::downgrade(core),
            handler,
        }
    }
}

impl Drop for JumpHandle {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.remove_handler(&self.handler);
            self.handler.silence(core.patience());
        }
    }
}

impl std::fmt::Debug for JumpHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JumpHandle({})", self.handler.name)
    }
}
