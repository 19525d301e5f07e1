use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::{EndpointInfo, Gid, Subscription, TopicSpec};

use super::command::Command;
use super::mismatch::Mismatches;
use super::note::Note;
use super::publishers::Publishers;
use super::qos_class::QosClass;
use super::shared::Shared;
use super::topic_input::TopicInput;
use super::transport_account::End;

/// Samples that are on their way to a subscription arrive within this time.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// A topic of the recording, with its subscriptions.
pub(super) struct RecordedTopic {
    pub(super) input: Arc<TopicInput>,
    /// The type that is subscribed to; none for a topic that is only counted: it has several types, or an invalid one.
    pub(super) type_name: Option<TypeName>,
    pub(super) type_hash: Option<TypeHash>,
    pub(super) subscriptions: BTreeMap<QosClass, Box<dyn Subscription>>,
    /// A subscription made before there was a publisher to adapt to.
    pub(super) provisional: Option<Provisional>,
    pub(super) overridden: Option<Box<dyn Subscription>>,
    pub(super) mismatches: Mismatches,
    pub(super) publishers: Publishers,
    /// The same topic with other types, whose messages are counted but not recorded.
    pub(super) conflicts: Vec<Self>,
    /// The nodes that were asked for the definition of the type; `None` if it is known.
    pub(super) asked: Option<BTreeSet<String>>,
}

/// Whether a publisher is still in the graph when its end is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Present,
    Left,
}

/// A subscription that matches every publisher, until the adapted ones are matched.
#[derive(Clone, Copy)]
pub(super) struct Provisional {
    class: QosClass,
    /// Since when the adapted ones are matched.
    replaced: Option<Time<Steady>>,
}

impl RecordedTopic {
    fn spec(
        &self,
        shared: &Shared,
        type_name: &TypeName,
        qos: QosProfile,
    ) -> crate::Result<TopicSpec> {
        let name = &self.input.name;
        let names = shared.options.names.as_ref();
        Ok(TopicSpec {
            name: names.map_or_else(|| Ok(name.clone()), |names| names.topic(name))?,
            type_name: type_name.clone(),
            type_hash: self.type_hash,
            qos,
        })
    }

    pub(super) fn subscribe(
        &mut self,
        shared: &Shared,
        offers: &[QosProfile],
    ) -> crate::Result<()> {
        let Some(type_name) = self.type_name.clone() else {
            return Ok(());
        };
        if let Some(qos) = shared.options.qos_overrides.get(&self.input.name) {
            if self.overridden.is_none() {
                let spec = self.spec(shared, &type_name, *qos)?;
                let receiver = Arc::clone(&self.input);
                self.overridden = Some(shared.node.subscribe(&spec, receiver)?);
            }
            return Ok(());
        }
        let mut classes = QosClass::all(offers);
        if classes.is_empty() {
            if !self.subscriptions.is_empty() {
                // The publishers may come back.
                return Ok(());
            }
            classes.insert(QosClass::WEAKEST);
            self.provisional = Some(Provisional {
                class: QosClass::WEAKEST,
                replaced: None,
            });
        } else if self
            .provisional
            .is_some_and(|made| classes.contains(&made.class))
        {
            self.provisional = None;
        }
        if !shared.has_sequences {
            // Duplicates could not be recognised: use one subscription that matches all publishers.
            let common = QosClass::common(offers);
            self.subscriptions.retain(|class, _| *class == common);
            classes = BTreeSet::from([common]);
        }
        for class in classes {
            if !self.subscriptions.contains_key(&class) {
                let spec = self.spec(shared, &type_name, class.profile(offers))?;
                let receiver = Arc::clone(&self.input);
                let subscription = shared.node.subscribe(&spec, receiver)?;
                self.subscriptions.insert(class, subscription);
            }
        }
        Ok(())
    }

    /// Whether a publisher has the type that is subscribed to.
    pub(super) fn is_of_type(&self, publisher: &EndpointInfo) -> bool {
        let own = self.type_name.as_ref();
        own.is_some_and(|own| own.to_string() == publisher.type_name)
    }

