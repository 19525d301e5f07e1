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
use super::intake::IntakeOptions;
use super::mismatch::Mismatches;
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
                || self
                    .active
                    .values()
                    .any(|topic| topic.provisional.is_some() || topic.mismatches.is_pending());
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

    /// Brings the accounts up to what the publishers say they have sent, after a while for what is still on its way.
    fn close_accounts(&self) {
        let told: Vec<_> = self.active.values().map(Active::last_told).collect();
        let mut open: Vec<_> = self.active.values().zip(&told).collect();
        let end = self.shared.clock.now().saturating_add(LAST_WAIT);
        while !self.shared.gate.paused.load(Ordering::Acquire) && self.shared.clock.now() < end {
            open.retain(|(active, told)| active.lacks(told));
            if open.is_empty() {
                break;
            }
            let _woke = self.shared.clock.sleep_for(LAST_LOOK);
        }
        for (active, told) in self.active.values().zip(&told) {
            let here = self.here(&active.intake.name);
            let silent = active.silent(told, &here);
            active.intake.last_told(told);
            active.intake.fell_silent(&silent);
        }
    }

    /// The publishers of a topic that have not left.
    fn here(&self, topic: &str) -> BTreeSet<Gid> {
        let index = self.shared.index();
        index.publishers(topic).map(|info| info.gid).collect()
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
        }
    }

    fn consider(&mut self, topic: &str) {
        let (candidate, publishers) = {
            let index = self.shared.index();
            let publishers: Vec<_> = index.publishers(topic).cloned().collect();
            (index.candidate(topic, self.shared.node.name()), publishers)
        };
        if self.active.contains_key(topic) {
            return self.adapt(topic, &publishers);
        }
        match self.shared.options.selection.judge(&candidate) {
            Verdict::Leave => {}
            Verdict::Refuse(reason) => self.refuse(topic, &reason),
            Verdict::Take => {
                let type_name = candidate.types.first().map(|name| TypeName::parse(name));
                match type_name {
                    Some(Ok(type_name)) => self.subscribe(topic, type_name, &publishers),
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

    fn subscribe_static(&mut self, topic: &str, type_name: TypeName) {
        let publishers: Vec<_> = self.shared.index().publishers(topic).cloned().collect();
        self.subscribe(topic, type_name, &publishers);
    }

    fn subscribe(&mut self, topic: &str, type_name: TypeName, publishers: &[EndpointInfo]) {
        let options = &self.shared.options;
        let offers: Vec<QosProfile> = publishers.iter().map(|info| info.qos).collect();
        let hash = publishers.iter().find_map(|info| info.type_hash);
        let name = type_name.to_string();
        let found = options.types.at_hand(&name, hash.as_ref());
        let throttle = options.throttle.get(topic).copied().map(Throttle::new);
        let intake = self.shared.intakes.add(
            &self.shared.gate,
            IntakeOptions {
                name: topic.to_owned(),
                type_name: name.clone(),
                policy: options.policy(topic),
                throttle,
            },
        );
        let Some(intake) = intake else {
            return self.refuse(topic, &format!("{topic} is not recorded: too many topics"));
        };
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
        let active = Active {
            intake,
            type_name,
            type_hash,
            subscriptions: BTreeMap::new(),
            provisional: None,
            overridden: None,
            mismatches: Mismatches::default(),
            publishers: BTreeSet::new(),
            asked: (!known).then(BTreeSet::new),
        };
        self.active.insert(topic.to_owned(), active);
        self.adapt(topic, publishers);
    }

    /// Makes the subscriptions that the publishers need.
    fn adapt(&mut self, topic: &str, publishers: &[EndpointInfo]) {
        let shared = Arc::clone(&self.shared);
        let Some(active) = self.active.get_mut(topic) else {
            return;
        };
        let own_type = active.type_name.to_string();
        let others = publishers.iter().find(|info| info.type_name != own_type);
        let other_type = others.map(|info| info.type_name.clone());
        let publishers: Vec<_> = publishers
            .iter()
            .filter(|info| info.type_name == own_type)
            .collect();
        active.remember(&publishers);
        if let Some(requested) = shared.options.qos_overrides.get(topic) {
            let now = shared.clock.now();
            for text in active.mismatches.look(requested, &publishers, now) {
                shared.tell(&Note::warning(text));
            }
        }
        let offers: Vec<QosProfile> = publishers.iter().map(|info| info.qos).collect();
        active.ask_for_definition(&shared, &publishers);
        let result = active.subscribe(&shared, &offers);
        if let Err(error) = result {
            self.failed.insert(topic.to_owned());
            let text = format!("{topic} cannot be subscribed to and is tried again: {error}");
            self.refuse(topic, &text);
        } else if let Some(other) = other_type {
            let text = format!("{topic} is also published as {other}, which is not recorded");
            self.refuse(topic, &text);
        }
    }
}
