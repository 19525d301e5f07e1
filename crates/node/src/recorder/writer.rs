mod declare;
mod windows;

use std::path::PathBuf;
use std::sync::Arc;

use timeloom_bag::bag::FinishedBag;
use timeloom_bag::{
    BagWriter, DiskWait, HOST_CLOCK_KEY, LossCause, Message, MessagePublishers, PublisherRun,
    TopicId, WriteOutcome,
};
use timeloom_time::Duration;

use self::windows::WindowFiles;
use super::command::{Command, NewTopic};
use super::end_reason::EndReason;
use super::moment::Trigger;
use super::note::Note;
use super::options::RecordedState;
use super::parameter_watch;
use super::queued_message::QueuedMessage;
use super::shared::{Shared, Written};
use super::topic_input::TopicInput;
use super::watchdog::Watchdog;
use crate::{Error, Result};

/// Time that messages gather before the writer takes them: one wake-up for many.
const GATHER: Duration = Duration::from_millis(10);
/// The longest idle time: old messages in the buffer of the storage must be sealed.
const REST: Duration = Duration::from_millis(100);
/// The most that is written at once; its bytes are then released.
const STRETCH_BYTES: usize = 1 << 20;
const STRETCH_MESSAGES: usize = 1024;
/// The most splits that wait for the notifier; without one, the oldest are dropped.
const MOST_EVENTS: usize = 1024;

/// The thread that writes the bag.
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) bag: BagWriter,
    pub(super) topics: Vec<Topic>,
    watchdog: Watchdog,
    /// Messages written so far, without copies.
    messages: u64,
    /// The planned split.
    split_at: Option<Trigger>,
    /// With triggers: the windows and their files.
    windows: WindowFiles,
    over: bool,
}

