mod declare;

use std::path::PathBuf;
use std::sync::Arc;

use timeloom_bag::bag::BagSummary;
use timeloom_bag::{BagWriter, HOST_CLOCK_KEY, LossCause, Message, TopicId, WriteOutcome};
use timeloom_time::Duration;

use super::command::{Command, NewTopic};
use super::end_reason::EndReason;
use super::intake::Intake;
use super::moment::Trigger;
use super::note::Note;
use super::queue::Waiting;
use super::shared::{Shared, Written};
use super::watchdog::Watchdog;
use crate::{Error, Result};

/// How long messages gather before the writer looks again: one wake-up for many.
const GATHER: Duration = Duration::from_millis(10);
/// The longest rest: buffered messages are sealed when they are old.
const REST: Duration = Duration::from_millis(100);
/// A stretch of messages that is written at once; its bytes are then given back.
const STRETCH_BYTES: usize = 1 << 20;
const STRETCH_MESSAGES: usize = 1024;
/// Splits that wait for the notifier; without one, the oldest are dropped.
const MOST_EVENTS: usize = 1024;

/// The thread that writes the bag.
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) bag: BagWriter,
    pub(super) topics: Vec<Topic>,
    watchdog: Watchdog,
    /// Messages written so far, repeated ones left out.
    messages: u64,
    /// When a new file is to begin.
    split_at: Option<Trigger>,
    over: bool,
}

