use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::{EndpointInfo, Gid, Subscription, TopicSpec};

use super::command::Command;
use super::intake::Intake;
use super::mismatch::Mismatches;
use super::note::Note;
use super::qos_class::QosClass;
use super::shared::Shared;

/// What is on its way to a subscription comes within this time.
const ON_ITS_WAY: Duration = Duration::from_secs(1);
/// How many publishers of one topic are asked at the end what they have sent.
const MOST_PUBLISHERS: usize = 4096;

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
    /// All publishers that there have been; those beyond [`MOST_PUBLISHERS`] are left out.
    pub(super) publishers: BTreeSet<Gid>,
    /// Nodes that were asked for the definition of the type; none when it is known.
    pub(super) asked: Option<BTreeSet<String>>,
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

    /// Remembers who publishes, for the questions at the end.
    pub(super) fn remember(&mut self, publishers: &[&EndpointInfo]) {
        let room = MOST_PUBLISHERS.saturating_sub(self.publishers.len());
        let gids = publishers.iter().map(|info| info.gid);
        self.publishers.extend(gids.take(room));
    }

    /// The last number that each publisher has told.
    pub(super) fn last_told(&self) -> Vec<(Gid, u64)> {
        let subscriptions = || self.subscriptions.values().chain(&self.overridden);
        let seen = self.intake.last_seen().into_iter().map(|(gid, _)| gid);
        let all: BTreeSet<_> = seen.chain(self.publishers.iter().copied()).collect();
        all.into_iter()
            .filter_map(|gid| {
                let told = subscriptions().filter_map(|subscription| subscription.last_told(&gid));
                Some((gid, told.max()?))
            })
            .collect()
    }

    /// Publishers whose word is not their last: they left without one, or while something they told of was on its way.
    pub(super) fn silent(&self, told: &[(Gid, u64)], here: &BTreeSet<Gid>) -> Vec<Gid> {
        let told: BTreeMap<_, _> = told.iter().copied().collect();
        let seen = self.intake.last_seen().into_iter();
        seen.filter(|(gid, last)| {
            let lacks = told.get(gid).is_some_and(|told| last < told);
            let mut subscriptions = self.subscriptions.values().chain(&self.overridden);
            (lacks && !here.contains(gid))
                || subscriptions.any(|subscription| subscription.is_silent(gid))
        })
        .map(|(gid, _)| gid)
        .collect()
    }

    /// Whether something that was told of has not come yet.
    pub(super) fn lacks(&self, told: &[(Gid, u64)]) -> bool {
        let seen: BTreeMap<_, _> = self.intake.last_seen().into_iter().collect();
        told.iter()
            .any(|(gid, last)| seen.get(gid).is_some_and(|seen| seen < last))
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
