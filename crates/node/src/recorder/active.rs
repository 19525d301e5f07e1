use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::{EndpointInfo, Gid, Subscription, TopicSpec};

use super::command::Command;
use super::intake::Intake;
use super::mismatch::Mismatches;
use super::note::Note;
use super::publishers::Publishers;
use super::qos_class::QosClass;
use super::shared::Shared;
use super::transport_account::End;

/// What is on its way to a subscription comes within this time.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// A topic that is recorded.
pub(super) struct Active {
    pub(super) intake: Arc<Intake>,
    pub(super) type_name: TypeName,
    pub(super) type_hash: Option<TypeHash>,
    pub(super) subscriptions: BTreeMap<QosClass, Box<dyn Subscription>>,
    /// Made before there was a publisher to adapt to.
    pub(super) provisional: Option<Provisional>,
    pub(super) overridden: Option<Box<dyn Subscription>>,
    pub(super) mismatches: Mismatches,
    pub(super) publishers: Publishers,
    /// Whether messages of its type are recorded: not where there were several types from the beginning.
    pub(super) is_recorded: bool,
    /// The same topic with other types, whose messages are counted and not recorded.
    pub(super) conflicts: Vec<Self>,
    /// Nodes that were asked for the definition of the type; none when it is known.
    pub(super) asked: Option<BTreeSet<String>>,
}

/// Where a publisher is when its end is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    /// In the graph.
    Here,
    /// Not in the graph any more.
    Left,
}

/// A subscription that hears everybody until the right ones are there.
#[derive(Clone, Copy)]
pub(super) struct Provisional {
    class: QosClass,
    /// Since when the others hear the publishers.
    replaced: Option<Time<Steady>>,
}

impl Active {
    fn spec(&self, shared: &Shared, qos: QosProfile) -> crate::Result<TopicSpec> {
        let name = &self.intake.name;
        let names = shared.options.names.as_ref();
        Ok(TopicSpec {
            name: names.map_or_else(|| Ok(name.clone()), |names| names.topic(name))?,
            type_name: self.type_name.clone(),
            type_hash: self.type_hash,
            qos,
        })
    }

