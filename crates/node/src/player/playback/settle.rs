use timeloom_time::{Duration, Steady, Time};

use super::super::notice::Notice;
use super::super::output::Output;
use super::Playback;

/// The longest wait at the end for the names of nodes.
const NAMING: Duration = Duration::from_secs(1);
/// The interval of polling for them.
const LOOK: Duration = Duration::from_millis(20);

impl Playback {
    /// The time of the next check whether all existing subscriptions and servers are connected; `None` when they are,
    /// or when the wait is over.
    pub(super) fn settled(&self, since: Time<Steady>) -> Option<Time<Steady>> {
        let wait = self.options.settle?;
        let now = self.steady.now();
        let most = since.saturating_add(wait.most);
        if now >= most {
            return None;
        }
        let quiet = self.listeners.changed().saturating_add(wait.quiet);
        let earliest = quiet.max(self.listeners.since().saturating_add(wait.least));
        let connected = self.outputs.iter().all(|output| self.is_connected(output))
            && self.is_clock_connected();
        match connected {
            true if now >= earliest => None,
            true => Some(earliest.min(most)),
            // Publishers ring when they are matched, and the graph when it changes; clients do not.
            false => Some(now.saturating_add(wait.quiet).min(most)),
        }
    }

    /// Whether all subscriptions of an output are connected; a request needs one server at least.
    fn is_connected(&self, output: &Output) -> bool {
        let there = self.listeners.of(&output.offer()).len();
        output.matched() >= there.max(usize::from(output.requests().is_some()))
    }

    /// Whether all subscriptions of `/clock` are connected: the start is published once.
    fn is_clock_connected(&self) -> bool {
        self.clock_output.publisher().is_none_or(|publisher| {
            publisher.matched() >= self.listeners.of(&publisher.offer()).len()
        })
    }

    /// Reports other owners of `/clock` whose names have not arrived.
    pub(super) fn report_unnamed_clocks(&self) {
        if let Some(watch) = &self.clock_watch {
            watch.report_unnamed();
        }
    }

    /// The same at the end, after a wait for names that are on their way: one sample of another owner may have ended
    /// this player before.
    pub(super) fn report_last_clocks(&self) {
        let until = self.steady.now().saturating_add(NAMING);
        let lacks_name = || {
            self.clock_watch
                .as_ref()
                .is_some_and(|watch| watch.lacks_name())
        };
        while lacks_name() && self.steady.now() < until && !self.mailbox.wants_end() {
            let _woke = self.steady.sleep_for(LOOK);
        }
        self.report_unnamed_clocks();
    }

    /// Reports problems before the first message.
    pub(super) fn report_settled(&self) {
        for notice in self.listeners.unnamed_mismatches() {
            self.reporter.report(notice);
        }
        self.report_unnamed_clocks();
        if self.options.settle.is_none() {
            return;
        }
        for output in self.outputs.iter() {
            let nodes = self.listeners.of(&output.offer());
            if output.matched() < nodes.len() {
                self.reporter.report(Notice::NotConnected {
                    name: output.name.clone(),
                    nodes,
                });
            }
        }
    }
}
