use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::bag::SplitEvent;
use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, Distro, Schema, Value};
use timeloom_time::{BaseThread, CancelToken, Clock, Duration, Event, Steady};

use super::disk_guard::LowSpace;
use super::event_topic::EventTopic;
use super::{Note, Recorder};
use crate::ros_node::RosNode;
use crate::{Error, Result};

/// Publishes splits, losses and low disk space, from a thread of its own: `events/write_split`,
/// `events/rosbag2_messages_lost` and, with a guard of the disk, `events/low_disk_space`.
///
/// Where the distribution lacks the type of an event, its topic is `_timeloom/<name>` instead, and it is published only
/// while a subscription asks for it: a `ros2 bag record -a` of that distribution fails on types that it does not have.
///
/// Ends when dropped, after a last event about losses.
pub struct Notifier {
    stop: CancelToken,
    news: Event,
    thread: Option<BaseThread<()>>,
}

/// State of the thread.
struct Work {
    recorder: Recorder,
    node_name: String,
    splits: EventTopic,
    losses: Option<EventTopic>,
    low_space: Option<EventTopic>,
    /// The layout of the losses of one topic.
    topic: Option<Schema>,
    /// The shortest time between two events about losses.
    period: Duration,
    /// The highest counts published of each topic: lost in transport, lost in the recorder.
    reported: BTreeMap<String, (u64, u64)>,
    clock: Clock<Steady>,
}

const IDLE: Duration = Duration::from_secs(1);
/// A subscription that does not answer for so long does not hear the last words.
const GOODBYE: Duration = Duration::from_millis(300);

impl Notifier {
    /// Publishes losses at most `rate` times a second; never with 0.
    ///
    /// # Errors
    /// When the rate is out of range, or the middleware refuses a publisher.
    pub fn start(node: &RosNode, recorder: &Recorder, rate: f64, distro: Distro) -> Result<Self> {
        let base = node.participant().time_base();
        let topic =
            |name: &str, event: &str| EventTopic::new(node, name, event, distro, recorder.news());
        let (period, losses) = if rate > 0.0 {
            let period = Duration::try_from_hertz(rate).map_err(|error| Error::Option {
                option: "statistics rate",
                reason: error.to_string(),
            })?;
            let losses = topic("rosbag2_messages_lost", "MessagesLostEvent")?;
            (period, Some(losses))
        } else {
            (IDLE, None)
        };
        let guard = recorder.options().disk_guard;
        let work = Work {
            recorder: recorder.clone(),
            node_name: node.name().full(),
            splits: topic("write_split", "WriteSplitEvent")?,
            topic: losses.as_ref().map(topic_layout).transpose()?,
            losses,
            low_space: guard
                .map(|_guard| topic("low_disk_space", "LowDiskSpaceEvent"))
                .transpose()?,
            period,
            reported: BTreeMap::new(),
            clock: Clock::on(&base),
        };
        let stop = CancelToken::new();
        let stopped = stop.clone();
        let thread = base.spawn("recorder-events", move || work.run(&stopped));
        let thread = thread.map_err(|source| Error::Io {
            action: "start a thread",
            source,
        })?;
        Ok(Self {
            stop,
            news: recorder.news().clone(),
            thread: Some(thread),
        })
    }
}

/// The layout of one topic's losses, of the same package as the event.
fn topic_layout(losses: &EventTopic) -> Result<Schema> {
    let name = format!("{}TopicStat", losses.schema().name());
    Ok(Definitions::builtin().schema(&name)?)
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.stop.cancel();
        self.news.set();
        if let Some(thread) = self.thread.take() {
            // A panic there has said so itself; the recording is not touched by it.
            let _ended = thread.join();
        }
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}

impl Work {
    fn run(mut self, stop: &CancelToken) {
        let mut last = self.clock.now();
        loop {
            self.recorder.news().clear();
            let ending = stop.is_cancelled();
            self.open_on_demand();
            self.tell_splits();
            self.tell_low_space();
            let now = self.clock.now();
            if ending || now - last >= self.period {
                last = now;
                self.update_account();
            }
            if ending {
                return self.say_goodbye();
            }
            self.recorder.news().wait_for(self.period.min(IDLE));
        }
    }

    /// Hidden topics begin with their first subscription.
    fn open_on_demand(&mut self) {
        let topics = self.losses.iter_mut().chain(&mut self.low_space);
        let results: Vec<_> = topics.map(EventTopic::open_on_demand).collect();
        for result in results {
            self.warn(result);
        }
    }

