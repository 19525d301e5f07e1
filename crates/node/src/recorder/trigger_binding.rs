//! Connects the triggers with the topics of the graph, and shows their state.

use timeloom_bag::TopicInfo;
use timeloom_msg::{QosProfile, TypeResolver};

use super::note::Note;
use super::shared::Shared;
use super::status::TriggerStatus;

impl Shared {
    /// Connects a topic with the conditions that name it; those that need fields wait for the definition of its type.
    pub(super) fn bind_triggers(&self, topic: u32, info: &TopicInfo) {
        let is_wanted = self
            .input
            .gate()
            .is_some_and(|mut gate| gate.triggers().wants(&info.name));
        if !is_wanted {
            return;
        }
        // The definition of a type without fields has no text.
        let is_defined = !info.definition.encoding.is_empty();
        let schema = is_defined.then(|| info.schema(&TypeResolver::default()));
        let schema = match schema.transpose() {
            Ok(schema) => schema,
            Err(error) => {
                let text = format!("triggers cannot read {}: {error}", info.name);
                return self.report(&Note::warning(text));
            }
        };
        let problems = self.input.gate().map(|mut gate| {
            let triggers = gate.triggers();
            triggers.bind(topic, &info.name, schema.as_ref())
        });
        for problem in problems.into_iter().flatten() {
            self.report(&Note::error(format!(
                "trigger {} cannot fire: {}: {}",
                problem.trigger, problem.topic, problem.reason
            )));
        }
    }

    /// Takes the deadline that the publishers of a topic offer: the shortest one.
    pub(super) fn set_deadline(&self, topic: &str, offers: &[QosProfile]) {
        let limits = offers.iter().filter_map(|offer| offer.deadline.limit());
        let deadline = limits.min().and_then(|nanos| i64::try_from(nanos).ok());
        if let (Some(deadline), Some(mut gate)) = (deadline, self.input.gate()) {
            gate.triggers().set_deadline(topic, deadline);
        }
    }

    pub(super) fn trigger_status(&self) -> Option<TriggerStatus> {
        let mut gate = self.input.gate()?;
        let (windows, is_open) = gate.windows().count();
        Some(TriggerStatus {
            triggers: gate.states(),
            windows,
            is_open,
        })
    }
}
