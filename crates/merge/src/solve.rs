//! From evidence between pairs of hosts to one timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timeloom_bag::HostClockRecord;
use timeloom_sync::{Crossings, Limits, PeerClock, PeerFit};
use timeloom_text::{duration, rfc3339};

use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::host_map::{HostMap, HostTime};
use crate::hosts::{Host, Hosts};
use crate::options::MergeOptions;
use crate::publishers::Reason;
use crate::survey::{RecordedHost, Survey};

/// The rate of a disciplined clock changes faster than that of a free one, in ppm per minute.
const DRIFT_PPM_PER_MINUTE: f64 = 60.0;
/// A bound on one side, or none, is worse than any two, in nanoseconds.
const ONE_SIDED: f64 = 1e15;
const UNBOUNDED: f64 = 1e16;

/// Messages between two hosts.
#[derive(Debug, Default)]
struct Traffic {
    /// From the first host to the second, and back.
    there: Crossings,
    back: Crossings,
    topics: BTreeSet<String>,
    assumed: BTreeMap<String, usize>,
}

/// A relation between two clocks.
#[derive(Debug)]
struct Edge {
    hosts: [usize; 2],
    /// From times of the second host to times of the first, and back.
    maps: [HostMap; 2],
    evidence: Vec<Evidence>,
    assumptions: Vec<String>,
    steps: u32,
}

impl Survey {
    /// Relates the clocks of all hosts to that of the reference.
    ///
    /// # Errors
    ///
    /// [`Error::NoEvidence`] if nothing relates a host to the others, and [`Error::Contradiction`] if evidence excludes
    /// other evidence.
    pub fn solve(self, options: &MergeOptions) -> Result<Hosts> {
        let count = self.hosts.len();
        let named = options.published_on.iter().map(|(_, bag)| *bag);
        let mut named = named.chain([options.reference]);
        if let Some(place) = named.find(|place| *place >= count) {
            return Err(Error::NoSuchBag { place, count });
        }
        if let Some((topic, host, early)) = self.publishers.misplaced() {
            return Err(Error::Misplaced {
                topic: topic.to_owned(),
                host: self.name(host),
                early: duration(early),
            });
        }
        let edges = self.edges(options)?;
        let mut found: Vec<Option<Host>> = (0..count).map(|_| None).collect();
        found[options.reference] = Some(self.host(options.reference, HostMap::Same, None));
        while let Some((place, edge, from)) = self.nearest(&found, &edges) {
            let base = found[from]
                .as_ref()
                .map_or(HostMap::Same, |host| host.map.clone());
            let map = edge.toward(from).then(base);
            found[place] = Some(self.host(place, map, Some((edge, from))));
        }
        let hosts = found
            .into_iter()
            .enumerate()
            .map(|(place, host)| host.ok_or_else(|| self.no_evidence(place, options.reference)));
        let hosts = hosts.collect::<Result<Vec<Host>>>()?;
        self.check_agreement(&hosts, &edges)?;
        Ok(Hosts {
            reference: options.reference,
            hosts,
            recorded: self.hosts,
            publishers: self.publishers,
            shared: self.shared.into_iter().collect(),
        })
    }

