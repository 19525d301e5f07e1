//! The publishers of a load and their threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::Bytes;
use timeloom_time::{CancelToken, Clock, Duration, Steady, Time, WaitOptions};
use timeloom_wire::{Node, PublishOptions, Publisher, TopicSpec};

use crate::ledger::{Entry, Ledger};
use crate::payload::Payload;
use crate::profile::{Group, Profile};

/// One publisher with its schedule.
pub(crate) struct Producer {
    topic: String,
    pub(super) publisher: Box<dyn Publisher>,
    payload: Payload,
    count: u64,
    period_ns: f64,
    entry: Entry,
}

impl Producer {
    /// All publishers of a profile, each on its topic.
    pub(super) fn all(node: &dyn Node, profile: &Profile) -> anyhow::Result<Vec<Self>> {
        let mut producers = Vec::new();
        for group in &profile.groups {
            for number in 1..=group.publishers {
                let topic = format!("/{}_{number}", group.topic_root.trim_start_matches('/'));
                producers.push(Self::new(node, group, topic)?);
            }
        }
        Ok(producers)
    }

    fn new(node: &dyn Node, group: &Group, topic: String) -> anyhow::Result<Self> {
        let schema = group.content.schema()?;
        let publisher = node.publish(&TopicSpec {
            name: topic.clone(),
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos: group.qos,
        })?;
        Ok(Self {
            payload: Payload::new(group.content, &topic, group.size)?,
            topic,
            publisher,
            count: group.count_each,
            period_ns: 1e9 / group.hertz,
            entry: Entry::default(),
        })
    }

    /// When the message with that number is due. Computed from the start, so that errors do not accumulate.
    fn due(&self, number: u64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time beyond 292 years saturates"
        )]
        let nanos = (self.period_ns * number as f64) as i64;
        Duration::from_nanos(nanos)
    }

    /// Publishes the next message; a refused message was not sent, and its number is used again.
    fn send(&mut self) {
        let message = Bytes::from(self.payload.message(self.entry.published));
        match self.publisher.publish(message, PublishOptions::default()) {
            Ok(_) => {
                self.entry.published += 1;
                self.entry.bytes += self.payload.len() as u64;
            }
            Err(_refused) => self.entry.refused += 1,
        }
    }

    fn tried(&self) -> u64 {
        self.entry.published + self.entry.refused
    }
}

/// Publishes the load with a number of threads; `stop` ends it early. Late messages are sent at once, never skipped.
pub(crate) fn run(
    producers: Vec<Producer>,
    threads: usize,
    clock: &Clock<Steady>,
    stop: &CancelToken,
) -> (Vec<Producer>, Ledger) {
    let mut shares: Vec<Vec<Producer>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, producer) in producers.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(index % threads) {
            share.push(producer);
        }
    }
    let begin = clock.now();
    let done: Vec<(Vec<Producer>, Duration)> = std::thread::scope(|scope| {
        let workers: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(move || work(share, begin, clock, stop)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"))
            .collect()
    });
    let mut ledger = Ledger {
        seconds: (clock.now() - begin).as_secs_f64(),
        acknowledged: true,
        ..Ledger::default()
    };
    let mut producers = Vec::new();
    for (share, latest) in done {
        ledger.latest_seconds = ledger.latest_seconds.max(latest.as_secs_f64());
        producers.extend(share);
    }
    for producer in &producers {
        ledger
            .topics
            .insert(producer.topic.clone(), producer.entry.clone());
    }
    (producers, ledger)
}

/// One thread's share: always publishes the message that is due next.
fn work(
    mut share: Vec<Producer>,
    begin: Time<Steady>,
    clock: &Clock<Steady>,
    stop: &CancelToken,
) -> (Vec<Producer>, Duration) {
    let options = WaitOptions::new().cancel(stop);
    let mut latest = Duration::from_nanos(0);
    let mut plan: BinaryHeap<_> = (0..share.len())
        .map(|index| Reverse((Duration::from_nanos(0), index)))
        .collect();
    while let Some(Reverse((due, index))) = plan.pop() {
        let at = begin.saturating_add(due);
        if clock.now() < at {
            let _woke = clock.sleep_until_with(at, &options);
        }
        if stop.is_cancelled() {
            break;
        }
        latest = latest.max(clock.now() - at);
        let Some(producer) = share.get_mut(index) else {
            continue;
        };
        producer.send();
        if producer.tried() < producer.count {
            plan.push(Reverse((producer.due(producer.tried()), index)));
        }
    }
    (share, latest)
}
