//! Builds the report of an engine.

use super::Engine;
use crate::analysis::closed_loop::Effort;
use crate::analysis::outcome::JudgeReason;
use crate::analysis::path::{Known, Path};
use crate::analysis::report::{
    ClockDifference, ClockReport, ClockStep, HopReport, PathReport, PathStep, Report, SourceReport,
    TargetReport,
};
use crate::analysis::targets::Target;

/// Bins of a histogram in a report.
const BINS: usize = 40;

impl Engine {
    /// The report so far. Messages that have not reached a target get their outcome as if the data ended now; the
    /// engine can continue.
    pub fn report(&mut self) -> Report {
        self.loops.refresh(&self.graph, Effort::Full);
        for place in 0..self.targets.len() {
            self.refresh(place);
        }
        let before = self.ledger.verdicts();
        for number in self.store.young() {
            self.judge(number, JudgeReason::End);
        }
        let report = self.build();
        self.ledger.restore(before);
        report
    }

    fn build(&self) -> Report {
        let real = |target: &&Target| self.is_target(target.topic());
        let targets = self.targets.iter().enumerate().filter(|(_, t)| real(t));
        let mut targets: Vec<_> = targets
            .map(|(place, target)| self.target_report(place, target))
            .collect();
        targets.sort_by(|a, b| a.topic.cmp(&b.topic));
        Report {
            tags: self.received.tags,
            messages: self.received.messages,
            span_ns: self
                .started
                .map_or(0, |start| self.now.saturating_sub(start).unsigned_abs()),
            targets,
            hops: self.hops(),
            loops: self.loop_reports(),
            topics: self.topic_names(),
            deadlines: self.deadlines.reports(),
            clocks: self.clock_report(),
            notes: self.notes(),
        }
    }

    fn name(&self, topic: u32) -> String {
        self.topics.name(topic).to_owned()
    }