    /// The host outside of `found` whose relation to one of them has the narrowest bounds.
    fn nearest<'e>(
        &self,
        found: &[Option<Host>],
        edges: &'e [Edge],
    ) -> Option<(usize, &'e Edge, usize)> {
        let is_found = |place: usize| found.get(place).is_some_and(Option::is_some);
        let candidates = edges.iter().filter_map(|edge| {
            let [a, b] = edge.hosts;
            match (is_found(a), is_found(b)) {
                (true, false) => Some((b, edge, a)),
                (false, true) => Some((a, edge, b)),
                _ => None,
            }
        });
        candidates.min_by(|one, other| {
            let cost = |(place, edge, from): &(usize, &Edge, usize)| {
                let base = found[*from]
                    .as_ref()
                    .map_or(HostMap::Same, |host| host.map.clone());
                cost(edge.toward(*from).then(base).convert(self.middle(*place)))
            };
            cost(one).total_cmp(&cost(other))
        })
    }

    fn middle(&self, place: usize) -> i64 {
        let host = self.hosts.get(place);
        let times = host.and_then(|host| host.start_ns.zip(host.end_ns));
        times.map_or(0, |(start, end)| start.midpoint(end))
    }

    fn name(&self, place: usize) -> String {
        self.hosts
            .get(place)
            .map_or_else(String::new, |host| host.name.clone())
    }

    fn host(&self, place: usize, map: HostMap, by: Option<(&Edge, usize)>) -> Host {
        let recorded = self.hosts.get(place);
        let nodes = self.nodes.iter().filter(|(topic, _)| {
            let host = self.publishers.host(topic);
            host.is_some_and(|(host, _)| host == place)
        });
        let nodes: BTreeSet<&String> = nodes.flat_map(|(_, nodes)| nodes).collect();
        let mut host = Host {
            name: self.name(place),
            by_way_of: by.map(|(_, from)| self.name(from)),
            offsets: Vec::new(),
            evidence: by.map_or_else(Vec::new, |(edge, _)| edge.evidence.clone()),
            assumptions: by.map_or_else(Vec::new, |(edge, _)| edge.assumptions.clone()),
            steps: by.map_or(0, |(edge, _)| edge.steps),
            nodes: nodes.into_iter().cloned().collect(),
            map,
        };
        if let Some((start, end)) = recorded.and_then(|it| it.start_ns.zip(it.end_ns)) {
            let times = [start, start.midpoint(end), end];
            host.offsets = times.map(|time| host.offset_at(time)).to_vec();
        }
        host
    }

    fn no_evidence(&self, place: usize, reference: usize) -> Error {
        let reason = if self.shared.is_empty() {
            "no topic is in both bags, no tag links their nodes, and no clock is recorded as synchronised in both"
        } else {
            "no message is in both bags, no tag links their nodes, and no clock is recorded as synchronised in both"
        };
        Error::NoEvidence {
            host: self.name(place),
            reference: self.name(reference),
            reason: reason.to_owned(),
        }
    }

    /// All relations between two hosts.
    fn edges(&self, options: &MergeOptions) -> Result<Vec<Edge>> {
        let traffic = self.traffic();
        let copies = self.pairs.offsets();
        let limits = Limits {
            skew_ppm: options.skew_ppm,
            drift_ppm_per_minute: DRIFT_PPM_PER_MINUTE,
            ..Limits::default()
        };
        let mut edges = Vec::new();
        let count = self.hosts.len();
        for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
            let synchronised = synchronised(&self.hosts[a], &self.hosts[b]);
            let messages = traffic.get(&(a, b));
            let messages = messages.map(|traffic| self.message_edge((a, b), traffic, &limits));
            let mut edge = match messages.transpose()?.flatten() {
                Some(edge) => edge,
                None => match (copies.get(&(a, b)), &synchronised) {
                    (Some(knots), _) => copies_edge((a, b), knots),
                    (None, Some(_)) => same_clock(a, b),
                    (None, None) => continue,
                },
            };
            if let Some(evidence) = synchronised {
                self.add_synchronised(&mut edge, evidence)?;
            }
            edges.push(edge);
        }
        Ok(edges)
    }

    /// The messages between each two hosts.
    fn traffic(&self) -> BTreeMap<(usize, usize), Traffic> {
        let mut all: BTreeMap<(usize, usize), Traffic> = BTreeMap::new();
        let mut add = |from: usize, to: usize, topic: &str, crossings: &Crossings| {
            let traffic = all.entry((from.min(to), from.max(to))).or_default();
            let way = if from < to {
                &mut traffic.there
            } else {
                &mut traffic.back
            };
            way.merge(crossings);
            traffic.topics.insert(topic.to_owned());
            if let Some((host, Reason::Local)) = self.publishers.host(topic) {
                traffic.assumed.insert(topic.to_owned(), host);
            }
        };
        for (topic, from, to, crossings) in self.publishers.crossings() {
            add(from, to, topic, crossings);
        }
        for (input, output, crossings) in self.tags.links() {
            let host = |topic: &str| self.publishers.host(topic).map(|(host, _)| host);
            if let (Some(from), Some(to)) = (host(input), host(output))
                && from != to
            {
                add(from, to, input, crossings);
            }
        }
        all
    }

    fn message_edge(
        &self,
        (a, b): (usize, usize),
        traffic: &Traffic,
        limits: &Limits,
    ) -> Result<Option<Edge>> {
        let clock = match PeerClock::fit(&traffic.back, &traffic.there, limits)? {
            PeerFit::Clock(clock) => Arc::new(clock),
            PeerFit::NoMessages => return Ok(None),
            PeerFit::Contradiction(found) => {
                let topics: Vec<&str> = traffic.topics.iter().map(String::as_str).collect();
                let reason = format!(
                    "{} of {} pairs of messages arrive before they were sent, the first at {}, by {}; topics {}",
                    found.pairs,
                    found.of,
                    rfc3339(found.peer_ns),
                    duration(found.lower_ns.saturating_sub(found.upper_ns)),
                    topics.join(", "),
                );
                return Err(Error::Contradiction {
                    host: self.name(b),
                    other: self.name(a),
                    reason,
                });
            }
        };
        let assumptions = self.assumptions(traffic);
        Ok(Some(Edge {
            hosts: [a, b],
            steps: clock.steps(),
            maps: [
                HostMap::Messages(Arc::clone(&clock)),
                HostMap::MessagesBack(clock),
            ],
            evidence: vec![Evidence::Messages {
                to: traffic.there.count(),
                from: traffic.back.count(),
                topics: traffic.topics.iter().cloned().collect(),
            }],
            assumptions,
        }))
    }

    /// Topics whose host is known by their delays only.
    fn assumptions(&self, traffic: &Traffic) -> Vec<String> {
        let mut by_host: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (topic, host) in &traffic.assumed {
            by_host.entry(*host).or_default().push(topic);
        }
        let words = by_host.into_iter().map(|(host, topics)| {
            let are = if topics.len() == 1 { "is" } else { "are" };
            let (topics, host) = (topics.join(", "), self.name(host));
            format!("{topics} {are} published on the host of {host}")
        });
        words.collect()
    }

    /// Narrows a relation by the clocks' own state.
    fn add_synchronised(&self, edge: &mut Edge, evidence: Evidence) -> Result<()> {
        let Evidence::Synchronised { error_ns, .. } = &evidence else {
            return Ok(());
        };
        let state = HostMap::Synchronised {
            error_ns: *error_ns,
        };
        let [a, b] = edge.hosts;
        let (start, end) = self.times(b);
        for time in [start, start.midpoint(end), end] {
            let (one, other) = (edge.maps[0].convert(time), state.convert(time));
            if let Some(apart) = apart(&one, &other) {
                let reason = format!(
                    "by their messages the clocks differ by {} more than {} allows",
                    duration(apart),
                    evidence.words(),
                );
                return Err(Error::Contradiction {
                    host: self.name(b),
                    other: self.name(a),
                    reason,
                });
            }
        }
        let [to, back] = std::mem::replace(&mut edge.maps, [HostMap::Same, HostMap::Same]);
        edge.maps = match (to, back) {
            (HostMap::Same, _) => [state.clone(), state],
            (to, back) => [to.and(state.clone()), back.and(state)],
        };
        edge.evidence.push(evidence);
        Ok(())
    }

    fn times(&self, place: usize) -> (i64, i64) {
        let host = self.hosts.get(place);
        host.and_then(|host| host.start_ns.zip(host.end_ns))
            .unwrap_or((0, 0))
    }

    /// Relations that were not needed must agree with those that were.
    fn check_agreement(&self, hosts: &[Host], edges: &[Edge]) -> Result<()> {
        for edge in edges {
            let [a, b] = edge.hosts;
            let time = self.middle(b);
            let direct = edge.maps[0]
                .clone()
                .then(hosts[a].map.clone())
                .convert(time);
            if let Some(apart) = apart(&direct, &hosts[b].map.convert(time)) {
                let reason = format!(
                    "by way of {} the offset differs by {} more than the bounds allow",
                    hosts[b].by_way_of.as_deref().unwrap_or("the reference"),
                    duration(apart),
                );
                return Err(Error::Contradiction {
                    host: self.name(b),
                    other: self.name(a),
                    reason,
                });
            }
        }
        Ok(())
    }
}

