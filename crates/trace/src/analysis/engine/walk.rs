//! From a target's message upstream to its sources: each message once, however many paths lead to it.

use super::Engine;
use crate::analysis::deadline::FoundBy;
use crate::analysis::findings::Finding;
use crate::analysis::message::NO_MESSAGE;
use crate::analysis::path::{Completed, Known, Path};
use crate::analysis::waiting::Pending;

/// The result of a walk.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) sources: Vec<u64>,
    /// Sources that are known only as inputs: they count, their times do not.
    pub(super) named: Vec<u64>,
    /// Messages with inputs at which segments begin.
    inner: Vec<u64>,
    /// Messages that are named as inputs but not stored.
    missing: Vec<(u32, Option<i64>)>,
}

impl Engine {
    /// Evaluates a target's new message.
    pub(super) fn evaluate(&mut self, number: u64) {
        let Some(topic) = self.store.get(number).map(|message| message.topic) else {
            return;
        };
        let Some(place) = self.targets.place(topic) else {
            return;
        };
        self.refresh(place);
        let walk = self.walk(number, place);
        let mut pending = Pending::default();
        self.take_walk(number, place, &walk, &mut pending, FoundBy::Arrival);
        if let Some(target) = self.targets.get_mut(place) {
            target.count(walk.missing.is_empty());
        }
        self.waiting.wait(number, &walk.missing, pending);
    }

    /// Evaluates the targets that waited for a message again.
    pub(super) fn wake(&mut self, topic: u32, number: u64) {
        let Some(stamp) = self.store.get(number).and_then(|message| message.stamp) else {
            return;
        };
        for (number, mut pending) in self.waiting.wake(topic, stamp) {
            let topic = self.store.get(number).map(|message| message.topic);
            let Some(place) = topic.and_then(|topic| self.targets.place(topic)) else {
                continue;
            };
            self.refresh(place);
            let walk = self.walk(number, place);
            self.take_walk(number, place, &walk, &mut pending, FoundBy::LateLink);
            if let (Some(target), true) = (self.targets.get_mut(place), walk.missing.is_empty()) {
                target.count_late();
            }
            self.waiting.wait(number, &walk.missing, pending);
        }
    }

    /// Finds loops and paths of a target again, if the graph has changed.
    pub(super) fn refresh(&mut self, place: usize) {
        if let Some(target) = self.targets.get_mut(place) {
            target.refresh(&self.graph, &self.scope);
        }
    }