    pub(super) fn subscribe(
        &mut self,
        shared: &Shared,
        offers: &[QosProfile],
    ) -> crate::Result<()> {
        if let Some(qos) = shared.options.qos_overrides.get(&self.intake.name) {
            if self.overridden.is_none() {
                let receiver = self.intake.receiver();
                let spec = self.spec(shared, *qos)?;
                self.overridden = Some(shared.node.subscribe(&spec, receiver)?);
            }
            return Ok(());
        }
        let mut classes = QosClass::all(offers);
        if classes.is_empty() {
            if !self.subscriptions.is_empty() {
                // Who was there may come back.
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
            // What comes twice would not be noticed: one subscription that hears all.
            let common = QosClass::common(offers);
            self.subscriptions.retain(|class, _| *class == common);
            classes = BTreeSet::from([common]);
        }
        for class in classes {
            if !self.subscriptions.contains_key(&class) {
                let spec = self.spec(shared, class.profile(offers))?;
                let subscription = shared.node.subscribe(&spec, self.intake.receiver())?;
                self.subscriptions.insert(class, subscription);
            }
        }
        Ok(())
    }

    /// Whether the messages of a publisher are of the type that is recorded.
    pub(super) fn records(&self, publisher: &EndpointInfo) -> bool {
        self.is_recorded && publisher.type_name == self.type_name.to_string()
    }

    /// A topic that has no subscription yet.
    pub(super) fn new(
        intake: Arc<Intake>,
        type_name: TypeName,
        type_hash: Option<TypeHash>,
    ) -> Self {
        Self {
            intake,
            type_name,
            type_hash,
            subscriptions: BTreeMap::new(),
            provisional: None,
            overridden: None,
            mismatches: Mismatches::default(),
            publishers: Publishers::default(),
            is_recorded: true,
            conflicts: Vec::new(),
            asked: None,
        }
    }

    /// Takes in who publishes now, and who came and left since the last call: each with its type.
    pub(super) fn see(
        &mut self,
        here: &[EndpointInfo],
        departed: &[EndpointInfo],
        now: Time<Steady>,
    ) {
        let of_type = |infos: &[EndpointInfo]| -> BTreeSet<Gid> {
            let own = infos.iter().filter(|info| self.records(info));
            own.map(|info| info.gid).collect()
        };
        let (own, left) = (of_type(here), of_type(departed));
        let new = self.publishers.see(&own, left, now);
        self.intake.came(&new);
        for conflict in &mut self.conflicts {
            conflict.see(here, departed, now);
        }
    }

    /// The topic with its own type and with others.
    pub(super) fn with_conflicts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.conflicts)
    }

    /// Subscribes to types of the topic that are not recorded, to count their messages; gives those that are new.
    pub(super) fn count_conflicts(
        &mut self,
        shared: &Shared,
        publishers: &[&EndpointInfo],
    ) -> Vec<String> {
        let mut new = Vec::new();
        for info in publishers {
            let known = |active: &Self| active.type_name.to_string() == info.type_name;
            if (self.is_recorded && known(self)) || self.conflicts.iter().any(known) {
                continue;
            }
            // A type that is not even a name cannot be subscribed to; its publishers are unknown.
            if let Ok(type_name) = TypeName::parse(&info.type_name) {
                let intake = self.intake.conflict(&info.type_name);
                self.conflicts
                    .push(Self::new(intake, type_name, info.type_hash));
            }
            new.push(info.type_name.clone());
        }
        for conflict in &mut self.conflicts {
            let own = publishers.iter().filter(|info| conflict.records(info));
            let offers: Vec<_> = own.map(|info| info.qos).collect();
            // Without a subscription their messages are unknown, like those of a publisher that never arrives.
            let _counted = conflict.subscribe(shared, &offers);
        }
        new
    }

    /// Settles the ends of publishers that left a while ago.
    pub(super) fn settle_left(&mut self, now: Time<Steady>) {
        for gid in self.publishers.take_left(now) {
            self.settle(gid, Whereabouts::Left);
        }
        for conflict in &mut self.conflicts {
            conflict.settle_left(now);
        }
    }

    /// Those of its publishers that can be asked for their last number.
    pub(super) fn reliable(&self, here: &[EndpointInfo]) -> BTreeSet<Gid> {
        here.iter()
            .filter(|info| self.records(info) && QosClass::of(&info.qos).is_reliable())
            .map(|info| info.gid)
            .collect()
    }

    /// Settles the ends of all publishers, at the end of the recording.
    pub(super) fn settle_all(&self, here: &[EndpointInfo]) {
        let here = here.iter().filter(|info| self.records(info));
        let here: BTreeSet<_> = here.map(|info| info.gid).collect();
        let seen = self.intake.last_seen().into_iter().map(|(gid, _)| gid);
        let all: BTreeSet<_> = seen
            .chain(self.publishers.all())
            .chain(here.iter().copied())
            .collect();
        for gid in all {
            let whereabouts = if here.contains(&gid) {
                Whereabouts::Here
            } else {
                Whereabouts::Left
            };
            self.settle(gid, whereabouts);
        }
    }

    fn all_subscriptions(&self) -> impl Iterator<Item = &dyn Subscription> {
        let all = self.subscriptions.values().chain(&self.overridden);
        all.map(|subscription| &**subscription)
    }

    /// The last number that a publisher has told.
    fn last_told(&self, gid: &Gid) -> Option<u64> {
        let told = self.all_subscriptions();
        told.filter_map(|subscription| subscription.last_told(gid))
            .max()
    }

    fn settle(&self, gid: Gid, whereabouts: Whereabouts) {
        let any = |is: fn(&dyn Subscription, &Gid) -> bool| {
            self.all_subscriptions()
                .any(|subscription| is(subscription, &gid))
        };
        if any(|subscription, gid| subscription.is_local(gid)) {
            // One of our own: what it sent before it was subscribed to is of no interest, the rest came.
            return self.intake.settle(gid, None, End::Known);
        }
        let told = self.last_told(&gid);
        let is_known = match whereabouts {
            // An old number does not say what was sent after it.
            Whereabouts::Here => any(|subscription, gid| subscription.has_answered(gid)),
            // It took its leave, and all that it told of is here.
            Whereabouts::Left => {
                let seen = self.intake.last_seen_of(&gid);
                told.is_some_and(|told| seen.is_none_or(|seen| seen == told))
                    && !any(|subscription, gid| subscription.is_silent(gid))
            }
        };
        let end = if is_known { End::Known } else { End::Open };
        self.intake.settle(gid, told, end);
    }

    /// Asks all publishers for their last number; false where they have no answers.
    pub(super) fn ask_last_numbers(&self) -> bool {
        let mut answers = false;
        for subscription in self.all_subscriptions() {
            answers |= subscription.ask_last_numbers();
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

    /// Whether something that was told of has not come yet.
    pub(super) fn lacks(&self) -> bool {
        let mut seen = self.intake.last_seen().into_iter();
        seen.any(|(gid, seen)| self.last_told(&gid).is_some_and(|told| seen < told))
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

    /// Has each publisher's node asked for the definition, on a thread of its own.
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
            let topic = self.intake.topic();
            let thread = shared.base.spawn("recorder-types", move || {
                match shared_there.options.types.ask(&info) {
                    Ok(found) => shared_there.command(Command::Define { topic, found }),
                    Err(reason) => shared_there.tell(&Note::info(reason)),
                }
            });
            if let Err(error) = thread {
                shared.tell(&Note::warning(format!(
                    "no thread to ask for a type: {error}"
                )));
            }
        }
    }
}