impl Edge {
    /// From times of the other host to times of `host`.
    fn toward(&self, host: usize) -> HostMap {
        let place = usize::from(self.hosts[0] != host);
        self.maps[place].clone()
    }
}

fn copies_edge((a, b): (usize, usize), knots: &[(i64, i64)]) -> Edge {
    let back = knots
        .iter()
        .map(|(at, add)| (at.saturating_add(*add), add.saturating_neg()));
    Edge {
        hosts: [a, b],
        maps: [
            HostMap::Copies(Arc::new(knots.to_vec())),
            HostMap::Copies(Arc::new(back.collect())),
        ],
        evidence: vec![Evidence::Copies {
            stretches: knots.len(),
        }],
        assumptions: Vec::new(),
        steps: 0,
    }
}

fn same_clock(a: usize, b: usize) -> Edge {
    Edge {
        hosts: [a, b],
        maps: [HostMap::Same, HostMap::Same],
        evidence: Vec::new(),
        assumptions: Vec::new(),
        steps: 0,
    }
}

/// Distance of two results beyond their bounds; none if they agree.
fn apart(one: &HostTime, other: &HostTime) -> Option<i64> {
    let gap = |upper: Option<i64>, lower: Option<i64>| {
        let gap = lower?.saturating_sub(upper?);
        (gap > 0).then_some(gap)
    };
    gap(one.upper_ns, other.lower_ns).or_else(|| gap(other.upper_ns, one.lower_ns))
}