    /// A topic without a subscription.
    pub(super) fn new(
        input: Arc<TopicInput>,
        type_name: Option<TypeName>,
        type_hash: Option<TypeHash>,
    ) -> Self {
        Self {
            input,
            type_name,
            type_hash,
            subscriptions: BTreeMap::new(),
            provisional: None,
            overridden: None,
            mismatches: Mismatches::default(),
            publishers: Publishers::default(),
            conflicts: Vec::new(),
            asked: None,
        }
    }

    /// Updates the publishers: those that are in the graph, and those that left since the last call.
    pub(super) fn see(
        &mut self,
        here: &[EndpointInfo],
        departed: &[EndpointInfo],
        now: Time<Steady>,
    ) {
        self.see_own(here, departed, now);
        for conflict in &mut self.conflicts {
            conflict.see_own(here, departed, now);
        }
        // A type that no subscription counts: it is invalid, or came when discovery was over.
        for info in here.iter().chain(departed) {
            if !self.with_conflicts().any(|part| part.is_of_type(info)) {
                self.input.settle(info.gid, None, End::Open);
            }
        }
    }

    fn see_own(&mut self, here: &[EndpointInfo], departed: &[EndpointInfo], now: Time<Steady>) {
        let of_type = |infos: &[EndpointInfo]| -> BTreeSet<Gid> {
            let own = infos.iter().filter(|info| self.is_of_type(info));
            own.map(|info| info.gid).collect()
        };
        let (own, left) = (of_type(here), of_type(departed));
        let new = self.publishers.see(&own, left, now);
        self.input.came(&new);
    }

