//! From a target's message upstream to its sources: each message once, whatever the number of ways to it.

use std::collections::BTreeSet;

use super::clocks::Point;
use super::deadline::FoundBy;
use super::engine::{Engine, MOST_TARGETS, Pending, Target};
use super::flow::{Flow, FlowStep};
use super::message::NOBODY;
use super::path::Path;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) sources: Vec<u64>,
    /// Sources that are known by nothing but that something was made of them: they count, their times do not.
    named: Vec<u64>,
    /// Messages that are named but not there.
    missing: Vec<(u32, Option<i64>)>,
}

impl Engine {
    /// Evaluates a target's new message.
    pub(super) fn evaluate(&mut self, number: u64) {
        let Some(topic) = self.store.get(number).map(|message| message.topic) else {
            return;
        };
        let Some(place) = self.target(topic) else {
            return;
        };
        self.refresh(place);
        let walk = self.walk(number, place);
        let mut pending = Pending::default();
        self.take_walk(number, place, &walk, &mut pending, FoundBy::Arrival);
        if let Some(target) = self.targets.get_mut(place) {
            target.messages += 1;
            target.complete += u64::from(walk.missing.is_empty());
        }
        self.wait_for(number, &walk, pending);
    }

    /// Looks again at the targets that waited for a message.
    pub(super) fn wake(&mut self, topic: u32, number: u64) {
        let stamp = self.store.get(number).and_then(|message| message.stamp);
        let of_topic = self.waiting.get_mut(&topic);
        let targets = of_topic
            .zip(stamp)
            .and_then(|(stamps, stamp)| stamps.remove(&stamp));
        let Some(targets) = targets else {
            return;
        };
        for target in targets {
            let Some(mut pending) = self.pending.remove(&target) else {
                continue;
            };
            let topic = self.store.get(target).map(|message| message.topic);
            let Some(place) = topic.and_then(|topic| self.target(topic)) else {
                continue;
            };
            self.refresh(place);
            let walk = self.walk(target, place);
            self.take_walk(target, place, &walk, &mut pending, FoundBy::LateLink);
            if let (Some(target), true) = (self.targets.get_mut(place), walk.missing.is_empty()) {
                target.complete += 1;
                target.late += 1;
            }
            self.wait_for(target, &walk, pending);
        }
    }

    fn wait_for(&mut self, number: u64, walk: &Walk, pending: Pending) {
        if walk.missing.is_empty() {
            return;
        }
        for (topic, stamp) in &walk.missing {
            if let Some(stamp) = stamp {
                let stamps = self.waiting.entry(*topic).or_default();
                let targets = stamps.entry(*stamp).or_default();
                if !targets.contains(&number) {
                    targets.push(number);
                }
            }
        }
        self.pending.insert(number, pending);
    }

    /// The place of a target among the targets; made when first needed.
    fn target(&mut self, topic: u32) -> Option<usize> {
        let place = self.targets.iter().position(|target| target.topic == topic);
        place.or_else(|| {
            if self.targets.len() >= MOST_TARGETS {
                self.counters.targets_dropped += 1;
                return None;
            }
            self.targets.push(Target {
                topic,
                upstream: super::graph::Upstream::default(),
                version: 0,
                sources: BTreeSet::new(),
                paths: Vec::new(),
                known: std::collections::HashMap::new(),
                newest_reached: std::collections::HashMap::new(),
                messages: 0,
                complete: 0,
                late: 0,
            });
            Some(self.targets.len() - 1)
        })
    }

    /// Finds loops and paths again, if the graph has changed.
    pub(super) fn refresh(&mut self, place: usize) {
        let Some(target) = self.targets.get_mut(place) else {
            return;
        };
        if target.version == self.graph.version && target.version != 0 {
            return;
        }
        target.version = self.graph.version;
        target.upstream = self
            .graph
            .upstream(target.topic, &self.ends, self.options.paths);
        target.sources.clear();
        for topics in &target.upstream.paths {
            target.sources.extend(topics.first());
            if !target.known.contains_key(topics) {
                target.known.insert(topics.clone(), target.paths.len());
                target.paths.push(Path::new(topics.clone()));
            }
        }
    }