fn cost(time: HostTime) -> f64 {
    match (time.width_ns(), time.lower_ns.or(time.upper_ns)) {
        (Some(width), _) => width as f64,
        (None, Some(_)) => ONE_SIDED,
        (None, None) => UNBOUNDED,
    }
}

/// By how much two clocks differ at most by their own state; none if that was not known all the time.
fn synchronised(one: &RecordedHost, other: &RecordedHost) -> Option<Evidence> {
    let worst = |host: &RecordedHost| {
        let errors = host.clock.iter().map(|record| {
            let is_usable =
                record.synchronised && record.step_ns.is_none() && !follows_itself(record);
            record.error_ns.filter(|_| is_usable)
        });
        errors.collect::<Option<Vec<i64>>>()?.into_iter().max()
    };
    let (first, second) = (one.clock.first()?, other.clock.first()?);
    // Two grandmasters may show different times; NTP leads to UTC whatever the server.
    let is_common = |a: &HostClockRecord, b: &HostClockRecord| {
        a.source == b.source && (a.source == "chrony" || a.reference == b.reference)
    };
    if !is_common(first, second) {
        return None;
    }
    Some(Evidence::Synchronised {
        source: first.source.clone(),
        error_ns: worst(one)?.saturating_add(worst(other)?),
    })
}

/// A server without an outer reference: its error says nothing about true time.
fn follows_itself(record: &HostClockRecord) -> bool {
    let reference = record.reference.as_deref().unwrap_or_default();
    reference.starts_with("127.") || reference.is_empty()
}
