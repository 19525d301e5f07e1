//! The hosts of a merge, and how their clocks relate to that of the reference.

use std::collections::BTreeMap;

use serde::Serialize;
use timeloom_bag::{HOST_CLOCK_KEY, MergedHost};

use crate::evidence::Evidence;
use crate::host_map::HostMap;
use crate::options::Stamps;
use crate::publishers::Publishers;
use crate::survey::RecordedHost;

/// Times at which the largest error over a bag is looked for.
const LOOKS: i64 = 64;

/// The offset from times of a host to those of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HostOffset {
    /// The time, by the clock of the host, in nanoseconds.
    pub at_ns: i64,
    /// The best estimate of what to add.
    pub offset_ns: i64,
    /// It is not less, as far as that is known.
    pub lower_ns: Option<i64>,
    /// It is not more, as far as that is known.
    pub upper_ns: Option<i64>,
}

/// A host and its clock.
#[derive(Debug, Clone, Serialize)]
pub struct Host {
    /// The name of its bag.
    pub name: String,
    /// The name of the host that it was compared with; none for the reference.
    pub by_way_of: Option<String>,
    /// The offsets at the start, in the middle and at the end of its bag; empty for a bag without messages.
    pub offsets: Vec<HostOffset>,
    /// The evidence, for the step to the host that it was compared with.
    pub evidence: Vec<Evidence>,
    /// The assumptions of the bounds.
    pub assumptions: Vec<String>,
    /// Number of times that a clock seems to have been set.
    pub steps: u32,
    /// Nodes on it, as far as tags name them.
    pub nodes: Vec<String>,
    /// From its times to those of the reference.
    #[serde(skip)]
    pub map: HostMap,
}

impl Host {
    /// The rate at which the offset changes over the bag, in ppm.
    pub fn drift_ppm(&self) -> Option<f64> {
        let (first, last) = (self.offsets.first()?, self.offsets.last()?);
        let span = last.at_ns.saturating_sub(first.at_ns);
        let change = last.offset_ns.saturating_sub(first.offset_ns);
        (span > 0).then(|| change as f64 / span as f64 * 1e6)
    }

    /// The offset in the middle of the bag.
    pub fn middle(&self) -> Option<&HostOffset> {
        self.offsets.get(self.offsets.len() / 2)
    }

    pub(crate) fn offset_at(&self, at_ns: i64) -> HostOffset {
        let time = self.map.convert(at_ns);
        let add = |ns: i64| ns.saturating_sub(at_ns);
        HostOffset {
            at_ns,
            offset_ns: add(time.ns),
            lower_ns: time.lower_ns.map(add),
            upper_ns: time.upper_ns.map(add),
        }
    }

    /// The offsets of the whole bag: one that all others are near, and the bounds of all.
    pub(crate) fn over(&self, recorded: &RecordedHost) -> Option<HostOffset> {
        let middle = *self.middle()?;
        let (start, end) = (recorded.start_ns?, recorded.end_ns?);
        let step = (end.saturating_sub(start) / LOOKS).max(1);
        let looks = (0..=LOOKS).map(|look| self.offset_at(start.saturating_add(look * step)));
        let mut all = middle;
        for look in looks {
            all.lower_ns = all.lower_ns.zip(look.lower_ns).map(|(a, b)| a.min(b));
            all.upper_ns = all.upper_ns.zip(look.upper_ns).map(|(a, b)| a.max(b));
        }
        Some(all)
    }
}

/// All hosts of a merge, in the order of their bags.
#[derive(Debug, Serialize)]
pub struct Hosts {
    /// The place of the host whose clock is the timeline.
    pub reference: usize,
    /// The hosts.
    pub hosts: Vec<Host>,
    #[serde(skip)]
    pub(crate) recorded: Vec<RecordedHost>,
    #[serde(skip)]
    pub(crate) publishers: Publishers,
    /// Topics that several bags have.
    #[serde(skip)]
    pub(crate) shared: Vec<String>,
}

impl Hosts {
    /// The hosts as the metadata of the output describes them.
    pub fn records(&self, stamps: Stamps) -> Vec<MergedHost> {
        let hosts = self.hosts.iter().zip(&self.recorded);
        let records = hosts.map(|(host, recorded)| {
            let over = host.over(recorded);
            MergedHost {
                name: host.name.clone(),
                corrected: stamps == Stamps::Corrected,
                offset_ns: over.map(|over| over.offset_ns),
                lower_ns: over.and_then(|over| over.lower_ns),
                upper_ns: over.and_then(|over| over.upper_ns),
                drift_ppm: host.drift_ppm(),
                evidence: host.evidence.iter().map(Evidence::words).collect(),
                nodes: host.nodes.clone(),
            }
        });
        records.collect()
    }

    /// The custom data of the output: that of all inputs, with the clocks of the hosts apart.
    pub(crate) fn custom_data(
        &self,
        inputs: &[Vec<(String, String)>],
        stamps: Stamps,
    ) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let first = std::iter::once(self.reference);
        let others = (0..inputs.len()).filter(|place| *place != self.reference);
        for place in first.chain(others) {
            let name = self.hosts.get(place).map_or("", |host| host.name.as_str());
            for (key, value) in inputs.get(place).into_iter().flatten() {
                let is_clock = key == HOST_CLOCK_KEY && place != self.reference;
                let differs = all.get(key).is_some_and(|known| known != value);
                let key = if is_clock || differs {
                    format!("{key}.{name}")
                } else {
                    key.clone()
                };
                all.insert(key, value.clone());
            }
        }
        let (key, value) = MergedHost::custom_data(&self.records(stamps));
        all.insert(key, value);
        all.into_iter().collect()
    }
}