    fn walk(&mut self, start: u64, place: usize) -> Walk {
        self.walks += 1;
        let mut walk = Walk::default();
        let mut stack = vec![start];
        while let Some(number) = stack.pop() {
            let Some(message) = self.store.get_mut(number) else {
                continue;
            };
            if message.walk == self.walks {
                continue;
            }
            message.walk = self.walks;
            let topic = message.topic;
            let is_end = self.ends.contains(&topic) && number != start;
            let has_links = !message.links.is_empty();
            if is_end || !has_links {
                if self.is_source(topic) {
                    walk.sources.push(number);
                } else if has_links || self.store.get(number).is_some_and(|m| !m.is_tagged()) {
                    // A message without tag of a topic that has tags: its own may still come.
                    let stamp = self.store.get(number).and_then(|message| message.stamp);
                    walk.missing.push((topic, stamp));
                } else {
                    self.counters.unnamed += 1;
                }
                continue;
            }
            self.follow_links(number, place, &mut stack, &mut walk);
        }
        walk
    }

    fn follow_links(&mut self, number: u64, place: usize, stack: &mut Vec<u64>, walk: &mut Walk) {
        let Some(count) = self.store.get(number).map(|message| message.links.len()) else {
            return;
        };
        for at in 0..count {
            let Some(message) = self.store.get(number) else {
                return;
            };
            let Some(link) = message.links.get(at).copied() else {
                continue;
            };
            let is_cut = self
                .targets
                .get(place)
                .is_some_and(|target| target.upstream.cut.contains(&(link.topic, message.topic)));
            if is_cut {
                continue;
            }
            let mut found = link.message;
            if found == NOBODY {
                let mut copy = message.clone();
                self.resolve(&mut copy, at, Some(number));
                found = copy.links.get(at).map_or(NOBODY, |link| link.message);
                if let Some(message) = self.store.get_mut(number) {
                    message.links = copy.links;
                }
            }
            if found == NOBODY || self.store.get(found).is_none() {
                let topic = self.store.get(number).map_or(0, |message| message.topic);
                self.graph.edge(link.topic, topic).unresolved += 1;
                walk.missing.push((link.topic, link.stamp));
                walk.named.extend(self.named(&link));
            } else {
                stack.push(found);
            }
        }
    }

    /// Marks the sources, counts the paths, checks the deadlines.
    fn take_walk(
        &mut self,
        number: u64,
        place: usize,
        walk: &Walk,
        pending: &mut Pending,
        by: FoundBy,
    ) {
        let new: Vec<u64> = walk
            .sources
            .iter()
            .copied()
            .filter(|source| !pending.sources.contains(source))
            .collect();
        for source in new.iter().chain(&walk.named) {
            if let Some(message) = self.store.get_mut(*source) {
                message.reached |= 1 << place;
                let topic = message.topic;
                if let Some(target) = self.targets.get_mut(place) {
                    let newest = target.newest_reached.entry(topic).or_insert(*source);
                    *newest = (*newest).max(*source);
                }
            }
        }
        let paths = self
            .targets
            .get(place)
            .map_or(0, |target| target.paths.len());
        for path in 0..paths {
            let counted = !pending.paths.contains(&path) && self.count_path(number, place, path);
            // What is whole is not looked at again.
            if counted && !walk.missing.is_empty() {
                pending.paths.insert(path);
            }
        }
        if let Some(topic) = self.targets.get(place).map(|target| target.topic) {
            self.check_deadlines(number, topic, &new, walk, by);
        }
        pending.sources.extend(new);
    }

    /// Follows one path from a target's message; true when it leads to its source.
    fn count_path(&mut self, number: u64, place: usize, path: usize) -> bool {
        let Some(mut statistics) = self.path(place, path).map(std::mem::take) else {
            return false;
        };
        let chain = self.chain(number, &statistics.topics, Choice::Newest);
        let complete = chain.is_some();
        if let Some(chain) = chain {
            self.count_chain(number, &mut statistics, &chain);
        }
        if let Some(slot) = self.path(place, path) {
            *slot = statistics;
        }
        complete
    }

    fn path(&mut self, place: usize, path: usize) -> Option<&mut Path> {
        self.targets.get_mut(place)?.paths.get_mut(path)
    }

    /// The messages of a path from target to source, and which link leads on from each.
    fn chain(&self, number: u64, topics: &[u32], choice: Choice) -> Option<Vec<(u64, usize)>> {
        let mut chain = Vec::with_capacity(topics.len());
        let mut number = number;
        for topic in topics.iter().rev().skip(1) {
            let message = self.store.get(number)?;
            let links = message.links.iter().enumerate();
            let fitting = links.filter(|(_, link)| link.topic == *topic && link.message != NOBODY);
            let (at, link) = match choice {
                Choice::Newest => fitting.max_by_key(|(_, link)| link.message)?,
                Choice::Oldest => fitting.min_by_key(|(_, link)| link.message)?,
            };
            chain.push((number, at));
            number = link.message;
        }
        self.store.get(number)?;
        chain.push((number, usize::MAX));
        Some(chain)
    }

