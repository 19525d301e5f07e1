use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_bag::TopicInfo;
use timeloom_msg::qos::{QosSpelling, profiles_to_yaml};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_time::{Duration, WaitOptions};
use timeloom_wire::{EndpointInfo, Gid};

use super::active::Active;
use super::command::{Command, NewTopic};
use super::intake::{Intake, IntakeOptions};
use super::note::Note;
use super::options::DiscoveryMode;
use super::qos_class::QosClass;
use super::selection::Verdict;
use super::shared::Shared;
use super::throttle::Throttle;

/// Looks at the graph and keeps the subscriptions; they end with it.
pub(super) struct Discovery {
    shared: Arc<Shared>,
    active: BTreeMap<String, Active>,
    /// Topics of which people were told why they are not recorded.
    refused: BTreeSet<String>,
    /// Topics that could not be subscribed to and are tried again.
    failed: BTreeSet<String>,
}

/// Nothing new for so long means that all have told what they have.
const QUIET: Duration = Duration::from_millis(500);
/// How long to wait for the first topics when there is no second look.
const FIRST_LOOK: Duration = Duration::from_secs(3);
/// How long the end waits for what was announced and has not come, and how often it looks.
const LAST_WAIT: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(60);

impl Discovery {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            active: BTreeMap::new(),
            refused: BTreeSet::new(),
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
                || self.active.values().any(|topic| {
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

    /// Asks the publishers what they have sent, waits a while for answers and for what is on its way, and settles the
    /// end of each.
    fn close_accounts(&mut self) {
        let now = self.shared.clock.now();
        let mut here = BTreeMap::new();
        for (topic, active) in &mut self.active {
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
            .active
            .iter()
            .flat_map(|(topic, active)| active.with_conflicts().map(move |part| (topic, part)))
            .filter(|(_, part)| part.ask_last_numbers())
            .map(|(topic, part)| (part, part.reliable(all(topic))))
            .collect();
        let end = now.saturating_add(LAST_WAIT);
        while self.shared.clock.now() < end && self.waits(&asked) {
            let _woke = self.shared.clock.sleep_for(LAST_LOOK);
        }
        for (topic, active) in &self.active {
            for part in active.with_conflicts() {
                part.settle_all(all(topic));
            }
        }
    }

    /// Whether answers, or messages that were announced, may still come.
    fn waits(&self, asked: &[(&Active, BTreeSet<Gid>)]) -> bool {
        let paused = self.shared.gate.paused.load(Ordering::Acquire);
        asked
            .iter()
            .any(|(part, able)| part.awaits_answers(able) || (!paused && part.lacks()))
    }

    /// With simulated time nothing can be stamped before the clock has started.
    fn wait_for_clock(&self) {
        if let Some(clock) = &self.shared.options.log_clock
            && !clock.started()
        {
            self.shared.tell(&Note::info("waiting for /clock"));
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
        let unnamed = self.active.iter();
        for (topic, _) in unnamed.filter(|(_, active)| active.mismatches.is_pending()) {
            self.shared.index().look_again(topic);
        }
        let changed = self.shared.index().take_changed();
        for topic in changed {
            self.consider(&topic);
        }
        let now = self.shared.clock.now();
        for active in self.active.values_mut() {
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
        if self.active.contains_key(topic) {
            return self.adapt(topic, &publishers, &departed);
        }
        match self.shared.options.selection.judge(&candidate) {
            Verdict::Leave => {}
            Verdict::Conflict(reason) => {
                self.refuse(topic, &reason);
                let type_name = candidate.types.first().map(|name| TypeName::parse(name));
                if let Some(Ok(type_name)) = type_name {
                    self.count_only(topic, type_name, &publishers, &departed);
                }
            }
            Verdict::Take => {
                let type_name = candidate.types.first().map(|name| TypeName::parse(name));
                match type_name {
                    Some(Ok(type_name)) => {
                        self.subscribe(topic, type_name, &publishers, &departed);
                    }
                    Some(Err(error)) => {
                        self.refuse(topic, &format!("{topic} is not recorded: {error}"));
                    }
                    None => {}
                }
            }
        }
    }

    fn refuse(&mut self, topic: &str, reason: &str) {
        if self.refused.insert(topic.to_owned()) {
            self.shared.tell(&Note::warning(reason));
        }
    }

    /// Adds a topic to the account that is not recorded because it has several types.
    fn count_only(
        &mut self,
        topic: &str,
        type_name: TypeName,
        publishers: &[EndpointInfo],
        departed: &[EndpointInfo],
    ) {
        let name = type_name.to_string();
        let Some(intake) = self.new_intake(topic, &name) else {
            return;
        };
        self.shared.command(Command::AddTopic(Box::new(NewTopic {
            topic: intake.topic(),
            info: TopicInfo::new(topic, &name),
            awaits_definition: false,
            repeat: None,
        })));
        let mut active = Active::new(intake, type_name, None);
        active.is_recorded = false;
        self.active.insert(topic.to_owned(), active);
        self.adapt(topic, publishers, departed);
    }

    /// The way in of a topic; none, and a warning, when there are too many.
    fn new_intake(&mut self, topic: &str, type_name: &str) -> Option<Arc<Intake>> {
        let options = &self.shared.options;
        let throttle = options.throttle.get(topic).copied().map(Throttle::new);
        let intake = self.shared.intakes.add(
            &self.shared.gate,
            IntakeOptions {
                name: topic.to_owned(),
                type_name: type_name.to_owned(),
                policy: options.policy(topic),
                throttle,
            },
        );
        if intake.is_none() {
            self.refuse(topic, &format!("{topic} is not recorded: too many topics"));
        }
        intake
    }

    fn subscribe_static(&mut self, topic: &str, type_name: TypeName) {
        let publishers: Vec<_> = self.shared.index().publishers(topic).cloned().collect();
        self.subscribe(topic, type_name, &publishers, &[]);
    }

    /// Begins to record a topic that has publishers, or had some a moment ago.
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
        let Some(intake) = self.new_intake(topic, &name) else {
            return;
        };
        let options = &self.shared.options;
        let type_hash = hash.or_else(|| found.as_ref().and_then(|found| found.hash));
        let repeat = options.repeat.get(topic).copied().or_else(|| {
            let latched = QosClass::all(&offers)
                .iter()
                .any(|class| class.is_latched());
            options.repeat_all.filter(|_| latched)
        });
        if let (Some(depth), Some(mut ring)) = (repeat, self.shared.gate.ring()) {
            ring.repeat(intake.topic(), depth);
        }
        let known = found.is_some();
        let info = TopicInfo {
            offered_qos_profiles: profiles_to_yaml(&offers, QosSpelling::Names),
            type_description_hash: type_hash.map(|hash| hash.to_string()).unwrap_or_default(),
            definition: found.map(|found| found.definition).unwrap_or_default(),
            ..TopicInfo::new(topic, &name)
        };
        // Before the first sample can come: the writer knows the topic when it does.
        self.shared.command(Command::AddTopic(Box::new(NewTopic {
            topic: intake.topic(),
            info,
            awaits_definition: !known,
            repeat,
        })));
        let mut active = Active::new(intake, type_name, type_hash);
        active.asked = (!known).then(BTreeSet::new);
        self.active.insert(topic.to_owned(), active);
        self.adapt(topic, publishers, departed);
    }

    /// Makes the subscriptions that the publishers need.
    fn adapt(&mut self, topic: &str, publishers: &[EndpointInfo], departed: &[EndpointInfo]) {
        let shared = Arc::clone(&self.shared);
        let Some(active) = self.active.get_mut(topic) else {
            return;
        };
        let all = publishers.iter().chain(departed);
        let conflicts = active.count_conflicts(&shared, &all.collect::<Vec<_>>());
        active.see(publishers, departed, shared.clock.now());
        let own: Vec<_> = publishers
            .iter()
            .filter(|info| active.records(info))
            .collect();
        if let Some(requested) = shared.options.qos_overrides.get(topic) {
            let now = shared.clock.now();
            for text in active.mismatches.look(requested, &own, now) {
                shared.tell(&Note::warning(text));
            }
        }
        active.ask_for_definition(&shared, &own);
        // Publishers that left a moment ago may come back: they are subscribed to as they were.
        let left = departed.iter().filter(|info| active.records(info));
        let offers = own.iter().copied().chain(left.filter(|_| own.is_empty()));
        let offers: Vec<QosProfile> = offers.map(|info| info.qos).collect();
        let result = if active.is_recorded {
            active.subscribe(&shared, &offers)
        } else {
            Ok(())
        };
        if let Err(error) = result {
            self.failed.insert(topic.to_owned());
            let text = format!("{topic} cannot be subscribed to and is tried again: {error}");
            self.refuse(topic, &text);
        } else if let Some(other) = conflicts.first() {
            let text = format!(
                "{topic} is also published as {other}: messages of that type are counted, not recorded"
            );
            self.refuse(topic, &text);
        }
    }
}
