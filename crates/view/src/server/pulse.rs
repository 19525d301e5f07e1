use bytes::Bytes;
use serde::Serialize;
use timeloom_time::{Duration, Steady, Time};

use super::Shared;
use crate::outgoing::Outgoing;
use crate::page_data::PageReport;
use crate::peer::Peer;
use crate::protocol::{self, Level, Subprotocol};
use crate::snapshot::Snapshot;

/// 60 Hz, the highest rate that clients want for the time.
const BEAT: Duration = Duration::from_nanos(16_666_667);
/// Interval without clients.
const IDLE: Duration = Duration::from_millis(100);

/// A periodic task.
struct Periodic {
    every: Duration,
    next: Time<Steady>,
}

impl Periodic {
    fn new(every: Duration, now: Time<Steady>) -> Self {
        Self { every, next: now }
    }

    fn is_due(&mut self, now: Time<Steady>) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + self.every;
        }
        due
    }
}

/// The message for the page.
#[derive(Serialize)]
struct Report<'a> {
    op: &'static str,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
    #[serde(flatten)]
    found: PageReport,
    server: ServerReport,
}

#[derive(Serialize)]
struct ServerReport {
    clients: usize,
    dropped: u64,
    version: &'static str,
}

impl Shared {
    /// Sends time, playback state, snapshots and the graph to clients, until the server ends.
    pub(super) fn beat(&self) {
        let now = self.clock.now();
        let mut pages = Periodic::new(Duration::from_millis(100), now);
        let mut graphs = Periodic::new(Duration::from_millis(500), now);
        let mut drops = Periodic::new(Duration::from_secs(1), now);
        let mut pings = Periodic::new(Duration::from_secs(15), now);
        let mut sent_time = None;
        loop {
            let clients = self.hub.clients();
            let rest = if clients.is_empty() { IDLE } else { BEAT };
            if self.stop.wait_for(rest) {
                return;
            }
            let now = self.clock.now();
            self.tell_playback();
            let time = self.source.time_ns();
            if time != sent_time {
                sent_time = time;
                let time = time.and_then(|time| u64::try_from(time).ok());
                if let Some(time) = time {
                    self.hub.broadcast(&Outgoing::time(time));
                }
            }
            if pages.is_due(now) {
                self.feed_pages();
            }
            if graphs.is_due(now) {
                self.tell_graph();
            }
            if drops.is_due(now) {
                for peer in &clients {
                    self.tell_drops(peer);
                }
            }
            if pings.is_due(now) {
                for peer in &clients {
                    peer.send(Outgoing::ping());
                }
            }
        }
    }

    fn tell_playback(&self) {
        if let Some(mut announcer) = self.announcer.try_lock()
            && let Some(playback) = self.source.playback()
        {
            announcer.notice(&self.hub, playback);
        }
    }

    fn feed_pages(&self) {
        let clients = self.hub.clients();
        let mut pages = clients
            .iter()
            .filter(|peer| peer.subprotocol == Subprotocol::Page)
            .peekable();
        if pages.peek().is_none() {
            return;
        }
        let report = Bytes::from(self.report());
        pages.for_each(|page| page.send(Outgoing::snapshot(report.clone())));
    }

    /// The current state as JSON.
    pub(super) fn report(&self) -> Vec<u8> {
        let report = Report {
            op: "snapshot",
            snapshot: &self.source.snapshot(),
            found: self.hub.page_data.found(self.source.hops()),
            server: ServerReport {
                clients: self.hub.clients().len(),
                dropped: self.hub.dropped(),
                version: env!("CARGO_PKG_VERSION"),
            },
        };
        // Non-finite numbers become null; plain structures cannot fail otherwise.
        serde_json::to_vec(&report).unwrap_or_default()
    }

    fn tell_graph(&self) {
        let clients = self.hub.clients();
        if !clients.iter().any(|peer| peer.state().graph().is_some()) {
            return;
        }
        let Some(graph) = self.source.graph() else {
            return;
        };
        for peer in &clients {
            let mut session = peer.state();
            if let Some(known) = session.graph()
                && let Some(update) = protocol::graph_update(known, &graph)
            {
                known.clone_from(&graph);
                peer.send_text(update);
            }
        }
    }

    /// Notifies a client of messages that were dropped for it.
    fn tell_drops(&self, peer: &Peer) {
        let Some(report) = peer.queue.drop_report() else {
            return;
        };
        let mut topics: Vec<_> = report.by_channel.into_iter().collect();
        topics.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let names: Vec<String> = topics
            .iter()
            .take(5)
            .map(|(channel, count)| format!("{} {count}", self.hub.topic(*channel)))
            .collect();
        let text = format!(
            "this client is too slow: {} messages dropped so far ({})",
            report.total,
            names.join(", ")
        );
        let status = protocol::status(Level::Warning, &text, Some("timeloom.dropped"));
        peer.send_text(status);
    }
}