    /// The last events reach the subscriptions before the publishers end.
    fn say_goodbye(&self) {
        let others = self.losses.iter().chain(&self.low_space);
        for events in others.chain([&self.splits]) {
            events.wait_until_heard(GOODBYE);
        }
    }

    fn warn(&self, result: Result<()>) {
        if let (Err(error), Some(reporter)) = (result, &self.recorder.options().reporter) {
            reporter(&Note::warning(format!(
                "an event was not published: {error}"
            )));
        }
    }

    fn tell_splits(&self) {
        for split in self.recorder.take_splits() {
            self.warn(self.tell_split(&split));
        }
    }

    fn tell_split(&self, split: &SplitEvent) -> Result<()> {
        let mut event = self.splits.schema().default_value()?;
        let path = |path: &Path| Value::String(Text::from(&*path.to_string_lossy()));
        event.set("closed_file", path(&split.closed_file))?;
        event.set("opened_file", path(&split.opened_file))?;
        // Humble has no such field.
        if event.get("node_name").is_some() {
            event.set(
                "node_name",
                Value::String(Text::from(self.node_name.as_str())),
            )?;
        }
        self.splits.send(&event)
    }

    fn tell_low_space(&self) {
        for low in self.recorder.take_low_space() {
            let Some(events) = &self.low_space else {
                continue;
            };
            let value = self.low_space_value(events, &low);
            self.warn(value.and_then(|value| events.send(&value)));
        }
    }

    fn low_space_value(&self, events: &EventTopic, low: &LowSpace) -> Result<Value> {
        let text = |path: &Path| Text::from(&*path.to_string_lossy());
        let path = self.recorder.status().directory;
        let deleted = low.deleted.iter().map(|path| text(path)).collect();
        let mut event = events.schema().default_value()?;
        event.set("path", Value::String(text(&path)))?;
        event.set("available_bytes", low.space.available)?;
        event.set("capacity_bytes", low.space.capacity)?;
        event.set("min_free_space_bytes", low.wanted)?;
        event.set("deleted_files", Value::Array(Array::String(deleted)))?;
        event.set("recording_stopped", low.stopped)?;
        let name = Text::from(self.node_name.as_str());
        event.set("node_name", Value::String(name))?;
        Ok(event)
    }

    /// Only topics that have lost something since the last event.
    fn update_account(&mut self) {
        let (Some(losses), Some(topic_layout)) = (&self.losses, &self.topic) else {
            return;
        };
        // The first event that is heard has all losses until then.
        if !losses.is_heard() {
            return;
        }
        let mut topics = Vec::new();
        for topic in self.recorder.status().topics {
            let now = (
                topic.statistics.messages_lost_in_transport,
                topic.statistics.messages_lost_in_recorder(),
            );
            let more = new_losses(self.reported.entry(topic.name.clone()).or_default(), now);
            if more != (0, 0) {
                let values = vec![
                    Value::String(Text::from(topic.name.as_str())),
                    Value::Uint64(more.0),
                    Value::Uint64(more.1),
                ];
                topics.push(Struct::new(Arc::clone(topic_layout.root()), values));
            }
        }
        if topics.is_empty() {
            return;
        }
        let event = losses.schema().default_value().map_err(Error::from);
        let event = event.and_then(|mut event| {
            event.set(
                "node_name",
                Value::String(Text::from(self.node_name.as_str())),
            )?;
            let topics = Value::Array(Array::Struct(topics));
            event.set("messages_lost_statistics", topics)?;
            losses.send(&event)
        });
        self.warn(event);
    }
}

/// Losses beyond the highest counts so far. A count falls when a message arrives late: the same losses are not
/// published again when it rises.
fn new_losses(highest: &mut (u64, u64), now: (u64, u64)) -> (u64, u64) {
    let more = (
        now.0.saturating_sub(highest.0),
        now.1.saturating_sub(highest.1),
    );
    *highest = (highest.0.max(now.0), highest.1.max(now.1));
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_fall_and_rise_again_are_published_once() {
        let mut highest = (0, 0);
        let counts = [(3, 0), (1, 2), (3, 2), (4, 2), (4, 5)];
        let events = counts.map(|now| new_losses(&mut highest, now));
        assert_eq!(events, [(3, 0), (0, 2), (0, 0), (1, 0), (0, 3)]);
    }
}
