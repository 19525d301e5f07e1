use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use timeloom_time::{BaseThread, Clock, Duration, Event, Steady, Time, TimeBase};
use timeloom_wire::backend::lock;
use timeloom_wire::{Reply, ReplyReceiver, ServiceClient, ServiceSpec};

use crate::RosNode;

/// Number of requests without an answer: a server keeps the last ten by default and drops the ones before.
const MOST_UNANSWERED: usize = 8;
/// A server that answers nothing for this long is no longer waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval of the checks at the end whether all requests are sent.
const LOOK: Duration = Duration::from_millis(10);

/// Sends requests no faster than a server handles them.
///
/// A bag holds requests that were each sent after the answer to the one before; sent at their recorded times to a
/// slower server, they would overflow its queue. Therefore a request waits while eight others are unanswered. Waiting
/// ones are sent by a separate thread, which is started with the first of them: playing does not wait.
pub(super) struct RequestFlow {
    client: Arc<dyn ServiceClient>,
    shared: Arc<Shared>,
    base: TimeBase,
    sender: Mutex<Option<BaseThread<()>>>,
}

struct Shared {
    window: Mutex<SendWindow>,
    /// Set when a request waits, when an answer arrived, and at the end.
    news: Event,
    clock: Clock<Steady>,
    /// Requests that the middleware refused after they had waited.
    refused: AtomicU64,
}

/// Decides which requests may be sent. Sans I/O: it takes times and returns requests.
#[derive(Debug)]
struct SendWindow {
    waiting: VecDeque<Bytes>,
    unanswered: usize,
    /// Time of the last request or answer.
    progress: Time<Steady>,
    state: WindowState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowState {
    /// Requests wait while too many are unanswered.
    Bounded,
    /// The server does not answer in time: nothing waits.
    Unbounded,
    /// Nothing is sent any more.
    Closed,
}

impl SendWindow {
    fn new(now: Time<Steady>) -> Self {
        Self {
            waiting: VecDeque::new(),
            unanswered: 0,
            progress: now,
            state: WindowState::Bounded,
        }
    }

    /// The next request that may be sent.
    fn take(&mut self, now: Time<Steady>) -> Option<Bytes> {
        if self.waiting.is_empty() || self.state == WindowState::Closed {
            return None;
        }
        if self.unanswered >= MOST_UNANSWERED && self.state == WindowState::Bounded {
            if now - self.progress < PATIENCE {
                return None;
            }
            self.state = WindowState::Unbounded;
        }
        self.unanswered += 1;
        self.progress = now;
        self.waiting.pop_front()
    }

    fn answered(&mut self, now: Time<Steady>) {
        self.unanswered = self.unanswered.saturating_sub(1);
        self.progress = now;
    }

    /// The longest sleep of the thread; `None` when it has to end.
    fn sleep(&self, now: Time<Steady>) -> Option<Duration> {
        match self.state {
            WindowState::Closed => None,
            _ if self.waiting.is_empty() => Some(PATIENCE),
            _ => Some((self.progress.saturating_add(PATIENCE) - now).max(Duration::ZERO)),
        }
    }
}

impl Shared {
    fn window(&self) -> MutexGuard<'_, SendWindow> {
        lock(&self.window)
    }

    fn take(&self) -> Option<Bytes> {
        let now = self.clock.now();
        self.window().take(now)
    }