/// A topic of the recording, as the writer sees it.
pub(super) struct Topic {
    pub(super) input: Arc<TopicInput>,
    /// `None` until it is declared, or if the storage refuses it: its messages are then lost in the storage.
    pub(super) id: Option<TopicId>,
    /// Messages that wait for the definition of the type, until that steady time.
    held: Vec<QueuedMessage>,
    holds_until_ns: Option<i64>,
    pending: Option<Box<NewTopic>>,
    /// Messages that were lost because it could not be declared.
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
            windows: WindowFiles::default(),
            over: false,
        }
    }

    /// Writes until [`Command::Finish`].
    pub(super) fn run(mut self) -> Result<(FinishedBag, WriteOutcome)> {
        let mut batch = Vec::new();
        let mut rest = true;
        loop {
            let patience = if rest { REST } else { GATHER };
            self.shared.input.queue.wait(patience, rest);
            let final_window = self.final_window();
            self.shared.input.queue.take(&mut batch);
            // Taken after the messages, so that each topic is declared before its first message.
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
                // All subscriptions have ended: these are the last messages.
                self.shared.input.queue.take(&mut batch);
            }
            rest = batch.is_empty();
            self.write_all(&mut batch);
            self.close_window(final_window);
            // Messages before a split belong to the old file.
            for command in later {
                self.execute(command);
            }
            if finish {
                // The messages of a snapshot that came with the end.
                self.shared.input.queue.take(&mut batch);
                self.write_all(&mut batch);
            }
            self.housekeeping(finish, rest);
            if finish {
                return self.finish();
            }
        }
    }

    fn now_ns(&self) -> i64 {
        self.shared.clock.now().nanos()
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Split(reply) => reply.give(self.split()),
            Command::SplitAt(moment) => self.split_at = Some(moment),
            Command::Snapshot(reply) => reply.give(self.snapshot()),
            Command::HostClock(text) => {
                if let Err(error) = self.bag.set_custom_data(HOST_CLOCK_KEY, &text) {
                    let text = format!("cannot save the state of the host clock: {error}");
                    self.shared.report(&Note::warning(text));
                }
            }
            Command::AddTopic(_) | Command::Define { .. } | Command::Finish => {}
        }
    }

    pub(super) fn split(&mut self) -> Result<PathBuf> {
        self.update_account();
        let event = self.bag.split()?;
        self.publish_progress();
        Ok(event.opened_file)
    }

    /// Makes the planned split.
    fn split_as_planned(&mut self) {
        self.split_at = None;
        if let Err(error) = self.split() {
            self.shared
                .report(&Note::warning(format!("the planned split failed: {error}")));
        }
    }

    fn snapshot(&mut self) -> Result<u64> {
        let Some(mut ring) = self.shared.input.ring() else {
            return Err(Error::Option {
                option: "snapshot",
                reason: "the recorder is not in snapshot mode".into(),
            });
        };
        let snapshot = ring.take();
        let count = snapshot.messages.len() as u64;
        let all = snapshot.repeated.into_iter().chain(snapshot.messages);
        // Before the ring is unlocked: messages that enter it later are newer.
        self.shared.input.queue.push_all(all);
        drop(ring);
        Ok(count)
    }

    fn write_all(&mut self, batch: &mut Vec<QueuedMessage>) {
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
                bytes += next.cost();
                stretch.push(next);
            }
            self.write(&stretch);
            // Frees their memory before the next ones are written.
            stretch.clear();
        }
    }

    /// Writes a stretch; each window begins in a file of its own.
    fn write(&mut self, stretch: &[QueuedMessage]) {
        for part in stretch.chunk_by(|one, next| one.window == next.window) {
            self.enter_window(part);
            self.write_planned(part);
        }
    }

    /// Writes a stretch; if the planned split falls into it, to two files.
    fn write_planned(&mut self, stretch: &[QueuedMessage]) {
        let Some(moment) = self.split_at else {
            return self.write_stretch(stretch);
        };
        let reached = stretch.iter().position(|message| {
            moment.is_reached_by(message.topic, message.log_time_ns, message.publish_time_ns)
        });
        let (before, after) = stretch.split_at(reached.unwrap_or(stretch.len()));
        self.write_stretch(before);
        if reached.is_some() {
            self.split_as_planned();
            self.write_stretch(after);
        }
    }

    /// Writes a stretch and releases its bytes.
    fn write_stretch(&mut self, stretch: &[QueuedMessage]) {
        if let Some(before_write) = &self.shared.options.before_write {
            before_write(stretch.iter().map(QueuedMessage::cost).sum());
        }
        let mut room = self.room();
        let mut messages = Vec::with_capacity(stretch.len());
        for message in stretch {
            let Some(topic) = self.topics.get_mut(message.index()) else {
                continue;
            };
            match (topic.id, message.is_copy) {
                (_, true) if room == 0 => continue,
                (_, false) if room == 0 => {
                    topic.input.leave_out(message);
                    continue;
                }
                (None, is_copy) => {
                    topic.refused += u64::from(!is_copy);
                    continue;
                }
                (Some(_), true) => self.watchdog.repeated(message.index()),
                (Some(_), false) => {
                    room -= 1;
                    self.messages += 1;
                }
            }
            messages.extend(topic.id.map(|topic| Message {
                topic,
                log_time_ns: message.log_time_ns,
                publish_time_ns: message.publish_time_ns,
                sequence: message.sequence,
                data: &message.payload,
            }));
        }
        self.bag
            .set_disk_wait(if self.shared.input.queue.is_behind() {
                DiskWait::Avoided
            } else {
                DiskWait::Allowed
            });
        let outcome = self.bag.write(&messages, self.now_ns());
        self.settle(&outcome);
        self.shared.input.queue.release(stretch);
        self.check_limits();
    }

    /// Number of messages that may still be written.
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

    /// Stops recording; the owner of the recorder closes the bag.
    pub(super) fn end(&mut self, reason: EndReason) {
        if !std::mem::replace(&mut self.over, true) {
            self.shared.input.set_paused(true, None);
            self.shared.end(reason);
        }
    }

    pub(super) fn settle(&mut self, outcome: &WriteOutcome) {
        if let Some(error) = &outcome.error {
            self.watchdog
                .failed(&self.shared, error, outcome.messages_lost());
        }
    }

    /// Periodic work: triggers, the account, the graph, syncs and checks.
    fn housekeeping(&mut self, finish: bool, idle: bool) {
        let now = self.shared.clock.now();
        let due = self.watchdog.is_due(now);
        if !finish {
            self.run_triggers(due);
        }
        if due {
            self.run_due_triggers();
            self.update_unknown();
        }
        if finish || self.watchdog.graph_is_due(now) {
            let until = if finish {
                i64::MAX
            } else {
                self.shared.node_time_ns()
            };
            self.save_graph(until);
            self.save_parameters(finish);
            self.save_publishers();
        }
        if due || idle || finish {
            let outcome = self.bag.tick(now.nanos());
            self.settle(&outcome);
            self.update_account();
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

    /// Writes the changes of the robot's graph into the bag.
    fn save_graph(&mut self, until_ns: i64) {
        let changed = self.shared.graph_log().take_changed(until_ns);
        let outcome = self.bag.update_graph(&changed);
        self.settle(&outcome);
    }

    /// Writes what is new of the robot's parameters into the bag.
    fn save_parameters(&mut self, at_end: bool) {
        let now = self.shared.node_time_ns();
        let changed = parameter_watch::take_changed(&self.shared.parameter_log, now, at_end);
        let outcome = self.bag.update_parameters(&changed);
        self.settle(&outcome);
    }

    /// Writes who published the messages into the bag.
    fn save_publishers(&mut self) {
        if self.shared.options.state == RecordedState::Nothing {
            return;
        }
        let mut changed = MessagePublishers::default();
        for topic in &self.topics {
            for (from_ns, gid) in topic.input.take_publishers() {
                let gid = gid.map(super::graph_log::id).unwrap_or_default();
                changed.add(&topic.input.name, PublisherRun { from_ns, gid });
            }
        }
        let outcome = self.bag.update_publishers(&changed);
        self.settle(&outcome);
    }

    /// Runs what is planned at a time of the recorder's own clock.
    fn run_due_triggers(&mut self) {
        let now = self.shared.node_time_ns();
        self.shared
            .input
            .resume_if(|moment| moment.is_reached_at(now));
        if self
            .split_at
            .is_some_and(|moment| moment.is_reached_at(now))
        {
            self.split_as_planned();
        }
    }

    /// Enters the counts of the inputs into the bag's account.
    fn update_account(&mut self) {
        for topic in &self.topics {
            let Some(id) = topic.id else {
                continue;
            };
            let changes = topic.input.take_changes();
            if changes.missing.statistics.is_incomplete() {
                self.bag.add_missing(id, &changes.missing);
            }
            for (cause, messages) in changes.taken_back {
                self.bag.found_again(id, cause, messages);
            }
        }
    }

    /// Enters the unknown messages into the bag's account, in case this process is killed.
    fn update_unknown(&mut self) {
        for topic in &self.topics {
            if let Some(id) = topic.id {
                let unknown = topic.input.counts().missing.unknown;
                self.bag.set_unknown(id, unknown);
            }
        }
    }

    /// Counts the messages that no snapshot asked for as left out.
    fn count_ring_as_left_out(&self) {
        let snapshot = self.shared.input.ring().map(|mut ring| ring.take());
        for message in snapshot.into_iter().flat_map(|snapshot| snapshot.messages) {
            let inputs = &self.shared.inputs;
            inputs.overwritten(message.topic, 1, message.log_time_ns);
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

    fn finish(mut self) -> Result<(FinishedBag, WriteOutcome)> {
        for index in 0..self.topics.len() {
            self.declare(index, None);
        }
        self.count_ring_as_left_out();
        self.finish_windows();
        self.update_account();
        for topic in &self.topics {
            if let Some(id) = topic.id {
                let unknown = topic.input.counts().missing.unknown;
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