    fn count_chain(&mut self, number: u64, path: &mut Path, chain: &[(u64, usize)]) {
        let (Some((source, _)), Some(end)) = (chain.last(), self.published(number)) else {
            return;
        };
        let source = *source;
        let Some(Ok(elapsed)) = self.since(source, end) else {
            path.suspicious += 1;
            return;
        };
        path.doubt(elapsed);
        path.age.add(elapsed.nanos);
        // A target that was resolved late changes nothing of what came after it.
        if path.last_target.is_some_and(|last| last >= number) {
            return;
        }
        path.last_target = Some(number);
        let last = path
            .last_source
            .filter(|last| self.store.get(*last).is_some());
        if let Some(Ok(age)) = last.and_then(|last| self.since(last, end)) {
            path.age_at_end.add(age.nanos);
        }
        if path.last_source.is_some_and(|last| last >= source) {
            return;
        }
        path.last_source = Some(source);
        path.best.add(elapsed.nanos);
        path.all.add(elapsed.nanos);
        let topic = path.topics.first().copied().unwrap_or_default();
        if let Some(last) = last {
            let oldest = self.store.next_of_topic(topic, last).unwrap_or(source);
            if let Some(Ok(worst)) = self.since(oldest.min(source), end) {
                path.worst.add(worst.nanos);
            }
            if let Some(Ok(reaction)) = self.since(last, end) {
                path.reaction.add(reaction.nanos);
            }
        }
        // Several messages of one topic: the others are flows too.
        let oldest = self.chain(number, &path.topics, Choice::Oldest);
        if let Some((other, _)) = oldest.and_then(|chain| chain.last().copied())
            && other != source
            && let Some(Ok(other)) = self.since(other, end)
        {
            path.all.add(other.nanos);
        }
        self.count_hops(path, chain);
        if path
            .slowest
            .as_ref()
            .is_none_or(|(slowest, _)| elapsed.nanos > *slowest)
        {
            path.slowest = Some((elapsed.nanos, self.flow(chain)));
        }
    }

    pub(super) fn published(&self, number: u64) -> Option<Point> {
        self.store.get(number).map(Self::point)
    }

    fn since(
        &mut self,
        number: u64,
        end: Point,
    ) -> Option<Result<super::clocks::Elapsed, super::clocks::Suspicion>> {
        let start = self.published(number)?;
        Some(self.clocks.judged(start, end))
    }

    fn count_hops(&self, path: &mut Path, chain: &[(u64, usize)]) {
        for (sums, pair) in path.hops.iter_mut().zip(chain.windows(2).rev()) {
            let &[(reader, at), (writer, _)] = pair else {
                continue;
            };
            let Some((message, from)) = self.store.get(reader).zip(self.store.get(writer)) else {
                continue;
            };
            let Some(link) = message.links.get(at) else {
                continue;
            };
            let to = |moment| Point {
                moment,
                ..Self::point(message)
            };
            if let Ok(total) = self.clocks.elapsed(Self::point(from), Self::point(message)) {
                sums.total += total.nanos;
                sums.total_count += 1;
            }
            let callback = to(link.received);
            let arrival = link.arrived.map_or(callback, to);
            let transport = self.clocks.elapsed(Self::point(from), arrival);
            let node = self.clocks.elapsed(callback, Self::point(message));
            if let (Ok(transport), Ok(node)) = (transport, node) {
                sums.count += 1;
                sums.transport += transport.nanos;
                sums.node += node.nanos;
                if let (Some(_), Ok(queue)) = (link.arrived, self.clocks.elapsed(arrival, callback))
                {
                    sums.queue += queue.nanos;
                    sums.queue_count += 1;
                }
            }
        }
    }

    fn flow(&self, chain: &[(u64, usize)]) -> Flow {
        let steps = chain.iter().rev().filter_map(|(number, at)| {
            let message = self.store.get(*number)?;
            let link = message.links.get(*at);
            Some(FlowStep {
                topic: self.topics.name(message.topic).to_owned(),
                node: self.nodes.name(message.node).to_owned(),
                stamp_ns: message.stamp,
                received: link.map(|link| link.received).unwrap_or_default(),
                published: message.published,
                evidence: link.map(|link| link.evidence),
            })
        });
        Flow {
            steps: steps.collect(),
        }
    }
}

/// Which of several messages of one topic.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Newest,
    Oldest,
}
