//! Crossings in message tracking tags: when an input was published, and when the node that used it received it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use timeloom_sync::{Crossing, Crossings};
use timeloom_trace::TagView;

/// Publications and receptions that wait for each other.
const MOST_WAITING: usize = 100_000;

/// A topic and the stamp of a message in it.
type Known = (u32, i64);

/// Joins publications with receptions of the same message.
#[derive(Debug, Default)]
pub(crate) struct TagLinks {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    published: HashMap<Known, i64>,
    received: HashMap<Known, Vec<(u32, i64)>>,
    order: VecDeque<Known>,
    /// By input topic and output topic of the node that received.
    links: BTreeMap<(u32, u32), Crossings>,
}

impl TagLinks {
    pub(crate) fn take(&mut self, tag: &TagView<'_>) {
        let output = self.number(tag.topic);
        if let Some(stamp) = tag.stamp
            && !tag.published.ros.is_zero()
        {
            let known = (output, stamp.nanos());
            let sent_ns = tag.published.ros.nanos();
            self.published.insert(known, sent_ns);
            self.wait(known);
            for (reader, received_ns) in self.received.remove(&known).unwrap_or_default() {
                self.link(output, reader, sent_ns, received_ns);
            }
        }
        for input in tag.inputs() {
            let Some(stamp) = input.stamp.filter(|_| !input.received.ros.is_zero()) else {
                continue;
            };
            let topic = self.number(input.topic);
            let known = (topic, stamp.nanos());
            let received_ns = input.received.ros.nanos();
            if let Some(sent_ns) = self.published.get(&known).copied() {
                self.link(topic, output, sent_ns, received_ns);
            } else {
                self.received
                    .entry(known)
                    .or_default()
                    .push((output, received_ns));
                self.wait(known);
            }
        }
    }

    /// The crossings, by input topic and output topic.
    pub(crate) fn links(&self) -> impl Iterator<Item = (&str, &str, &Crossings)> {
        let name = |number: u32| {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            self.names.get(place).map_or("", String::as_str)
        };
        let links = self.links.iter();
        links.map(move |((input, output), crossings)| (name(*input), name(*output), crossings))
    }

    fn number(&mut self, topic: &str) -> u32 {
        if let Some(number) = self.numbers.get(topic) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(topic.to_owned());
        self.numbers.insert(topic.to_owned(), number);
        number
    }

    fn link(&mut self, input: u32, output: u32, sent_ns: i64, received_ns: i64) {
        let crossings = self.links.entry((input, output)).or_default();
        crossings.add(Crossing {
            sent_ns,
            received_ns,
        });
    }

    fn wait(&mut self, known: Known) {
        self.order.push_back(known);
        if self.order.len() > MOST_WAITING
            && let Some(oldest) = self.order.pop_front()
        {
            self.published.remove(&oldest);
            self.received.remove(&oldest);
        }
    }
}
