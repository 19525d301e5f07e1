//! From the state of an engine to its report.

use super::engine::{Engine, Target};
use super::evidence::Confidence;
use super::options::{AccountOf, AccountScope};
use super::outcome::{Occasion, Outcome, Outcomes};
use super::path::Path;
use super::report::{
    ClockDifference, ClockReport, DeadlineReport, HopReport, PathReport, PathStep, Report,
    SourceReport, TargetReport,
};

/// So many bins has a histogram in a report.
const BINS: usize = 40;

impl Engine {
    /// What was found so far. The messages that are on their way are judged as if the data ended now; the engine can
    /// go on.
    pub fn report(&mut self) -> Report {
        for place in 0..self.targets.len() {
            self.refresh(place);
        }
        let before = (self.outcomes.clone(), self.ended_at.clone());
        for number in self.store.young() {
            self.judge(number, Occasion::End);
        }
        let report = self.build();
        (self.outcomes, self.ended_at) = before;
        report
    }

    fn build(&self) -> Report {
        let real = |target: &&Target| self.is_target(target.topic);
        let targets = self.targets.iter().enumerate().filter(|(_, t)| real(t));
        let mut targets: Vec<_> = targets
            .map(|(place, target)| self.target_report(place, target))
            .collect();
        targets.sort_by(|a, b| a.topic.cmp(&b.topic));
        Report {
            tags: self.counters.tags,
            messages: self.counters.messages,
            span_ns: self
                .started
                .map_or(0, |start| self.now.saturating_sub(start).unsigned_abs()),
            targets,
            hops: self.hop_reports(),
            loops: self.loop_reports(),
            deadlines: self.deadline_reports(),
            clocks: self.clock_report(),
            notes: self.notes(),
        }
    }

    fn name(&self, topic: u32) -> String {
        self.topics.name(topic).to_owned()
    }

    fn target_report(&self, place: usize, target: &Target) -> TargetReport {
        let sources = target.sources.iter().map(|source| {
            let outcomes = self.outcomes.get(&(*source, place));
            let mut outcomes = outcomes.cloned().unwrap_or_default();
            self.name_ends(*source, place, &mut outcomes);
            self.source_report(*source, outcomes)
        });
        let mut sources: Vec<_> = sources.collect();
        sources.sort_by(|a, b| a.topic.cmp(&b.topic));
        // Paths that were known by their end only, before the first tag upstream came.
        let whole = |path: &&Path| {
            path.topics
                .first()
                .is_some_and(|first| self.is_source(*first))
        };
        let paths = target.paths.iter().filter(whole);
        let mut paths: Vec<_> = paths.map(|path| self.path_report(path)).collect();
        paths.sort_by(|a, b| {
            let slow = b.best.p50_ns.cmp(&a.best.p50_ns);
            slow.then_with(|| a.topics.cmp(&b.topics))
        });
        TargetReport {
            topic: self.name(target.topic),
            messages: target.messages,
            complete: target.complete,
            completed_late: target.late,
            sources,
            paths,
            more_paths: target.upstream.more,
        }
    }

    /// Adds where the messages of a source ended.
    fn name_ends(&self, source: u32, place: usize, outcomes: &mut Outcomes) {
        let ends = self.ended_at.iter();
        let ends = ends.filter(|(at, _)| at.source == source && at.place == place);
        for (at, count) in ends {
            let hops = if at.superseded {
                &mut outcomes.superseded_at
            } else {
                &mut outcomes.missing_hops
            };
            hops.insert(self.name(at.hop), *count);
        }
    }

    /// Joins what is known of a source with what others know to be missing: the recorder, and the numbers of its tags.
    fn source_report(&self, topic: u32, mut outcomes: Outcomes) -> SourceReport {
        let known = outcomes.total();
        let account = |of| self.accounts.get(&(topic, of)).copied();
        let accounts = [account(AccountOf::Messages), account(AccountOf::Tags)];
        let accounts = accounts.into_iter().flatten();
        let whole = accounts
            .clone()
            .filter(|(_, scope)| *scope == AccountScope::Whole);
        let counted = whole.map(|(account, _)| account.published()).max();
        let published = known
            .max(counted.unwrap_or(0))
            .max(self.sequences.published(topic));
        let lost = published - known;
        let in_recorder = accounts.map(|(account, _)| account.in_recorder).max();
        let in_recorder = in_recorder.unwrap_or(0).min(lost);
        outcomes.add(Outcome::LostInRecorder, in_recorder);
        outcomes.add(Outcome::LostInTransport, lost - in_recorder);
        SourceReport {
            topic: self.name(topic),
            published: outcomes.total(),
            outcomes,
        }
    }