/// A topic on its way into the bag.
pub(super) struct Topic {
    pub(super) intake: Arc<Intake>,
    /// None while it could not be declared: its messages are then lost to the storage.
    pub(super) id: Option<TopicId>,
    /// Messages that wait for the definition of the type, until that steady time.
    held: Vec<Waiting>,
    holds_until_ns: Option<i64>,
    pending: Option<Box<NewTopic>>,
    /// Messages that came while it could not be declared.
    refused: u64,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, bag: BagWriter) -> Self {
        let watchdog = Watchdog::new(&shared);
        Self {
            shared,
            bag,
            topics: Vec::new(),
            watchdog,
            messages: 0,
            split_at: None,
            over: false,
        }
    }

    /// Writes until it is told to finish.
    pub(super) fn run(mut self) -> Result<(BagSummary, WriteOutcome)> {
        let mut batch = Vec::new();
        let mut rest = true;
        loop {
            let patience = if rest { REST } else { GATHER };
            self.shared.gate.queue.wait(patience, rest);
            self.shared.gate.queue.take(&mut batch);
            // Taken after the messages: each topic's declaration is among them.
            let mut finish = false;
            let mut later = Vec::new();
            for command in self.shared.commands.take() {
                match command {
                    Command::AddTopic(new) => self.add_topic(new),
                    Command::Define { topic, found } => self.define(topic, found),
                    Command::Finish => finish = true,
                    command => later.push(command),
                }
            }
            if finish {
                // All subscriptions are gone: this is the rest.
                self.shared.gate.queue.take(&mut batch);
            }
            rest = batch.is_empty();
            self.write_all(&mut batch);
            // What came before a split belongs to the old file.
            for command in later {
                self.obey(command);
            }
            if finish {
                // A snapshot was asked for at the last moment.
                self.shared.gate.queue.take(&mut batch);
                self.write_all(&mut batch);
            }
            self.look_after(finish, rest);
            if finish {
                return self.finish();
            }
        }
    }

    fn now_ns(&self) -> i64 {
        self.shared.clock.now().nanos()
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Split(reply) => reply.give(self.split()),
            Command::SplitAt(moment) => self.split_at = Some(moment),
            Command::Snapshot(reply) => reply.give(self.snapshot()),
            Command::HostClock(text) => {
                if let Err(error) = self.bag.set_custom_data(HOST_CLOCK_KEY, &text) {
                    let text = format!("the host's clock is not in the metadata yet: {error}");
                    self.shared.tell(&Note::warning(text));
                }
            }
            Command::AddTopic(_) | Command::Define { .. } | Command::Finish => {}
        }
    }

    pub(super) fn split(&mut self) -> Result<PathBuf> {
        self.tell_losses();
        let event = self.bag.split()?;
        self.publish_progress();
        Ok(event.opened_file)
    }

    /// The moment of a planned split has come.
    fn split_as_planned(&mut self) {
        self.split_at = None;
        if let Err(error) = self.split() {
            self.shared.tell(&Note::warning(format!(
                "no new file at the time that was asked for: {error}"
            )));
        }
    }

    fn snapshot(&mut self) -> Result<u64> {
        let Some(mut ring) = self.shared.gate.ring() else {
            return Err(Error::Option {
                option: "snapshot",
                reason: "the recorder is not in snapshot mode".into(),
            });
        };
        let snapshot = ring.take();
        let count = snapshot.entries.len() as u64;
        for entry in &snapshot.repeated {
            self.watchdog.repeated(entry.index());
        }
        let all = snapshot.repeated.into_iter().chain(snapshot.entries);
        // Before the ring is free again: what it gets now is newer.
        self.shared.gate.queue.push_all(all);
        drop(ring);
        Ok(count)
    }

    fn write_all(&mut self, batch: &mut Vec<Waiting>) {
        if self
            .topics
            .iter()
            .any(|topic| topic.holds_until_ns.is_some())
        {
            self.hold_back(batch);
        }
        let mut all = batch.drain(..).peekable();
        let mut stretch = Vec::new();
        while all.peek().is_some() {
            let mut bytes = 0;
            while let Some(next) = all.next_if(|_| is_open(bytes, stretch.len())) {
                bytes += next.entry.cost();
                stretch.push(next);
            }
            self.write(&stretch);
            // Their memory is free before the next ones are written.
            stretch.clear();
        }
    }

    /// Writes a stretch; if a planned split falls into it, to two files.
    fn write(&mut self, stretch: &[Waiting]) {
        let Some(moment) = self.split_at else {
            return self.write_stretch(stretch);
        };
        let reached = stretch.iter().position(|Waiting { entry, .. }| {
            moment.is_reached_by(entry.topic, entry.log_time_ns, entry.publish_time_ns)
        });
        let (before, after) = stretch.split_at(reached.unwrap_or(stretch.len()));
        self.write_stretch(before);
        if reached.is_some() {
            self.split_as_planned();
            self.write_stretch(after);
        }
    }

    /// Writes a stretch and gives its bytes back.
    fn write_stretch(&mut self, stretch: &[Waiting]) {
        if let Some(before_write) = &self.shared.options.before_write {
            before_write(stretch.iter().map(|waiting| waiting.entry.cost()).sum());
        }
        let wanted = self.room();
        let mut messages = Vec::with_capacity(stretch.len());
        for (number, waiting) in stretch.iter().enumerate() {
            let entry = &waiting.entry;
            let Some(topic) = self.topics.get_mut(entry.index()) else {
                continue;
            };
            if number as u64 >= wanted {
                topic.intake.leave_out(entry);
                continue;
            }
            match topic.id {
                Some(topic) => messages.push(Message {
                    topic,
                    log_time_ns: entry.log_time_ns,
                    publish_time_ns: entry.publish_time_ns,
                    sequence: entry.sequence,
                    data: &entry.payload,
                }),
                None => topic.refused += 1,
            }
        }
        self.messages += messages.len() as u64;
        let outcome = self.bag.write(&messages, self.now_ns());
        self.settle(&outcome);
        self.shared.gate.queue.release(stretch);
        self.check_limits();
    }

    /// How many more messages may be written.
    fn room(&self) -> u64 {
        match self.shared.options.limits.messages {
            _ if self.over => 0,
            0 => u64::MAX,
            limit => limit.saturating_sub(self.messages),
        }
    }

    fn check_limits(&mut self) {
        let limits = self.shared.options.limits;
        let elapsed = self.shared.clock.now() - self.shared.started;
        let reason = if limits.messages > 0 && self.messages >= limits.messages {
            EndReason::Messages
        } else if limits.bytes > 0 && self.bag.size() >= limits.bytes {
            EndReason::Size
        } else if limits.duration > Duration::ZERO && elapsed >= limits.duration {
            EndReason::Duration
        } else {
            return;
        };
        self.end(reason);
    }

    /// Records nothing any more; the owner is told and closes the bag.
    pub(super) fn end(&mut self, reason: EndReason) {
        if !std::mem::replace(&mut self.over, true) {
            self.shared.gate.set_paused(true, None);
            self.shared.end(reason);
        }
    }

    pub(super) fn settle(&mut self, outcome: &WriteOutcome) {
        if let Some(error) = &outcome.error {
            self.watchdog
                .failed(&self.shared, error, outcome.messages_lost());
        }
    }

    /// What is to be done now and then.
    fn look_after(&mut self, finish: bool, idle: bool) {
        let now = self.shared.clock.now();
        let due = self.watchdog.is_due(now);
        if due {
            self.keep_appointments();
            self.tell_unknown();
        }
        if finish || self.watchdog.graph_is_due(now) {
            let until = if finish {
                i64::MAX
            } else {
                self.shared.node_time_ns()
            };
            self.save_graph(until);
        }
        if due || idle || finish {
            let outcome = self.bag.tick(now.nanos());
            self.settle(&outcome);
            self.tell_losses();
            self.publish_progress();
            self.check_limits();
        }
        if self
            .watchdog
            .sync_is_due(now, self.shared.options.sync_interval)
        {
            let outcome = self.bag.request_sync();
            self.settle(&outcome);
        }
        if self.watchdog.check_is_due(now) && !self.over && !finish {
            Watchdog::check(self);
        }
    }

    /// Enters what changed in the graph of the robot into the bag.
    fn save_graph(&mut self, until_ns: i64) {
        let changed = self.shared.graph_log().take_changed(until_ns);
        let outcome = self.bag.update_graph(&changed);
        self.settle(&outcome);
    }

    /// What was asked for at a time of the recorder's own clock.
    fn keep_appointments(&mut self) {
        let now = self.shared.node_time_ns();
        self.shared
            .gate
            .resume_if(|moment| moment.is_reached_at(now));
        if self
            .split_at
            .is_some_and(|moment| moment.is_reached_at(now))
        {
            self.split_as_planned();
        }
    }

    /// Brings the bag's account up to what the intakes counted.
    fn tell_losses(&mut self) {
        for topic in &self.topics {
            let Some(id) = topic.id else {
                continue;
            };
            let news = topic.intake.take_news();
            if news.missing.statistics.is_incomplete() {
                self.bag.add_missing(id, &news.missing);
            }
            for (cause, messages) in news.taken_back {
                self.bag.found_again(id, cause, messages);
            }
        }
    }

    /// Tells the bag what is not known at the moment, in case this process is killed.
    fn tell_unknown(&mut self) {
        for topic in &self.topics {
            if let Some(id) = topic.id {
                let unknown = topic.intake.counts().missing.unknown;
                self.bag.set_unknown(id, unknown);
            }
        }
    }

    /// Counts what no snapshot asked for as left out.
    fn leave_ring(&self) {
        let snapshot = self.shared.gate.ring().map(|mut ring| ring.take());
        for entry in snapshot.into_iter().flat_map(|snapshot| snapshot.entries) {
            self.shared.intakes.overwritten(&entry);
        }
    }

    pub(super) fn publish_progress(&mut self) {
        let splits = self.bag.take_splits();
        let mut progress = self.shared.progress();
        progress.topics.clear();
        for (index, topic) in self.topics.iter().enumerate() {
            let id = topic.id.map(TopicId::index);
            let known = id.and_then(|id| self.bag.statistics().get(id)).copied();
            let repeated = id.and_then(|id| self.bag.repeated().get(id)).copied();
            let mut statistics = known.unwrap_or_default();
            statistics
                .lost_in_recorder
                .add(LossCause::Storage, topic.refused);
            progress.topics.push(Written {
                statistics,
                repeated: repeated.unwrap_or(0) + self.watchdog.repeats(index),
            });
        }
        progress.files = self.bag.files_opened();
        if !splits.is_empty() {
            progress.splits.extend(splits);
            let too_many = progress.splits.len().saturating_sub(MOST_EVENTS);
            progress.splits.drain(..too_many);
            drop(progress);
            self.shared.news.set();
        }
    }

    fn finish(mut self) -> Result<(BagSummary, WriteOutcome)> {
        for index in 0..self.topics.len() {
            self.declare(index, None);
        }
        self.leave_ring();
        self.tell_losses();
        for topic in &self.topics {
            if let Some(id) = topic.id {
                let unknown = topic.intake.counts().missing.unknown;
                self.bag.leave_open(id, unknown);
            }
        }
        self.publish_progress();
        self.watchdog.free_ballast();
        Ok(self.bag.finish()?)
    }
}

/// Whether more is written at once with so many bytes and messages.
fn is_open(bytes: usize, messages: usize) -> bool {
    bytes <= STRETCH_BYTES && messages < STRETCH_MESSAGES
}
