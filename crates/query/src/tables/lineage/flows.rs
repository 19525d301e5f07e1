//! From the tags of a bag to ways: which source messages are in a message at the end.

use std::collections::{HashMap, HashSet, VecDeque};

use timeloom_time::Time;
use timeloom_trace::{InputView, TagView};

/// Messages that one message is followed back through; where topics feed back into each other, all of the past is in it.
pub(super) const MOST_MESSAGES: usize = 10_000;

/// Messages and their inputs, by ROS time in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Flows {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    notes: Vec<Note>,
    places: HashMap<(u32, Option<i64>), Vec<usize>>,
    used: HashSet<u32>,
}

#[derive(Debug)]
struct Note {
    topic: u32,
    stamp: Option<i64>,
    published: i64,
    inputs: Vec<NotedInput>,
}

#[derive(Debug, Clone, Copy)]
struct NotedInput {
    topic: u32,
    stamp: Option<i64>,
    received: i64,
}

/// The flows into one message.
#[derive(Debug, Default)]
pub(super) struct FlowsInto {
    pub(super) flows: Vec<Flow>,
    /// Whether there are more, beyond [`MOST_MESSAGES`].
    pub(super) cut: bool,
}

/// A source message and a message at the end that is made of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// Topics, the source's first.
    pub(super) topics: Vec<u32>,
    pub(super) source_stamp: Option<i64>,
    pub(super) target_stamp: Option<i64>,
    /// When the source was published, or first received where nobody says that.
    pub(super) start: i64,
    pub(super) from_reception: bool,
    pub(super) end: i64,
}

impl Flows {
    pub(super) fn add(&mut self, tag: &TagView<'_>) {
        let topic = self.number(tag.topic);
        let inputs = tag.inputs().map(|input| self.input(&input)).collect();
        let note = Note {
            topic,
            stamp: tag.stamp.map(Time::nanos),
            published: tag.published.ros.nanos(),
            inputs,
        };
        self.used
            .extend(note.inputs.iter().map(|input| input.topic));
        let places = self.places.entry((topic, note.stamp)).or_default();
        places.push(self.notes.len());
        self.notes.push(note);
    }

    fn input(&mut self, input: &InputView<'_>) -> NotedInput {
        NotedInput {
            topic: self.number(input.topic),
            stamp: input.stamp.map(Time::nanos),
            received: input.received.ros.nanos(),
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(super) fn name(&self, topic: u32) -> &str {
        let place = usize::try_from(topic).unwrap_or(usize::MAX);
        self.names.get(place).map_or("", String::as_str)
    }

    /// The messages of topics that nothing else is made of, in the order in which they came.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        let is_target = |note: &Note| !self.used.contains(&note.topic) && !note.inputs.is_empty();
        let notes = self.notes.iter().enumerate();
        notes
            .filter(move |(_, note)| is_target(note))
            .map(|(place, _)| place)
    }

    /// All flows into a message: each source message once, by the shortest way.
    pub(super) fn flows_into(&self, target: usize) -> FlowsInto {
        let mut found = FlowsInto::default();
        let Some(end) = self.notes.get(target) else {
            return found;
        };
        let mut seen = HashSet::from([target]);
        let mut named = HashSet::new();
        let mut queue = VecDeque::from([(target, vec![end.topic])]);
        while let Some((place, way)) = queue.pop_front() {
            let Some(note) = self.notes.get(place) else {
                continue;
            };
            let flow = |way: Vec<u32>, source_stamp, start, from_reception| Flow {
                topics: way.into_iter().rev().collect(),
                source_stamp,
                target_stamp: end.stamp,
                start,
                from_reception,
                end: end.published,
            };
            if note.inputs.is_empty() {
                found
                    .flows
                    .push(flow(way, note.stamp, note.published, false));
                continue;
            }
            for input in &note.inputs {
                let mut longer = way.clone();
                longer.push(input.topic);
                match self.find(input) {
                    Some(before) if seen.len() < MOST_MESSAGES => {
                        if seen.insert(before) {
                            queue.push_back((before, longer));
                        }
                    }
                    Some(before) => found.cut |= !seen.contains(&before),
                    None => {
                        if named.insert((input.topic, input.stamp)) {
                            found
                                .flows
                                .push(flow(longer, input.stamp, input.received, true));
                        }
                    }
                }
            }
        }
        found
    }

    /// The message that an input means: of several with its stamp, the newest that was there already.
    fn find(&self, input: &NotedInput) -> Option<usize> {
        let places = self.places.get(&(input.topic, input.stamp))?;
        let is_there = |place: &&usize| {
            let note = self.notes.get(**place);
            note.is_some_and(|note| note.published <= input.received)
        };
        let newest = places.iter().rev().find(is_there);
        // One with that stamp is meant even if clocks disagree; one without stamp is known by its time only.
        newest.or(input.stamp.and(places.first())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A topic whose messages are made of the one before.
    fn feedback(messages: usize) -> Flows {
        let mut flows = Flows::default();
        flows.number("/odom");
        for (place, stamp) in (0..messages).zip(0_i64..) {
            let before = NotedInput {
                topic: 0,
                stamp: Some(stamp - 1),
                received: stamp,
            };
            flows.places.insert((0, Some(stamp)), vec![place]);
            flows.notes.push(Note {
                topic: 0,
                stamp: Some(stamp),
                published: stamp,
                inputs: if place == 0 { Vec::new() } else { vec![before] },
            });
        }
        flows
    }

    #[test]
    fn a_way_that_is_too_long_is_cut_and_said_to_be() {
        let whole = feedback(MOST_MESSAGES).flows_into(MOST_MESSAGES - 1);
        assert_eq!((whole.flows.len(), whole.cut), (1, false));
        assert_eq!(whole.flows[0].source_stamp, Some(0));
        let long = feedback(MOST_MESSAGES + 1).flows_into(MOST_MESSAGES);
        assert_eq!((long.flows.len(), long.cut), (0, true));
    }
}
