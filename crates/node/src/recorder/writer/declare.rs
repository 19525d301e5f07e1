//! Declares topics in the bag: at once, or when the definition of their type is known.

use std::sync::Arc;

use timeloom_bag::TopicInfo;

use super::{Topic, Writer};
use crate::recorder::command::NewTopic;
use crate::recorder::note::Note;
use crate::recorder::queued_message::QueuedMessage;
use crate::recorder::types::FoundType;

impl Writer {
    pub(super) fn add_topic(&mut self, new: Box<NewTopic>) {
        let inputs = self.shared.inputs.all();
        let index = usize::try_from(new.topic).unwrap_or(usize::MAX);
        let Some(input) = inputs.get(index).filter(|_| index == self.topics.len()) else {
            return;
        };
        let holds = new.awaits_definition;
        let patience = self.shared.options.type_patience.nanos();
        self.topics.push(Topic {
            input: Arc::clone(input),
            id: None,
            held: Vec::new(),
            holds_until_ns: holds.then(|| self.now_ns().saturating_add(patience)),
            pending: Some(new),
            refused: 0,
        });
        if !holds {
            self.declare(index, None);
        }
    }

    /// Declares a topic, and writes the messages that were held for it.
    pub(super) fn declare(&mut self, index: usize, found: Option<FoundType>) {
        let Some(topic) = self.topics.get_mut(index) else {
            return;
        };
        topic.holds_until_ns = None;
        let Some(mut new) = topic.pending.take() else {
            return;
        };
        if let Some(found) = found {
            new.info.definition = found.definition;
            let hash = found.hash.map(|hash| hash.to_string());
            new.info.type_description_hash = hash.unwrap_or(new.info.type_description_hash);
        } else if new.awaits_definition {
            let text = format!(
                "no definition of {}: {} is recorded raw",
                new.info.type_name, new.info.name
            );
            self.shared.report(&Note::warning(text));
        }
        let held = std::mem::take(&mut topic.held);
        match self.bag.add_topic(&new.info) {
            Ok(id) => {
                topic.id = Some(id);
                if let Some(depth) = new.repeat {
                    self.bag.repeat(id, depth);
                }
            }
            Err(error) => {
                let text = format!("cannot record {}: {error}", new.info.name);
                self.shared.report(&Note::error(text));
            }
        }
        self.write(&held);
    }

    /// Sets the definition of a topic; if the topic is declared already, a new file starts with it.
    pub(super) fn define(&mut self, topic: u32, found: FoundType) {
        let index = usize::try_from(topic).unwrap_or(usize::MAX);
        let Some(known) = self.topics.get(index) else {
            return;
        };
        let mut info = TopicInfo::new(&known.input.name, &known.input.type_name);
        info.definition = found.definition.clone();
        self.shared.bind_triggers(topic, &info);
        let Some(id) = known.id else {
            return self.declare(index, Some(found));
        };
        // The definition of a type without fields has no text.
        let has = |info: &TopicInfo| !info.definition.encoding.is_empty();
        if self.bag.topics().get(id.index()).is_some_and(has) {
            return;
        }
        let hash = found.hash.map(|hash| hash.to_string()).unwrap_or_default();
        self.bag.define_topic(id, found.definition, &hash);
        let name = known.input.name.clone();
        match self.split() {
            Ok(_) => self.shared.report(&Note::info(format!(
                "the definition of {name} arrived late: a new file starts with it"
            ))),
            Err(error) => self.shared.report(&Note::warning(format!(
                "the definition of {name} arrived late, and the split for it failed: {error}"
            ))),
        }
    }

    /// Holds the messages whose type definition is still requested.
    pub(super) fn hold_back(&mut self, batch: &mut Vec<QueuedMessage>) {
        let mut go = Vec::with_capacity(batch.len());
        for message in batch.drain(..) {
            match self.topics.get_mut(message.index()) {
                Some(topic) if topic.holds_until_ns.is_some() => topic.held.push(message),
                _ => go.push(message),
            }
        }
        *batch = go;
        let now = self.now_ns();
        // Held messages must not fill the queue.
        let crowded = self.shared.input.queue.used() > self.shared.options.max_cache_bytes / 4;
        for index in 0..self.topics.len() {
            let until = self
                .topics
                .get(index)
                .and_then(|topic| topic.holds_until_ns);
            if until.is_some_and(|until| now >= until || crowded) {
                self.declare(index, None);
            }
        }
    }
}