    /// The topic with its own type, then with the others.
    pub(super) fn with_conflicts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.conflicts)
    }

    /// Subscribes to the other types of the topic to count their messages; returns the new ones.
    pub(super) fn count_conflicts(
        &mut self,
        shared: &Shared,
        publishers: &[&EndpointInfo],
    ) -> Vec<String> {
        let mut new = Vec::new();
        for info in publishers {
            if self.with_conflicts().any(|part| part.is_of_type(info)) {
                continue;
            }
            // An invalid type cannot be subscribed to: `see` counts its publishers as unknown.
            if let Ok(type_name) = TypeName::parse(&info.type_name) {
                let input = self.input.conflict(&info.type_name);
                self.conflicts
                    .push(Self::new(input, Some(type_name), info.type_hash));
            }
            new.push(info.type_name.clone());
        }
        for conflict in &mut self.conflicts {
            let own = publishers.iter().filter(|info| conflict.is_of_type(info));
            let offers: Vec<_> = own.map(|info| info.qos).collect();
            // Without a subscription, the messages of these publishers are unknown.
            let _counted = conflict.subscribe(shared, &offers);
        }
        new
    }

    /// Settles the ends of publishers that left a while ago.
    pub(super) fn settle_left(&mut self, now: Time<Steady>) {
        for gid in self.publishers.take_left(now) {
            self.settle(gid, Presence::Left);
        }
        for conflict in &mut self.conflicts {
            conflict.settle_left(now);
        }
    }

    /// The publishers that can be asked for their last number.
    pub(super) fn reliable(&self, here: &[EndpointInfo]) -> BTreeSet<Gid> {
        here.iter()
            .filter(|info| self.is_of_type(info) && QosClass::of(&info.qos).is_reliable())
            .map(|info| info.gid)
            .collect()
    }

    /// Settles the ends of all publishers, at the end of the recording.
    pub(super) fn settle_all(&self, here: &[EndpointInfo]) {
        let here = here.iter().filter(|info| self.is_of_type(info));
        let here: BTreeSet<_> = here.map(|info| info.gid).collect();
        let seen = self.input.last_seen().into_iter().map(|(gid, _)| gid);
        let all: BTreeSet<_> = seen
            .chain(self.publishers.all())
            .chain(here.iter().copied())
            .collect();
        for gid in all {
            let presence = if here.contains(&gid) {
                Presence::Present
            } else {
                Presence::Left
            };
            self.settle(gid, presence);
        }
    }

    fn all_subscriptions(&self) -> impl Iterator<Item = &dyn Subscription> {
        let all = self.subscriptions.values().chain(&self.overridden);
        all.map(|subscription| &**subscription)
    }

    /// The last number that a publisher has announced.
    fn last_announced(&self, gid: &Gid) -> Option<u64> {
        self.all_subscriptions()
            .filter_map(|subscription| subscription.last_announced(gid))
            .max()
    }

    fn settle(&self, gid: Gid, presence: Presence) {
        let any = |is: fn(&dyn Subscription, &Gid) -> bool| {
            self.all_subscriptions()
                .any(|subscription| is(subscription, &gid))
        };
        if any(|subscription, gid| subscription.is_local(gid)) {
            // One of our own: all its messages since the subscription arrived.
            return self.input.settle(gid, None, End::Known);
        }
        let announced = self.last_announced(&gid);
        let is_known = match presence {
            // An old number says nothing about later messages.
            Presence::Present => any(|subscription, gid| subscription.has_answered(gid)),
            // It left in order, and everything that it announced has arrived.
            Presence::Left => {
                let seen = self.input.last_seen_of(&gid);
                announced.is_some_and(|last| seen.is_none_or(|seen| seen == last))
                    && !any(|subscription, gid| subscription.is_lease_expired(gid))
            }
        };
        let end = if is_known { End::Known } else { End::Open };
        self.input.settle(gid, announced, end);
    }

    /// Asks all publishers for their last number; false if the transport cannot ask.
    pub(super) fn request_last_numbers(&self) -> bool {
        let mut answers = false;
        for subscription in self.all_subscriptions() {
            answers |= subscription.request_last_numbers();
        }
        answers
    }

    /// Whether one of these publishers was asked and has not answered.
    pub(super) fn awaits_answers(&self, asked: &BTreeSet<Gid>) -> bool {
        asked.iter().any(|gid| {
            !self
                .all_subscriptions()
                .any(|subscription| subscription.has_answered(gid) || subscription.is_local(gid))
        })
    }

    /// Whether an announced message has not arrived yet.
    pub(super) fn lacks(&self) -> bool {
        let mut seen = self.input.last_seen().into_iter();
        seen.any(|(gid, seen)| self.last_announced(&gid).is_some_and(|last| seen < last))
    }

    /// Ends the subscription that was made before there were publishers, once others have heard them for a while.
    pub(super) fn drop_provisional(&mut self, now: Time<Steady>) {
        let Some(made) = &mut self.provisional else {
            return;
        };
        let class = made.class;
        let mut others = self.subscriptions.iter();
        if !others.any(|(other, subscription)| *other != class && subscription.matched() > 0) {
            made.replaced = None;
        } else if now - *made.replaced.get_or_insert(now) >= ON_ITS_WAY {
            self.subscriptions.remove(&class);
            self.provisional = None;
        }
    }

    /// Asks the node of each publisher for the definition, on a thread of its own.
    pub(super) fn ask_for_definition(
        &mut self,
        shared: &Arc<Shared>,
        publishers: &[&EndpointInfo],
    ) {
        let Some(asked) = &mut self.asked else {
            return;
        };
        for info in publishers {
            let Some(node) = info.node.as_ref().filter(|_| info.type_hash.is_some()) else {
                continue;
            };
            if !asked.insert(node.full()) {
                continue;
            }
            let (shared_there, info) = (Arc::clone(shared), (*info).clone());
            let topic = self.input.topic();
            let thread = shared.base.spawn("recorder-types", move || {
                match shared_there.options.types.ask(&info) {
                    Ok(found) => shared_there.command(Command::Define { topic, found }),
                    Err(reason) => shared_there.report(&Note::info(reason)),
                }
            });
            if let Err(error) = thread {
                shared.report(&Note::warning(format!(
                    "cannot start a thread to ask for a type definition: {error}"
                )));
            }
        }
    }
}
