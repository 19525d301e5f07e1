use std::collections::VecDeque;

use timeloom_time::CancelToken;
use timeloom_time::sync::{AtomicBool, Mutex, MutexGuard, Ordering, lock};

use super::control::{Answer, Control, Refusal};

/// The callback for the answer to a control; called on the playback thread.
pub type Reply = Box<dyn FnOnce(Result<Answer, Refusal>) + Send>;

/// A control and the callback for its answer.
pub(super) struct Request {
    pub(super) control: Control,
    pub(super) reply: Reply,
}

/// The queue of controls for the playback thread, and the bell that ends its waits.
#[derive(Default)]
pub(super) struct Mailbox {
    inner: Mutex<Inner>,
    /// Whether the queue may have changed; saves a lock.
    news: AtomicBool,
}

#[derive(Default)]
struct Inner {
    requests: VecDeque<Request>,
    bell: CancelToken,
    rung: bool,
    quit: bool,
    closed: bool,
}

impl Mailbox {
    /// Adds a request; after the end of the player it is refused at once.
    pub(super) fn post(&self, request: Request) {
        let mut inner = self.lock();
        if inner.closed {
            drop(inner);
            (request.reply)(Err(Refusal::Ended));
            return;
        }
        inner.requests.push_back(request);
        self.wake(inner);
    }

    /// Ends the current wait, or the next one.
    pub(super) fn ring(&self) {
        let mut inner = self.lock();
        inner.rung = true;
        self.wake(inner);
    }

    fn wake(&self, inner: MutexGuard<'_, Inner>) {
        self.news.store(true, Ordering::SeqCst);
        let bell = inner.bell.clone();
        drop(inner);
        bell.cancel();
    }

    /// Whether there was a request or a ring since the last [`take`](Self::take) that found nothing.
    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::SeqCst)
    }

    /// The next request.
    pub(super) fn take(&self) -> Option<Request> {
        if !self.has_news() {
            return None;
        }
        let mut inner = self.lock();
        let request = inner.requests.pop_front();
        if request.is_none() {
            inner.rung = false;
            self.news.store(false, Ordering::SeqCst);
        }
        request
    }

    /// The token for the next wait; `None` if there is work already.
    pub(super) fn arm(&self) -> Option<CancelToken> {
        let mut inner = self.lock();
        if inner.rung || !inner.requests.is_empty() {
            return None;
        }
        if inner.bell.is_cancelled() {
            inner.bell = CancelToken::new();
        }
        Some(inner.bell.clone())
    }

    /// Asks the playback thread to end.
    pub(super) fn quit(&self) {
        self.lock().quit = true;
        self.ring();
    }

    /// Whether it was asked to.
    pub(super) fn is_quitting(&self) -> bool {
        self.lock().quit
    }

    /// Whether playing is to end: long waits give up.
    pub(super) fn wants_end(&self) -> bool {
        let inner = self.lock();
        let mut requests = inner.requests.iter();
        inner.quit || requests.any(|request| request.control == Control::Stop)
    }

    /// Refuses the requests in the queue and all later ones.
    pub(super) fn close(&self) {
        let requests = {
            let mut inner = self.lock();
            inner.closed = true;
            std::mem::take(&mut inner.requests)
        };
        for request in requests {
            (request.reply)(Err(Refusal::Ended));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_before_the_wait_is_not_lost() {
        let mailbox = Mailbox::default();
        let token = mailbox.arm().expect("nothing has happened");
        mailbox.ring();
        assert!(token.is_cancelled() && mailbox.has_news());
        assert!(mailbox.arm().is_none(), "it was rung");
        assert!(mailbox.take().is_none());
        assert!(!mailbox.has_news());
        assert!(mailbox.arm().is_some_and(|token| !token.is_cancelled()));
    }

    #[test]
    fn requests_come_in_order_and_each_is_answered() {
        let mailbox = Mailbox::default();
        let (answers, received) = std::sync::mpsc::channel();
        for control in [Control::Pause, Control::Resume, Control::Stop] {
            let answers = answers.clone();
            mailbox.post(Request {
                control,
                reply: Box::new(move |answer| answers.send(answer).expect("the receiver exists")),
            });
        }
        let first = mailbox.take().expect("a request");
        assert_eq!(first.control, Control::Pause);
        (first.reply)(Ok(Answer::Done));
        mailbox.close();
        mailbox.post(Request {
            control: Control::Pause,
            reply: Box::new(move |answer| answers.send(answer).expect("the receiver exists")),
        });
        let answers: Vec<_> = received.iter().collect();
        let mut expected = vec![Ok(Answer::Done)];
        expected.extend([Err(Refusal::Ended); 3]);
        assert_eq!(answers, expected);
    }
}
