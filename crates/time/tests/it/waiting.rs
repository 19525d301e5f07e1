//! One wait in any of its forms: a blocked thread, a future, a file descriptor.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use timeloom_time::{
    BaseThread, Clock, Kind, Sleep, SleepDescriptor, Time, VirtualTime, WaitOptions, Woke,
};

/// The form of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Async,
    Descriptor,
}

pub(crate) const FORMS: [Form; 3] = [Form::Blocking, Form::Async, Form::Descriptor];

/// A wait in progress on manual virtual time.
pub(crate) struct Waiting<K: Kind> {
    world: VirtualTime,
    kind: Kinds<K>,
    form: Form,
}

enum Kinds<K: Kind> {
    Thread(Option<BaseThread<Woke<K>>>),
    Future(Pin<Box<Sleep<K>>>, Arc<Flag>),
    Descriptor(Box<SleepDescriptor<K>>),
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<K: Kind> Waiting<K> {
    /// Begins a wait; when this returns, it misses no change of the clock.
    pub(crate) fn begin(
        form: Form,
        world: &VirtualTime,
        clock: &Clock<K>,
        until: Time<K>,
        options: &WaitOptions,
    ) -> Self {
        let kind = match form {
            Form::Blocking => {
                let (clock, options) = (clock.clone(), options.clone());
                let sleep = move || clock.sleep_until_with(until, &options);
                Kinds::Thread(Some(world.spawn("wait", sleep)))
            }
            Form::Async => {
                let sleep = Box::pin(clock.sleep_until_async_with(until, options));
                // Set: a future is polled once before its waker is used.
                Kinds::Future(sleep, Arc::new(Flag(AtomicBool::new(true))))
            }
            Form::Descriptor => {
                let descriptor = clock.sleep_until_descriptor(until, options);
                Kinds::Descriptor(Box::new(descriptor.expect("a file descriptor")))
            }
        };
        let mut waiting = Self {
            world: world.clone(),
            kind,
            form,
        };
        if form == Form::Async {
            waiting.look();
        }
        world.settle();
        waiting
    }

    /// The reason why the wait ended; `None` if it continues. Checks only if the wait was signalled.
    pub(crate) fn look(&mut self) -> Option<Woke<K>> {
        match &mut self.kind {
            Kinds::Thread(thread) => {
                self.world.settle();
                let ended = thread.as_ref().is_some_and(BaseThread::is_finished);
                let thread = if ended { thread.take() } else { None };
                thread.map(|thread| thread.join().expect("no panic"))
            }
            Kinds::Future(sleep, flag) => {
                if !flag.0.swap(false, Ordering::SeqCst) {
                    return None;
                }
                let waker = Waker::from(Arc::clone(flag));
                match sleep.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(woke) => {
                        flag.0.store(true, Ordering::SeqCst);
                        Some(woke)
                    }
                    Poll::Pending => None,
                }
            }
            Kinds::Descriptor(descriptor) => {
                if !is_readable(descriptor) {
                    return None;
                }
                let woke = descriptor.check();
                assert_eq!(is_readable(descriptor), woke.is_some(), "readable if over");
                woke
            }
        }
    }

    /// The outcome of a wait that must be over.
    #[track_caller]
    pub(crate) fn end(mut self) -> Woke<K> {
        let form = self.form;
        self.look()
            .unwrap_or_else(|| panic!("the {form:?} wait goes on"))
    }

    /// Asserts that the wait continues.
    #[track_caller]
    pub(crate) fn goes_on(&mut self) {
        let form = self.form;
        if let Some(woke) = self.look() {
            panic!("the {form:?} wait ended: {woke:?}");
        }
    }
}

/// Whether the descriptor is readable at this moment.
pub(crate) fn is_readable<K: Kind>(descriptor: &SleepDescriptor<K>) -> bool {
    let mut polled = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).expect("a pollable descriptor") == 1
}
