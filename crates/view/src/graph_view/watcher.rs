use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use timeloom_node::TypeFinder;
use timeloom_time::{BaseThread, Clock, Duration, Event, Steady, System};
use timeloom_wire::{EndpointInfo, EndpointKind, Graph, GraphEvent, GraphWatch, Node, Participant};

use super::intake::Intake;
use super::known_topic::{Definition, KnownTopic, retention};
use super::live_timeline::LiveTimeline;
use super::options::{GraphViewOptions, Listening};
use super::recorder_losses::RecorderLosses;
use crate::channel::{Channel, ChannelId};
use crate::definition_text::definition_text;
use crate::error::{Error, Result};
use crate::peer::lock;
use crate::protocol::Level;
use crate::snapshot::{Timeline, TopicRow};
use crate::source::Demand;
use crate::source_output::SourceOutput;

/// Delay before graph changes are processed: a robot that starts sends many.
const CALM: Duration = Duration::from_millis(50);
/// Limit for topics, because names come from outside.
const MOST_TOPICS: usize = 10_000;

type Key = (String, String);

/// Follows the graph: advertises a channel per topic and subscribes to it.
pub(super) struct Watcher {
    shared: Arc<Shared>,
    thread: Option<BaseThread<()>>,
    _watch: GraphWatch,
}

struct Shared {
    node: Arc<dyn Node>,
    finder: TypeFinder,
    output: SourceOutput,
    options: GraphViewOptions,
    graph: Mutex<Graph>,
    topics: Mutex<BTreeMap<Key, KnownTopic>>,
    recorders: RecorderLosses,
    timeline: Arc<LiveTimeline>,
    system: Clock<System>,
    news: Event,
    steady: Clock<Steady>,
    stop: AtomicBool,
}

impl Watcher {
    pub(super) fn start(
        participant: &Arc<dyn Participant>,
        node: &Arc<dyn Node>,
        finder: TypeFinder,
        output: SourceOutput,
        options: GraphViewOptions,
    ) -> Result<Self> {
        let base = participant.time_base();
        let timeline = Arc::new(LiveTimeline::default());
        let shared = Arc::new(Shared {
            node: Arc::clone(node),
            finder,
            output,
            options,
            graph: Mutex::default(),
            topics: Mutex::default(),
            recorders: RecorderLosses::new(&timeline),
            timeline,
            system: Clock::on(&base),
            news: Event::new(&base),
            steady: Clock::on(&base),
            stop: AtomicBool::new(false),
        });
        let observing = Arc::downgrade(&shared);
        let watch = participant.watch_graph(Box::new(move |event| observe(&observing, event)));
        let following = Arc::clone(&shared);
        let name = "view-graph";
        let thread = base.spawn(name, move || following.follow());
        let thread = thread.map_err(|source| Error::Thread {
            name: name.to_owned(),
            source,
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
            _watch: watch,
        })
    }

    pub(super) fn graph(&self) -> Graph {
        lock(&self.shared.graph).clone()
    }

    pub(super) fn rows(&self) -> Vec<TopicRow> {
        let topics = lock(&self.shared.topics);
        let recorders = &self.shared.recorders;
        let row = |topic: &KnownTopic| topic.row(recorders.of(&topic.name));
        topics.values().map(row).collect()
    }

    /// Messages and losses of the last minutes.
    pub(super) fn timeline(&self) -> Option<Timeline> {
        let now = self.shared.system.now();
        self.shared.timeline.timeline(now.nanos())
    }

    /// Stores which channels have subscribers; the thread updates the subscriptions.
    pub(super) fn demand(&self, channel: ChannelId, demand: Demand) {
        let mut topics = lock(&self.shared.topics);
        let shown = |topic: &&mut KnownTopic| topic.intake.channel() == Some(channel);
        if let Some(topic) = topics.values_mut().find(shown) {
            topic.wanted = demand == Demand::Wanted;
        }
        self.shared.news.set();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.news.set();
        if let Some(thread) = self.thread.take() {
            // A panicked thread needs no cleanup.
            drop(thread.join());
        }
    }
}

/// Runs on the transport's thread: only sets flags.
fn observe(shared: &Weak<Shared>, event: &GraphEvent) {
    let Some(shared) = shared.upgrade() else {
        return;
    };
    // Skip DDS topics that are not ROS topics.
    if matches!(event, GraphEvent::EndpointChanged(info) if !info.topic.starts_with('/')) {
        return;
    }
    if lock(&shared.graph).apply(event) {
        shared.news.set();
    }
}

impl Shared {
    fn follow(self: &Arc<Self>) {
        let pause = self.news.clone();
        loop {
            pause.wait();
            if self.stop.load(Ordering::SeqCst) {
                break;
            }
            pause.clear();
            self.look();
            // Changes that arrive in the meantime are processed together.
            let _woke = self.steady.sleep_for(CALM);
        }
        lock(&self.topics).clear();
    }

