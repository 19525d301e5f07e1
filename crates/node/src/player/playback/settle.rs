use timeloom_time::{Duration, Steady, Time};

use super::super::notice::Notice;
use super::super::outlet::Outlet;
use super::Playback;

/// How long the name of a node may take to come, at the end.
const NAMING: Duration = Duration::from_secs(1);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

impl Playback {
    /// When to look again whether all subscriptions and servers that are there are connected; none when they are, or
    /// when they were waited for long enough.
    pub(super) fn settled(&self, since: Time<Steady>) -> Option<Time<Steady>> {
        let wait = self.options.settle?;
        let now = self.steady.now();
        let most = since.saturating_add(wait.most);
        if now >= most {
            return None;
        }
        let quiet = self.listeners.changed().saturating_add(wait.quiet);
        let earliest = quiet.max(self.listeners.since().saturating_add(wait.least));
        let connected = self.outlets.iter().all(|outlet| self.is_connected(outlet))
            && self.is_clock_connected();
        match connected {
            true if now >= earliest => None,
            true => Some(earliest.min(most)),
            // Publishers ring when they are matched, and the graph when it changes; clients do not.
            false => Some(now.saturating_add(wait.quiet).min(most)),
        }
    }

    /// Whether all that can take the messages of an outlet get them; a request needs one server at least.
    fn is_connected(&self, outlet: &Outlet) -> bool {
        let there = self.listeners.of(&outlet.offer()).len();
        outlet.matched() >= there.max(usize::from(outlet.requests().is_some()))
    }

    /// Whether all that can hear `/clock` do: the first sample is the start, and it is sent once.
    fn is_clock_connected(&self) -> bool {
        self.clock_publisher.as_ref().is_none_or(|publisher| {
            publisher.matched() >= self.listeners.of(&publisher.offer()).len()
        })
    }

    /// Reports other owners of `/clock` whose names have not come.
    pub(super) fn report_unnamed_clocks(&self) {
        if let Some(watch) = &self.clock_watch {
            watch.report_unnamed();
        }
    }

    /// The same at the end, when names that are on their way are waited for: one sample of another owner may have ended
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

    /// Reports what is not as it should be before the first message.
    pub(super) fn report_settled(&self) {
        for notice in self.listeners.unnamed_mismatches() {
            self.reporter.report(notice);
        }
        self.report_unnamed_clocks();
        if self.options.settle.is_none() {
            return;
        }
        for outlet in self.outlets.iter() {
            let nodes = self.listeners.of(&outlet.offer());
            if outlet.matched() < nodes.len() {
                self.reporter.report(Notice::NotConnected {
                    name: outlet.name.clone(),
                    nodes,
                });
            }
        }
    }
}