    fn path_report(&self, path: &Path) -> PathReport {
        let names: Vec<_> = path.topics.iter().map(|topic| self.name(*topic)).collect();
        let steps = path
            .hops
            .iter()
            .zip(names.windows(2))
            .map(|(sums, pair)| PathStep {
                from: pair.first().cloned().unwrap_or_default(),
                to: pair.last().cloned().unwrap_or_default(),
                total_ns: sums.total.checked_div(sums.total_count).unwrap_or(0),
                transport_ns: sums.transport.checked_div(sums.count),
                queue_ns: sums.queue.checked_div(sums.queue_count),
                node_ns: sums.node.checked_div(sums.count),
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
            slowest: path.slowest.as_ref().map(|(_, flow)| flow.clone()),
        }
    }

    fn hop_reports(&self) -> Vec<HopReport> {
        let hops = self.graph.edges.iter().map(|((from, to), edge)| {
            let nodes = edge.nodes.iter().map(|node| self.nodes.name(*node));
            let mut nodes: Vec<_> = nodes
                .filter(|node| !node.is_empty())
                .map(str::to_owned)
                .collect();
            nodes.sort();
            HopReport {
                from: self.name(*from),
                to: self.name(*to),
                nodes,
                known_by: edge.evidence.clone(),
                confidence: Confidence::of(&edge.evidence),
                total: edge.total.summary(),
                transport: edge.transport.summary(),
                queue: edge.queue.summary(),
                node: edge.node.summary(),
                negative: edge.negative,
                unresolved: edge.unresolved,
            }
        });
        let mut hops: Vec<_> = hops.collect();
        hops.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        hops
    }

    /// The loops of all targets, each once, beginning with its first name.
    fn loop_reports(&self) -> Vec<Vec<String>> {
        let loops = self
            .targets
            .iter()
            .flat_map(|target| &target.upstream.loops);
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

    fn deadline_reports(&self) -> Vec<DeadlineReport> {
        let reports = self.watches.iter().map(|watch| DeadlineReport {
            name: watch.deadline.name.clone(),
            source: watch.deadline.source.clone(),
            target: watch.deadline.target.clone(),
            limit_ns: watch.limit,
            checked: watch.checked,
            missed: watch.missed,
            missed_by_late_link: watch.missed_by_late_link,
            missed_by_timer: watch.missed_by_timer,
            longest_streak: watch.longest_streak,
        });
        reports.collect()
    }

    fn clock_report(&self) -> ClockReport {
        let name = |domain: u32| self.clocks.name(domain).to_owned();
        let hosts = self.clocks.used().into_iter().map(name).collect();
        let mut negative: Vec<_> = self
            .clocks
            .negative
            .iter()
            .map(|((from, to), count)| (name(*from), name(*to), *count))
            .collect();
        negative.sort();
        let compared = self.clocks.all_compared().into_iter();
        let compared = compared.map(|(host, other, difference)| ClockDifference {
            host: name(host),
            other: name(other),
            ahead_ns: difference.ahead,
            bound_ns: difference.bound.unsigned_abs(),
        });
        ClockReport {
            hosts,
            compared: compared.collect(),
            jumps: self.clocks.jumps,
            negative,
        }
    }

    fn notes(&self) -> Vec<String> {
        let counters = &self.counters;
        let mut notes = Vec::new();
        let mut note = |count: u64, text: &str| {
            if count > 0 {
                notes.push(format!("{count} {text}"));
            }
        };
        note(
            counters.assumed,
            "messages of topics without tags: their latency counts from their first reception",
        );
        note(
            counters.unnamed,
            "messages name no inputs although others of their topic do",
        );
        note(
            counters.duplicates,
            "messages share topic and stamp with another: the one that was there at reception counts",
        );
        note(
            counters.expired,
            "messages were forgotten early: there were too many at once",
        );
        note(
            counters.events_dropped,
            "missed deadlines were not told: nobody took them in time",
        );
        note(
            counters.targets_dropped,
            "messages of targets beyond the 64th were not looked at",
        );
        note(
            counters.unwatched,
            "messages were not watched for deadlines: there were too many at once",
        );
        note(
            self.graph.dropped,
            "times a link was not noted: there are too many pairs of topics",
        );
        notes.extend(self.lost_tags());
        for (topic, count) in self.shared_topics() {
            notes.push(format!("{topic} has {count} publishers"));
        }
        notes
    }

    /// Tags that are missing in the middle of paths; those of sources are among the outcomes.
    fn lost_tags(&self) -> impl Iterator<Item = String> + '_ {
        let topics = (0..self.topics.len()).filter_map(|topic| u32::try_from(topic).ok());
        let inner = topics.filter(|topic| !self.is_source(*topic));
        inner.filter_map(|topic| {
            let missing = self.sequences.missing(topic);
            let account = self.accounts.get(&(topic, AccountOf::Tags));
            let in_recorder = account.map_or(0, |(account, _)| account.in_recorder);
            let in_recorder = in_recorder.min(missing);
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