    fn walk(&mut self, start: u64, place: usize) -> Walk {
        self.store.start_walk();
        let mut walk = Walk::default();
        let mut stack = vec![start];
        while let Some(number) = stack.pop() {
            let Some(message) = self.store.visit(number) else {
                continue;
            };
            let (topic, has_links) = (message.topic, !message.links.is_empty());
            let is_end = self.scope.ends().contains(&topic) && number != start;
            let begins = self.scope.starts_segment(topic) && number != start;
            if begins
                && self
                    .targets
                    .get(place)
                    .is_some_and(|it| it.has_inner(topic))
            {
                walk.inner.push(number);
            }
            if is_end || !has_links {
                if self.is_source(topic) {
                    walk.sources.push(number);
                } else if has_links || self.store.get(number).is_some_and(|m| !m.is_tagged()) {
                    // A message without tag of a topic that has tags: its own may still arrive.
                    let stamp = self.store.get(number).and_then(|message| message.stamp);
                    walk.missing.push((topic, stamp));
                } else {
                    self.findings.add(Finding::WithoutInputs);
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
            let topic = message.topic;
            let target = self.targets.get(place);
            if target.is_some_and(|target| target.is_cut(link.topic, topic)) {
                continue;
            }
            let mut found = link.message;
            if found == NO_MESSAGE {
                let mut copy = message.clone();
                self.resolve(&mut copy, at, Some(number));
                found = copy.links.get(at).map_or(NO_MESSAGE, |link| link.message);
                if let Some(message) = self.store.get_mut(number) {
                    message.links = copy.links;
                }
            }
            if found == NO_MESSAGE || self.store.get(found).is_none() {
                if found == NO_MESSAGE && !link.missed {
                    self.miss(number, at, link.topic, topic);
                }
                walk.missing.push((link.topic, link.stamp));
                walk.named.extend(self.named(&link));
            } else {
                stack.push(found);
            }
        }
    }

    /// Counts a link as not found, until it is.
    fn miss(&mut self, number: u64, at: usize, from: u32, to: u32) {
        self.graph.edge(from, to).add_unresolved();
        let links = self.store.get_mut(number).map(|message| &mut message.links);
        if let Some(link) = links.and_then(|links| links.get_mut(at)) {
            link.miss();
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
        for source in new.iter().chain(&walk.named).chain(&walk.inner) {
            if let Some(message) = self.store.get_mut(*source) {
                message.reach(place);
            }
        }
        let target = self.targets.get(place);
        let paths = target.map_or(0, |target| target.paths().len());
        for path in 0..paths {
            let counted = !pending.paths.contains(&path) && self.count_path(number, place, path);
            // A complete walk is not repeated.
            if counted && !walk.missing.is_empty() {
                pending.paths.insert(path);
            }
        }
        self.check_deadlines(number, place, &new, walk, pending, by);
        pending.sources.extend(new);
    }

    /// Follows one path from a target's message; true when it leads to its source.
    fn count_path(&mut self, number: u64, place: usize, path: usize) -> bool {
        let Some(target) = self.targets.get(place) else {
            return false;
        };
        // A path that was found before the first upstream tag arrived is known by its end only.
        let whole = target.paths().get(path).filter(|path| {
            let source = path.source();
            source.is_some_and(|source| target.judges(source))
        });
        let Some(topics) = whole.map(Path::topics) else {
            return false;
        };
        let Some(Chain {
            messages: chain,
            has_choice,
        }) = self.chain(number, topics, Choice::Newest)
        else {
            return false;
        };
        let oldest = has_choice.then(|| self.chain(number, topics, Choice::Oldest));
        let oldest = oldest.flatten();
        let oldest = oldest.and_then(|chain| chain.messages.last().copied());
        let source = chain.last().map_or(NO_MESSAGE, |(source, _)| *source);
        let points = self.store.get(number).zip(self.store.get(source));
        let Some((end, start)) = points.map(|(end, start)| (end.point(), start.point())) else {
            return false;
        };
        let keys = self.store.key(number).zip(self.store.key(source));
        let oldest = oldest.filter(|(oldest, _)| *oldest != source);
        let oldest = oldest.and_then(|(oldest, _)| self.store.get(oldest));
        let oldest = oldest.and_then(|oldest| self.clocks.elapsed(oldest.point(), end).ok());
        let elapsed = self.clocks.judged(start, end);
        let known = Known {
            store: &self.store,
            clocks: &self.clocks,
            topics: &self.topics,
            nodes: &self.nodes,
        };
        let target = self.targets.get_mut(place);
        let Some(path) = target.and_then(|target| target.path_mut(path)) else {
            return false;
        };
        let (Ok(elapsed), Some((target, source))) = (elapsed, keys) else {
            path.suspicious += 1;
            return true;
        };
        let completed = Completed {
            target,
            end,
            source,
            start,
            elapsed,
            oldest: oldest.map(|oldest| oldest.nanos),
            chain,
        };
        path.add(completed, self.now, known, &mut self.records);
        true
    }

    /// The messages of a path from target to source.
    fn chain(&self, number: u64, topics: &[u32], choice: Choice) -> Option<Chain> {
        let mut messages = Vec::with_capacity(topics.len());
        let (mut number, mut has_choice) = (number, false);
        for topic in topics.iter().rev().skip(1) {
            let message = self.store.get(number)?;
            let links = message.links.iter().enumerate();
            let mut fitting =
                links.filter(|(_, link)| link.topic == *topic && link.message != NO_MESSAGE);
            let (mut at, mut next) = fitting.next().map(|(at, link)| (at, link.message))?;
            for (other_at, other) in fitting {
                has_choice = true;
                let is_newer = self.store.key(other.message) > self.store.key(next);
                if is_newer == (choice == Choice::Newest) {
                    (at, next) = (other_at, other.message);
                }
            }
            messages.push((number, at));
            number = next;
        }
        self.store.get(number)?;
        messages.push((number, usize::MAX));
        Some(Chain {
            messages,
            has_choice,
        })
    }
}

/// A path through messages.
struct Chain {
    /// From target to source, and the link that leads on from each.
    messages: Vec<(u64, usize)>,
    /// Whether a message was made of several of one topic.
    has_choice: bool,
}

/// The choice between several messages of one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Newest,
    Oldest,
}
