use std::collections::VecDeque;

use timeloom_time::CancelToken;
use timeloom_time::sync::{AtomicBool, Mutex, MutexGuard, Ordering, lock};

use super::control::{Answer, Control, Refusal};

/// Where the answer to a control goes; called on the playback thread.
pub type Reply = Box<dyn FnOnce(Result<Answer, Refusal>) + Send>;

/// A control and who wants to know what came of it.
pub(super) struct Letter {
    pub(super) control: Control,
    pub(super) reply: Reply,
}

/// Controls on their way to the playback thread, and the bell that ends its waits.
#[derive(Default)]
pub(super) struct Mailbox {
    inner: Mutex<Inner>,
    /// Whether a look inside is worth a lock.
    news: AtomicBool,
}

#[derive(Default)]
struct Inner {
    letters: VecDeque<Letter>,
    bell: CancelToken,
    rung: bool,
    quit: bool,
    closed: bool,
}

impl Mailbox {
    /// Leaves a letter; an ended player answers at once.
    pub(super) fn post(&self, letter: Letter) {
        let mut inner = self.lock();
        if inner.closed {
            drop(inner);
            (letter.reply)(Err(Refusal::Ended));
            return;
        }
        inner.letters.push_back(letter);
        self.wake(inner);
    }

    /// Ends the wait that is going on, or the next one.
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

    /// Whether somebody wrote or rang since the last [`take`](Self::take) that found nothing.
    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::SeqCst)
    }

    /// The next letter.
    pub(super) fn take(&self) -> Option<Letter> {
        if !self.has_news() {
            return None;
        }
        let mut inner = self.lock();
        let letter = inner.letters.pop_front();
        if letter.is_none() {
            inner.rung = false;
            self.news.store(false, Ordering::SeqCst);
        }
        letter
    }

    /// What to wait with; none if there is news already.
    pub(super) fn arm(&self) -> Option<CancelToken> {
        let mut inner = self.lock();
        if inner.rung || !inner.letters.is_empty() {
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

    /// Whether somebody wants playing to end: reason to give up a long wait.
    pub(super) fn wants_end(&self) -> bool {
        let inner = self.lock();
        let mut letters = inner.letters.iter();
        inner.quit || letters.any(|letter| letter.control == Control::Stop)
    }

    /// Takes no more letters; those that are left are answered.
    pub(super) fn close(&self) {
        let letters = {
            let mut inner = self.lock();
            inner.closed = true;
            std::mem::take(&mut inner.letters)
        };
        for letter in letters {
            (letter.reply)(Err(Refusal::Ended));
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
    fn letters_come_in_order_and_none_stays_unanswered() {
        let mailbox = Mailbox::default();
        let (told, heard) = std::sync::mpsc::channel();
        for control in [Control::Pause, Control::Resume, Control::Stop] {
            let told = told.clone();
            mailbox.post(Letter {
                control,
                reply: Box::new(move |answer| told.send(answer).expect("somebody listens")),
            });
        }
        let first = mailbox.take().expect("a letter");
        assert_eq!(first.control, Control::Pause);
        (first.reply)(Ok(Answer::Done));
        mailbox.close();
        mailbox.post(Letter {
            control: Control::Pause,
            reply: Box::new(move |answer| told.send(answer).expect("somebody listens")),
        });
        let answers: Vec<_> = heard.iter().collect();
        let mut expected = vec![Ok(Answer::Done)];
        expected.extend([Err(Refusal::Ended); 3]);
        assert_eq!(answers, expected);
    }
}