    /// Sends waiting requests, until the flow ends.
    fn run(&self, client: &dyn ServiceClient) {
        loop {
            self.news.clear();
            while let Some(request) = self.take() {
                if client.call(request).is_err() {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
            }
            let now = self.clock.now();
            let Some(sleep) = self.window().sleep(now) else {
                return;
            };
            self.news.wait_for(sleep);
        }
    }
}

impl ReplyReceiver for Shared {
    fn reply(&self, _reply: Reply) {
        let now = self.clock.now();
        self.window().answered(now);
        self.news.set();
    }
}

impl RequestFlow {
    /// A client of a service, or the reason why there is none.
    pub(super) fn open(node: &RosNode, spec: &ServiceSpec) -> Result<Self, String> {
        let base = node.participant().time_base();
        let clock: Clock<Steady> = Clock::on(&base);
        let shared = Arc::new(Shared {
            window: Mutex::new(SendWindow::new(clock.now())),
            news: Event::new(&base),
            clock,
            refused: AtomicU64::new(0),
        });
        let client = node.wire().client(spec, Arc::clone(&shared) as _);
        Ok(Self {
            client: client.map_err(|error| error.to_string())?.into(),
            shared,
            base,
            sender: Mutex::default(),
        })
    }

    /// Number of servers.
    pub(super) fn servers(&self) -> usize {
        self.client.servers()
    }

    /// Sends a request, now or when the server has answered others; the error is the reason as text.
    pub(super) fn send(&self, request: Bytes) -> Result<(), String> {
        let mut sender = lock(&self.sender);
        self.shared.window().waiting.push_back(request);
        if sender.is_some() {
            self.shared.news.set();
            return Ok(());
        }
        while let Some(request) = self.shared.take() {
            let sent = self.client.call(request);
            sent.map_err(|error| error.to_string())?;
        }
        if !self.shared.window().waiting.is_empty() {
            let (shared, client) = (Arc::clone(&self.shared), Arc::clone(&self.client));
            let thread = self
                .base
                .spawn("service requests", move || shared.run(&*client));
            *sender = Some(thread.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Blocks until no request waits, or `ends` returns true; returns the number of requests that were not sent.
    ///
    /// It ends by itself: a server that answers nothing is not waited for.
    pub(super) fn finish(&self, ends: impl Fn() -> bool) -> u64 {
        while !self.shared.window().waiting.is_empty() && !ends() {
            let _woke = self.shared.clock.sleep_for(LOOK);
        }
        let waiting = self.shared.window().waiting.len() as u64;
        waiting + self.shared.refused.swap(0, Ordering::Relaxed)
    }
}

impl Drop for RequestFlow {
    fn drop(&mut self) {
        self.shared.window().state = WindowState::Closed;
        self.shared.news.set();
        let sender = lock(&self.sender).take();
        if let Some(thread) = sender {
            // A panic was a bug; dropping must not cause a second one.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Time<Steady> {
        Time::from_nanos(millis * 1_000_000)
    }

    fn window(requests: usize) -> SendWindow {
        let mut window = SendWindow::new(at(0));
        let requests = (0..requests).map(|n| Bytes::from(vec![u8::try_from(n).unwrap()]));
        window.waiting.extend(requests);
        window
    }

    /// Number of requests that are sent at that time.
    fn sent(window: &mut SendWindow, now: i64) -> usize {
        std::iter::from_fn(|| window.take(at(now))).count()
    }

    #[test]
    fn a_request_waits_while_eight_are_unanswered() {
        let mut window = window(20);
        assert_eq!(sent(&mut window, 0), 8);
        assert_eq!(sent(&mut window, 900), 0);
        window.answered(at(900));
        window.answered(at(900));
        assert_eq!(sent(&mut window, 1_800), 2);
        assert_eq!(window.sleep(at(1_900)), Some(Duration::from_millis(900)));
        assert_eq!(window.take(at(2_799)), None);
        assert_eq!(sent(&mut window, 2_800), 10, "the server does not answer");
        assert_eq!(window.sleep(at(2_800)), Some(PATIENCE));
    }

    #[test]
    fn nothing_is_sent_after_the_end() {
        let mut window = window(3);
        assert!(window.take(at(0)).is_some());
        window.state = WindowState::Closed;
        assert_eq!(sent(&mut window, 5_000), 0);
        assert_eq!(window.sleep(at(5_000)), None);
    }
}
