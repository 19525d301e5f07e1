use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_bag::TopicInfo;
use timeloom_msg::qos::{QosSpelling, profiles_to_yaml};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_time::{Duration, WaitOptions};
use timeloom_wire::{EndpointInfo, Gid};

use super::command::{Command, NewTopic};
use super::note::Note;
use super::options::DiscoveryMode;
use super::qos_class::QosClass;
use super::recorded_topic::RecordedTopic;
use super::selection::Verdict;
use super::shared::Shared;
use super::throttle::Throttle;
use super::topic_input::{TopicInput, TopicInputOptions};

/// The thread that follows the graph and owns the subscriptions.
pub(super) struct Discovery {
    shared: Arc<Shared>,
    topics: BTreeMap<String, RecordedTopic>,
    /// Topics with a warning why they are not recorded.
    warned: BTreeSet<String>,
    /// Topics whose subscription failed; they are tried again.
    failed: BTreeSet<String>,
}

/// The graph is complete when nothing has changed for so long.
const QUIET: Duration = Duration::from_millis(500);
/// The longest wait for the graph to settle, if discovery runs once.
const FIRST_LOOK: Duration = Duration::from_secs(3);
/// Time that the end waits for announced messages, and the interval of its checks.
const LAST_WAIT: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(60);

impl Discovery {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            topics: BTreeMap::new(),
            warned: BTreeSet::new(),
            failed: BTreeSet::new(),
        }
    }

    /// Runs until the recording ends; all subscriptions are gone when it returns.
    pub(super) fn run(mut self) {
        self.wait_for_clock();
        for (topic, type_name) in self.shared.options.static_topics.clone() {
            self.subscribe_static(&topic, type_name);
        }
        if self.shared.options.discovery == DiscoveryMode::Once {
            self.wait_until_settled();
        }
        while !self.shared.ending.is_cancelled() {
            self.shared.graph_changed.clear();
            if self.shared.discovering.load(Ordering::Acquire) {
                self.look();
            }
            if self.shared.options.discovery == DiscoveryMode::Once {
                self.shared.discovering.store(false, Ordering::Release);
            }
            let pending = !self.failed.is_empty()
                || self.topics.values().any(|topic| {
                    topic.provisional.is_some()
                        || topic.publishers.has_left()
                        || topic.mismatches.is_pending()
                });
            let patience = if pending {
                self.shared.options.polling_interval
            } else {
                LONG
            };
            if !self.shared.ending.is_cancelled() {
                self.shared.graph_changed.wait_for(patience);
            }
        }
        self.close_accounts();
    }

    /// Asks the publishers for their last numbers, waits a while for the answers and for messages on their way, and
    /// settles the end of each publisher.
    fn close_accounts(&mut self) {
        let now = self.shared.clock.now();
        let mut here = BTreeMap::new();
        for (topic, active) in &mut self.topics {
            let (publishers, departed) = {
                let mut index = self.shared.index();
                let departed = index.take_departed(topic);
                let publishers: Vec<_> = index.publishers(topic).cloned().collect();
                (publishers, departed)
            };
            active.see(&publishers, &departed, now);
            here.insert(topic.clone(), publishers);
        }
        let all = |topic: &str| here.get(topic).map_or(&[][..], Vec::as_slice);
        let asked: Vec<_> = self
            .topics
            .iter()
            .flat_map(|(topic, active)| active.with_conflicts().map(move |part| (topic, part)))
            .filter(|(_, part)| part.request_last_numbers())
            .map(|(topic, part)| (part, part.reliable(all(topic))))
            .collect();
        let end = now.saturating_add(LAST_WAIT);
        while self.shared.clock.now() < end && self.waits(&asked) {
            let _woke = self.shared.clock.sleep_for(LAST_LOOK);
        }
        for (topic, active) in &self.topics {
            for part in active.with_conflicts() {
                part.settle_all(all(topic));
            }
        }
    }

    /// Whether answers, or announced messages, may still arrive.
    fn waits(&self, asked: &[(&RecordedTopic, BTreeSet<Gid>)]) -> bool {
        let paused = self.shared.input.is_paused();
        asked
            .iter()
            .any(|(part, able)| part.awaits_answers(able) || (!paused && part.lacks()))
    }

    /// In simulated time, messages have no log time before the clock has started.
    fn wait_for_clock(&self) {
        if let Some(clock) = &self.shared.options.log_clock
            && !clock.started()
        {
            self.shared.report(&Note::info("waiting for /clock"));
            let options = WaitOptions::new().cancel(&self.shared.ending);
            let _woke = clock.wait_until_started(&options);
        }
    }

    fn wait_until_settled(&self) {
        let end = self.shared.clock.now().saturating_add(FIRST_LOOK);
        while !self.shared.ending.is_cancelled() && self.shared.clock.now() < end {
            self.shared.graph_changed.clear();
            let news = self.shared.graph_changed.wait_for(QUIET);
            if !news && self.shared.index().has_topics() {
                return;
            }
        }
    }

    fn look(&mut self) {
        for topic in std::mem::take(&mut self.failed) {
            self.shared.index().look_again(&topic);
        }
        let unnamed = self.topics.iter();
        for (topic, _) in unnamed.filter(|(_, active)| active.mismatches.is_pending()) {
            self.shared.index().look_again(topic);
        }
        let changed = self.shared.index().take_changed();
        for topic in changed {
            self.consider(&topic);
        }
        let now = self.shared.clock.now();
        for active in self.topics.values_mut() {
            active.drop_provisional(now);
            active.settle_left(now);
        }
    }

    fn consider(&mut self, topic: &str) {
        let (candidate, publishers, departed) = {
            let mut index = self.shared.index();
            let departed = index.take_departed(topic);
            let publishers: Vec<_> = index.publishers(topic).cloned().collect();
            let own = self.shared.node.name();
            (index.candidate(topic, own, &departed), publishers, departed)
        };
        if self.topics.contains_key(topic) {
            return self.adapt(topic, &publishers, &departed);
        }
        match self.shared.options.selection.judge(&candidate) {
            Verdict::Leave => {}
            Verdict::Conflict(type_name, reason) => {
                self.warn_once(topic, &reason);
                self.count_only(topic, &type_name, &publishers, &departed);
            }
            Verdict::Take(name) => match TypeName::parse(&name) {
                Ok(type_name) => self.subscribe(topic, type_name, &publishers, &departed),
                Err(error) => {
                    self.warn_once(topic, &format!("{topic} is not recorded: {error}"));
                    self.count_only(topic, &name, &publishers, &departed);
                }
            },
        }
    }

    fn warn_once(&mut self, topic: &str, reason: &str) {
        if self.warned.insert(topic.to_owned()) {
            self.shared.report(&Note::warning(reason));
        }
    }

    /// Adds a topic to the account that is not recorded: it has several types, or an invalid one.
    fn count_only(
        &mut self,
        topic: &str,
        type_name: &str,
        publishers: &[EndpointInfo],
        departed: &[EndpointInfo],
    ) {
        let Some(input) = self.new_input(topic, type_name) else {
            return;
        };
        self.shared.command(Command::AddTopic(Box::new(NewTopic {
            topic: input.topic(),
            info: TopicInfo::new(topic, type_name),
            awaits_definition: false,
            repeat: None,
        })));
        let counted = RecordedTopic::new(input, None, None);
        self.topics.insert(topic.to_owned(), counted);
        self.adapt(topic, publishers, departed);
    }

    /// The input of a topic; `None`, with a warning, if there are too many topics.
    fn new_input(&mut self, topic: &str, type_name: &str) -> Option<Arc<TopicInput>> {
        let options = &self.shared.options;
        let throttle = options.throttle.get(topic).copied().map(Throttle::new);
        let input = self.shared.inputs.add(
            &self.shared.input,
            TopicInputOptions {
                name: topic.to_owned(),
                type_name: type_name.to_owned(),
                policy: options.policy(topic),
                throttle,
            },
        );
        if input.is_none() {
            self.warn_once(topic, &format!("{topic} is not recorded: too many topics"));
        }
        input
    }

    fn subscribe_static(&mut self, topic: &str, type_name: TypeName) {
        let publishers: Vec<_> = self.shared.index().publishers(topic).cloned().collect();
        self.subscribe(topic, type_name, &publishers, &[]);
    }

    /// Starts to record a topic that has publishers, or had some a moment ago.
    fn subscribe(
        &mut self,
        topic: &str,
        type_name: TypeName,
        publishers: &[EndpointInfo],
        departed: &[EndpointInfo],
    ) {
        let options = &self.shared.options;
        let all = || publishers.iter().chain(departed);
        let offers: Vec<QosProfile> = all().map(|info| info.qos).collect();
        let hash = all().find_map(|info| info.type_hash);
        let name = type_name.to_string();
        let found = options.types.at_hand(&name, hash.as_ref());
        let Some(input) = self.new_input(topic, &name) else {
            return;
        };
        let options = &self.shared.options;
        let type_hash = hash.or_else(|| found.as_ref().and_then(|found| found.hash));
        let classes = QosClass::all(&offers);
        let repeat = options.repeats(topic, classes.iter().any(|class| class.is_latched()));
        if let Some(depth) = repeat {
            self.shared.input.repeat(input.topic(), depth);
        }
        // With triggers, the ring repeats messages at the start of each window.
        let repeat = repeat.filter(|_| options.triggers.is_none());
        let known = found.is_some();
        let info = TopicInfo {
            offered_qos_profiles: profiles_to_yaml(&offers, QosSpelling::Names),
            type_description_hash: type_hash.map(|hash| hash.to_string()).unwrap_or_default(),
            definition: found.map(|found| found.definition).unwrap_or_default(),
            ..TopicInfo::new(topic, &name)
        };
        self.shared.bind_triggers(input.topic(), &info);
        // Before the first sample can arrive, so that the writer knows its topic.
        self.shared.command(Command::AddTopic(Box::new(NewTopic {
            topic: input.topic(),
            info,
            awaits_definition: !known,
            repeat,
        })));
        let mut recorded = RecordedTopic::new(input, Some(type_name), type_hash);
        recorded.asked = (!known).then(BTreeSet::new);
        self.topics.insert(topic.to_owned(), recorded);
        self.adapt(topic, publishers, departed);
    }

    /// Makes the subscriptions that the publishers need.
    fn adapt(&mut self, topic: &str, publishers: &[EndpointInfo], departed: &[EndpointInfo]) {
        let shared = Arc::clone(&self.shared);
        let Some(active) = self.topics.get_mut(topic) else {
            return;
        };
        let all = publishers.iter().chain(departed);
        let conflicts = active.count_conflicts(&shared, &all.collect::<Vec<_>>());
        active.see(publishers, departed, shared.clock.now());
        let own: Vec<_> = publishers
            .iter()
            .filter(|info| active.is_of_type(info))
            .collect();
        if let Some(requested) = shared.options.qos_overrides.get(topic) {
            let now = shared.clock.now();
            for text in active.mismatches.look(requested, &own, now) {
                shared.report(&Note::warning(text));
            }
        }
        active.ask_for_definition(&shared, &own);
        // Publishers that left a moment ago may come back: they are subscribed to as they were.
        let left = departed.iter().filter(|info| active.is_of_type(info));
        let offers = own.iter().copied().chain(left.filter(|_| own.is_empty()));
        let offers: Vec<QosProfile> = offers.map(|info| info.qos).collect();
        shared.set_deadline(topic, &offers);
        if let Err(error) = active.subscribe(&shared, &offers) {
            self.failed.insert(topic.to_owned());
            let text = format!("cannot subscribe to {topic}, will retry: {error}");
            self.warn_once(topic, &text);
        } else if let Some(other) = conflicts.first() {
            let text = format!(
                "{topic} is also published as {other}: messages of that type are counted, not recorded"
            );
            self.warn_once(topic, &text);
        }
    }
}