    /// Brings topics, channels and subscriptions in line with the graph.
    fn look(self: &Arc<Self>) {
        let mut published = self.published();
        let mut sought = Vec::new();
        let mut topics = lock(&self.topics);
        for key in published.keys() {
            if !topics.contains_key(key) && topics.len() < MOST_TOPICS {
                let intake = Intake::new(&self.output, &self.timeline, self.options.clock.clone());
                topics.insert(key.clone(), KnownTopic::new(&key.0, &key.1, intake));
            }
        }
        for (key, topic) in &mut *topics {
            match published.remove(key) {
                Some(publishers) => {
                    if matches!(topic.definition, Definition::Idle) {
                        topic.definition = Definition::Sought;
                        sought.extend(publishers.first().cloned());
                    }
                    self.show(topic, &publishers);
                    self.listen(topic, &publishers);
                }
                None => self.hide(topic),
            }
        }
        drop(topics);
        for publisher in sought {
            self.seek(publisher);
        }
        self.follow_recorders();
    }

    fn follow_recorders(&self) {
        let graph = lock(&self.graph).clone();
        if let Err(reason) = self.recorders.follow(&graph, &*self.node) {
            let text = format!("losses of recorders are not shown: {reason}");
            self.output.notice("recorders", Level::Warning, &text);
        }
    }

    /// The publishers of each topic to show, without our own.
    fn published(&self) -> BTreeMap<Key, Vec<EndpointInfo>> {
        let mut published: BTreeMap<Key, Vec<EndpointInfo>> = BTreeMap::new();
        let graph = lock(&self.graph);
        for endpoint in graph.endpoints() {
            let ours = endpoint.node.as_ref() == Some(self.node.name());
            if endpoint.kind == EndpointKind::Publisher
                && !ours
                && self.options.shows(&endpoint.topic, &endpoint.type_name)
            {
                let key = (endpoint.topic.clone(), endpoint.type_name.clone());
                published.entry(key).or_default().push(endpoint.clone());
            }
        }
        published
    }

    /// Starts the search for a definition; the result arrives on another thread.
    fn seek(self: &Arc<Self>, publisher: EndpointInfo) {
        let asking = Arc::downgrade(self);
        let asked = publisher.clone();
        self.finder.find(&asked, move |found| {
            let Some(shared) = asking.upgrade() else {
                return;
            };
            let text = found
                .map_err(|error| error.to_string())
                .and_then(|schema| definition_text(&schema).map_err(|error| error.to_string()));
            let key = (publisher.topic, publisher.type_name);
            if let Some(topic) = lock(&shared.topics).get_mut(&key) {
                topic.definition = match text {
                    Ok(text) => Definition::Found(Arc::new(text)),
                    Err(reason) => Definition::Missing(reason),
                };
            }
            shared.news.set();
        });
    }

    /// Advertises a channel if the definition is known, otherwise sends a notice.
    fn show(&self, topic: &mut KnownTopic, publishers: &[EndpointInfo]) {
        match &topic.definition {
            Definition::Found(text) if topic.intake.channel().is_none() => {
                let channel = Channel {
                    topic: topic.name.clone(),
                    type_name: topic.type_name.clone(),
                    definition: text.to_string(),
                    retention: retention(publishers),
                };
                topic
                    .intake
                    .show(self.output.advertise(vec![channel]).first().copied());
            }
            Definition::Missing(reason) => {
                let text = format!("{} is not shown to clients: {reason}", topic.name);
                self.output.notice(&notice_id(topic), Level::Warning, &text);
            }
            _ => {}
        }
    }

    fn listen(&self, topic: &mut KnownTopic, publishers: &[EndpointInfo]) {
        if matches!(topic.definition, Definition::Sought) {
            // Wait for the channel: a latched message would be missed.
            return;
        }
        let always = self.options.listening == Listening::Always;
        if always || topic.wanted || SourceOutput::is_looked_at(&topic.type_name) {
            if let Err(reason) = topic.listen(&*self.node, publishers) {
                let text = format!("{} is not listened to: {reason}", topic.name);
                self.output.notice(&notice_id(topic), Level::Warning, &text);
            }
        } else {
            topic.deafen();
        }
    }

    /// Unsubscribes from a topic without publishers; its counts stay.
    fn hide(&self, topic: &mut KnownTopic) {
        topic.deafen();
        if let Some(channel) = topic.intake.channel() {
            topic.intake.show(None);
            topic.wanted = false;
            self.output.unadvertise(&[channel]);
        }
        if matches!(topic.definition, Definition::Missing(_)) {
            self.output.withdraw(&notice_id(topic));
            // The next publisher may provide a definition.
            topic.definition = Definition::Idle;
        }
    }
}

fn notice_id(topic: &KnownTopic) -> String {
    format!("topic {} {}", topic.name, topic.type_name)
}
