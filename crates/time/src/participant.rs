use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::event::Event;
use crate::time_base::TimeBase;
use crate::virtual_time::VirtualState;

thread_local! {
    /// The virtual worlds that this thread takes part in.
    static WORLDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Whether the current thread counts in the given world.
pub(crate) fn takes_part(world: u64) -> bool {
    WORLDS.with_borrow(|worlds| worlds.contains(&world))
}

/// Makes the current thread take part in [virtual time](crate::VirtualTime) until dropped.
#[must_use = "the thread takes part only while this guard lives"]
pub struct Participant {
    state: Arc<VirtualState>,
    /// The guard belongs to its thread.
    not_send: PhantomData<*const ()>,
}

impl Participant {
    pub(crate) fn new(state: &Arc<VirtualState>) -> Self {
        // A thread counts once however many guards it has: from the first to the last of them.
        if !takes_part(state.id()) {
            state.join();
        }
        Self::adopt(state)
    }

    fn adopt(state: &Arc<VirtualState>) -> Self {
        WORLDS.with_borrow_mut(|worlds| worlds.push(state.id()));
        Self {
            state: Arc::clone(state),
            not_send: PhantomData,
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        WORLDS.with_borrow_mut(|worlds| {
            if let Some(last) = worlds.iter().rposition(|world| *world == self.state.id()) {
                worlds.remove(last);
            }
        });
        if !takes_part(self.state.id()) {
            self.state.leave();
        }
    }
}

/// A thread that runs on a [`TimeBase`]: on virtual time it takes part.
#[derive(Debug)]
pub struct BaseThread<T> {
    thread: std::thread::JoinHandle<T>,
    done: Event,
}

impl<T> BaseThread<T> {
    /// Waits for the thread's end; virtual time continues meanwhile.
    ///
    /// # Errors
    /// The panic of the thread.
    pub fn join(self) -> std::thread::Result<T> {
        self.done.wait();
        self.thread.join()
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.done.is_set()
    }
}

impl TimeBase {
    /// Starts a thread that may wait on this base. On virtual time it takes part, and counts as busy from now on, even
    /// before it runs.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<BaseThread<T>> {
        let done = Event::new(self);
        let at_end = SetOnDrop(done.clone());
        let world = self.virtual_state().cloned();
        if let Some(world) = &world {
            world.join();
        }
        let taking_part = world.clone();
        let body = move || {
            let _participant = taking_part.map(|world| Participant::adopt(&world));
            // Dropped first, also in a panic: the joining thread is busy before this one leaves.
            let _at_end = at_end;
            run()
        };
        let spawned = std::thread::Builder::new().name(name.into()).spawn(body);
        if let (Err(_), Some(world)) = (&spawned, &world) {
            world.leave();
        }
        Ok(BaseThread {
            thread: spawned?,
            done,
        })
    }
}

struct SetOnDrop(Event);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