    fn topic_names(&self) -> Vec<String> {
        let linked = self.graph.topics().map(|(topic, inputs)| {
            let is_linked = self.graph.is_used(topic) || !inputs.is_empty();
            (topic, is_linked)
        });
        let linked = linked.filter(|(_, linked)| *linked).map(|(topic, _)| topic);
        let topics = linked.chain(self.marks.published());
        let mut names: Vec<String> = topics.map(|topic| self.name(topic)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn target_report(&self, place: usize, target: &Target) -> TargetReport {
        let by_name = |topics: &mut dyn Iterator<Item = u32>| {
            let mut reports: Vec<_> = topics
                .map(|topic| self.source_report(topic, place))
                .collect();
            reports.sort_by(|a, b| a.topic.cmp(&b.topic));
            reports
        };
        // Incomplete paths, from before the first upstream tag, are in neither list.
        let from = |wanted: &dyn Fn(u32) -> bool| {
            let paths = target.paths().iter();
            let paths = paths.filter(|path| path.source().is_some_and(wanted));
            let mut paths: Vec<_> = paths.map(|path| self.path_report(path)).collect();
            paths.sort_by(|a, b| {
                let slow = b.best.p50_ns.cmp(&a.best.p50_ns);
                slow.then_with(|| a.topics.cmp(&b.topics))
            });
            paths
        };
        let (messages, complete, completed_late) = target.counts();
        TargetReport {
            topic: self.name(target.topic()),
            messages,
            complete,
            completed_late,
            sources: by_name(&mut target.sources()),
            paths: from(&|topic| target.has_source(topic)),
            segments: from(&|topic| target.has_inner(topic)),
            segment_sources: by_name(&mut target.inner()),
            more_paths: target.has_more(),
        }
    }

    fn source_report(&self, topic: u32, place: usize) -> SourceReport {
        let numbered = self.sequences.published(topic);
        let name = |topic| self.name(topic);
        let outcomes = self.ledger.outcomes(topic, place, numbered, name);
        SourceReport {
            topic: self.name(topic),
            published: outcomes.total(),
            outcomes,
        }
    }

    fn path_report(&self, path: &Path) -> PathReport {
        let names: Vec<_> = path
            .topics()
            .iter()
            .map(|topic| self.name(*topic))
            .collect();
        let path = path.finished(Known {
            store: &self.store,
            clocks: &self.clocks,
            topics: &self.topics,
            nodes: &self.nodes,
        });
        let steps = path
            .hops()
            .zip(names.windows(2))
            .map(|(means, pair)| PathStep {
                from: pair.first().cloned().unwrap_or_default(),
                to: pair.last().cloned().unwrap_or_default(),
                total_ns: means.total.unwrap_or(0),
                transport_ns: means.transport,
                queue_ns: means.queue,
                node_ns: means.node,
            });
        PathReport {
            steps: steps.collect(),
            topics: names.clone(),
            best: path.best.summary(),
            worst: path.worst.summary(),
            reaction: path.reaction.summary(),
            all: path.all.summary(),
            data_age: path.age.summary(),
            data_age_at_end: path.age_at_end.summary(),
            histogram: path.best.bins(BINS),
            bound_ns: path.bound,
            unbounded: path.unbounded,
            suspicious: path.suspicious,
            slowest: path.slowest().cloned(),
        }
    }

    /// All hops so far; cheaper than a report.
    pub fn hops(&self) -> Vec<HopReport> {
        let edges = self.graph.edges();
        let hops = edges.map(|(from, to, edge)| {
            let node = |node| self.nodes.name(node).to_owned();
            edge.report(self.name(from), self.name(to), node)
        });
        let mut hops: Vec<_> = hops.collect();
        hops.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        hops
    }

    /// The loops of all targets, each once, starting with its first name.
    fn loop_reports(&self) -> Vec<Vec<String>> {
        let loops = self.targets.iter().flat_map(Target::loops);
        let mut loops: Vec<Vec<String>> = loops
            .map(|circle| {
                let mut names: Vec<_> = circle.iter().map(|topic| self.name(*topic)).collect();
                let first = names.iter().enumerate().min_by_key(|(_, name)| *name);
                let first = first.map_or(0, |(place, _)| place);
                names.rotate_left(first);
                names
            })
            .collect();
        loops.sort();
        loops.dedup();
        loops
    }

    fn clock_report(&self) -> ClockReport {
        let name = |domain: u32| self.clocks.name(domain).to_owned();
        let hosts = self.clocks.used().into_iter().map(name).collect();
        let negative = self.clocks.negative();
        let mut negative: Vec<_> = negative
            .map(|(from, to, count)| (name(from), name(to), count))
            .collect();
        negative.sort();
        let compared = self.clocks.all_compared().into_iter();
        let compared = compared.map(|(host, other, difference)| ClockDifference {
            host: name(host),
            other: name(other),
            ahead_ns: difference.ahead,
            bound_ns: difference.bound.unsigned_abs(),
        });
        let steps = self.clocks.steps().iter().filter(|step| !step.is_jump);
        let steps = steps.map(|step| ClockStep {
            host: name(step.domain),
            by_ns: step.by,
        });
        ClockReport {
            hosts,
            compared: compared.collect(),
            jumps: self.clocks.jumps(),
            steps: steps.collect(),
            negative,
        }
    }

    fn notes(&self) -> Vec<String> {
        let counts = self.findings.iter().chain([
            (
                self.deadlines.dropped(),
                "missed deadlines dropped: event queue full",
            ),
            (
                self.ledger.named_too_late(),
                "links to messages that are no longer in memory: their tags came later than --keep allows",
            ),
            (
                self.targets.dropped(),
                "messages not analysed: more than 4096 targets",
            ),
            (
                self.deadlines.unwatched(),
                "messages not checked for deadlines: too many at once",
            ),
            (
                self.graph.dropped(),
                "links not counted: too many pairs of topics",
            ),
        ]);
        let counts = counts.filter(|(count, _)| *count > 0);
        let mut notes: Vec<String> = counts
            .map(|(count, text)| format!("{count} {text}"))
            .collect();
        notes.extend(self.loop_notes());
        notes.extend(self.lost_tags());
        for (topic, count) in self.shared_topics() {
            notes.push(format!("{topic} has {count} publishers"));
        }
        notes
    }

    /// Ends of paths in closed loops.
    fn loop_notes(&self) -> impl Iterator<Item = String> + '_ {
        let is_chosen = !self.scope.names_targets();
        let ends = self.loops.iter().filter(move |_| is_chosen);
        ends.map(|(end, topics)| {
            let names: Vec<_> = topics
                .iter()
                .map(|topic| self.topics.name(*topic))
                .collect();
            format!(
                "the loop of {} has no output: its paths end at {}; choose another end with --to",
                names.join(", "),
                self.topics.name(end)
            )
        })
    }

    /// Tags that are missing in the middle of paths; those of sources are among the outcomes.
    fn lost_tags(&self) -> impl Iterator<Item = String> + '_ {
        let topics = (0..self.topics.len()).filter_map(|topic| u32::try_from(topic).ok());
        let inner = topics.filter(|topic| !self.is_source(*topic));
        inner.filter_map(|topic| {
            let missing = self.sequences.missing(topic);
            let in_recorder = self.ledger.tags_lost_in_recorder(topic).min(missing);
            (missing > 0).then(|| {
                format!(
                    "{missing} tags of {} are missing: {} lost in transport, {in_recorder} in the recorder",
                    self.topics.name(topic),
                    missing - in_recorder
                )
            })
        })
    }

    fn shared_topics(&self) -> Vec<(String, usize)> {
        let topics = (0..self.topics.len()).filter_map(|topic| u32::try_from(topic).ok());
        let counts = topics.map(|topic| (self.name(topic), self.sequences.publishers(topic)));
        counts.filter(|(_, count)| *count > 1).collect()
    }
}
