use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};

use crate::backend::lock;
use crate::error::{Error, Result};
use crate::participant::Node;
use crate::service::{Reply, ReplyReceiver, ServiceClient};
use crate::spec::ServiceSpec;

/// Interval of the checks while waiting for a server: clients are not notified of new servers.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Calls a service and blocks for the answer, on any transport and any time base.
///
/// Calls from several threads may overlap; each gets its own answer. Do not call from inside a receiver of the
/// same participant: the answer comes on the thread that would be blocked.
pub struct Caller {
    service: String,
    base: TimeBase,
    client: Box<dyn ServiceClient>,
    replies: Arc<Replies>,
}

/// Ends the calls of a [`Caller`] from another thread, for good.
#[derive(Clone)]
pub struct CallStopper(Arc<Replies>);

#[derive(Default)]
struct Replies(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    waiting: BTreeMap<i64, Waiting>,
    /// Calls that are being sent: their sequence numbers are not known yet.
    sending: usize,
    /// Replies that arrived while a call was being sent: they may belong to it.
    early: BTreeMap<i64, Bytes>,
    stopped: bool,
}

struct Waiting {
    answered: Event,
    payload: Option<Bytes>,
}

impl Caller {
    /// A caller of the service; `base` is the participant's [time base](crate::Participant::time_base).
    ///
    /// # Errors
    /// When the middleware refuses the client.
    pub fn new(node: &dyn Node, service: &ServiceSpec, base: &TimeBase) -> Result<Self> {
        let replies = Arc::new(Replies::default());
        let client = node.client(service, Arc::clone(&replies) as Arc<dyn ReplyReceiver>)?;
        Ok(Self {
            service: service.name.clone(),
            base: base.clone(),
            client,
            replies,
        })
    }

    /// Sends a serialised request and blocks until its response comes, or `timeout` of steady time has passed.
    ///
    /// # Errors
    /// [`Error::CallTimedOut`], [`Error::CallStopped`], or the error of the middleware.
    pub fn call(&self, payload: Bytes, timeout: Duration) -> Result<Bytes> {
        let answered = Event::new(&self.base);
        self.replies.lock().sending += 1;
        let sent = self.client.call(payload);
        let number = self.replies.register(sent, &answered)?;
        answered.wait_for(timeout);
        // A reply that arrived at the last moment still counts.
        self.replies.take(number).ok_or_else(|| {
            let service = self.service.clone();
            if self.replies.lock().stopped {
                Error::CallStopped { service }
            } else {
                Error::CallTimedOut { service, timeout }
            }
        })
    }

    /// A handle that ends pending and future calls.
    pub fn stopper(&self) -> CallStopper {
        CallStopper(Arc::clone(&self.replies))
    }

    /// Blocks until a server exists, `timeout` of steady time has passed, or it is stopped; true if one exists.
    pub fn wait_for_server(&self, timeout: Duration) -> bool {
        let clock = Clock::<Steady>::on(&self.base);
        let until = clock.now().saturating_add(timeout);
        while self.client.servers() == 0 {
            if clock.now() >= until || self.replies.lock().stopped {
                return false;
            }
            let _woke = clock.sleep_until(until.min(clock.now().saturating_add(LOOK_AGAIN)));
        }
        true
    }

    /// The underlying client.
    pub fn client(&self) -> &dyn ServiceClient {
        &*self.client
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Caller({})", self.service)
    }
}

impl Replies {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        lock(&self.0)
    }

    /// Registers the result of sending a call; if it was sent, its reply is awaited from now on.
    fn register(&self, sent: Result<i64>, answered: &Event) -> Result<i64> {
        let mut pending = self.lock();
        pending.sending -= 1;
        let early = sent
            .as_ref()
            .ok()
            .and_then(|number| pending.early.remove(number));
        if pending.sending == 0 {
            pending.early.clear();
        }
        let number = sent?;
        if early.is_some() || pending.stopped {
            answered.set();
        }
        let waiting = Waiting {
            answered: answered.clone(),
            payload: early,
        };
        pending.waiting.insert(number, waiting);
        Ok(number)
    }

    fn take(&self, number: i64) -> Option<Bytes> {
        self.lock().waiting.remove(&number)?.payload
    }
}

impl CallStopper {
    /// Ends pending and future calls: each fails with [`Error::CallStopped`].
    pub fn stop(&self) {
        let mut pending = self.0.lock();
        pending.stopped = true;
        for waiting in pending.waiting.values() {
            waiting.answered.set();
        }
    }
}

impl std::fmt::Debug for CallStopper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallStopper(stopped: {})", self.0.lock().stopped)
    }
}

impl ReplyReceiver for Replies {
    fn reply(&self, reply: Reply) {
        let mut pending = self.lock();
        if let Some(waiting) = pending.waiting.get_mut(&reply.sequence) {
            // With several servers, the first reply counts.
            waiting.payload.get_or_insert(reply.payload);
            waiting.answered.set();
        } else if pending.sending > 0 {
            pending.early.entry(reply.sequence).or_insert(reply.payload);
        }
        // Any other reply arrived too late.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(sequence: i64, text: &'static str) -> Reply {
        Reply {
            sequence,
            payload: Bytes::from_static(text.as_bytes()),
        }
    }

    #[test]
    fn a_reply_that_arrives_before_its_call_returns_is_not_lost() {
        let replies = Replies::default();
        let answered = Event::new(&TimeBase::machine());
        replies.lock().sending += 1;
        replies.reply(reply(7, "early"));
        replies.reply(reply(8, "of another call"));
        assert_eq!(replies.register(Ok(7), &answered).unwrap(), 7);
        assert!(answered.is_set());
        assert_eq!(replies.take(7).unwrap(), "early");
        assert!(replies.lock().early.is_empty());
    }

    #[test]
    fn a_stop_ends_pending_and_future_calls() {
        let replies = Arc::new(Replies::default());
        let (before, after) = (
            Event::new(&TimeBase::machine()),
            Event::new(&TimeBase::machine()),
        );
        replies.lock().sending += 1;
        replies.register(Ok(1), &before).unwrap();
        CallStopper(Arc::clone(&replies)).stop();
        replies.lock().sending += 1;
        replies.register(Ok(2), &after).unwrap();
        assert!(before.is_set() && after.is_set());
        assert!(replies.take(1).is_none() && replies.take(2).is_none());
    }

    #[test]
    fn the_first_of_two_replies_counts_and_a_late_one_is_dropped() {
        let replies = Replies::default();
        let answered = Event::new(&TimeBase::machine());
        replies.lock().sending += 1;
        replies.register(Ok(1), &answered).unwrap();
        replies.reply(reply(1, "first"));
        replies.reply(reply(1, "second"));
        assert_eq!(replies.take(1).unwrap(), "first");
        replies.reply(reply(1, "late"));
        assert!(replies.take(1).is_none());
        assert!(replies.lock().early.is_empty());
    }
}
