//! The clocks of hosts, and durations between their times.

mod place;

use std::collections::HashMap;

use serde::Serialize;
use timeloom_bag::MergedHost;
use timeloom_time::Duration;

use self::place::Domain;
pub(super) use self::place::{Placed, Step};
use super::names::index;
use crate::moment::Moment;

/// The window of a clock comparison: clocks drift.
const WINDOW: i64 = 30_000_000_000;

/// A host with its own clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockDomain {
    /// Its name.
    pub name: String,
    /// Prefixes of the full names of its nodes.
    pub nodes: Vec<String>,
    /// The offset from its times to those of the reference host, as `sync` estimates it.
    pub offset: Option<Duration>,
    /// The error bound of the offset.
    pub bound: Option<Duration>,
}

impl ClockDomain {
    /// The hosts of a merged bag, as its custom data describes them; those without nodes are left out.
    pub(crate) fn of_merged_bag(custom_data: &[(String, String)]) -> Vec<Self> {
        let hosts = MergedHost::read(custom_data).into_iter();
        let hosts = hosts.filter(|host| !host.nodes.is_empty());
        let domains = hosts.map(|host| Self {
            offset: host.offset_ns.map(Duration::from_nanos),
            bound: host.bound_ns().map(Duration::from_nanos),
            name: host.name,
            nodes: host.nodes,
        });
        domains.collect()
    }
}

/// The reason why a latency is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// The latency is negative: the clocks differ.
    Negative,
    /// A clock jumped in between.
    Jump,
    /// A time is missing.
    Unknown,
}

/// A latency with consistent clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elapsed {
    pub(super) nanos: u64,
    /// Its error bound; `None` if the clocks of the two hosts were not compared.
    pub(super) bound: Option<u64>,
}

/// A point in time with its clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) moment: Moment,
    pub(super) domain: u32,
    pub(super) epoch: u32,
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    declared: Vec<ClockDomain>,
    domains: Vec<Domain>,
    of_node: HashMap<u32, u32>,
    jumps: u64,
    steps: Vec<Step>,
    negative: HashMap<(u32, u32), u64>,
    /// The shortest transit from one host to another, each end by its own clock.
    least: HashMap<(u32, u32), RecentMinimum>,
}

/// The smallest recent value.
#[derive(Clone, Copy, Debug)]
struct RecentMinimum {
    now: i64,
    before: i64,
    since: i64,
}

/// The difference of two hosts' clocks, estimated from messages in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The lead of the second clock over the first.
    pub(super) ahead: i64,
    pub(super) bound: i64,
}

impl Clocks {
    pub(super) fn new(declared: Vec<ClockDomain>) -> Self {
        let nanos = |duration: Option<Duration>| duration.map(Duration::nanos);
        let domains = declared.iter().map(|declared| {
            let mut domain = Domain::new(declared.name.clone());
            domain.offset = nanos(declared.offset);
            domain.bound = nanos(declared.bound);
            domain
        });
        Self {
            domains: domains.collect(),
            declared,
            ..Self::default()
        }
    }

    /// Takes hosts into account, unless others are declared or nodes are placed already.
    pub(super) fn declare(&mut self, domains: Vec<ClockDomain>) {
        if self.declared.is_empty() && self.domains.is_empty() {
            *self = Self::new(domains);
        }
    }

    /// The time from one point to another: by the steady clock on one host, by ROS time between hosts.
    pub(super) fn elapsed(&self, from: Point, to: Point) -> Result<Elapsed, Suspicion> {
        let steady = |point: Point| point.moment.steady;
        let same_host = from.domain == to.domain;
        if same_host && !steady(from).is_zero() && !steady(to).is_zero() {
            let nanos = (steady(to) - steady(from)).nanos();
            return checked(nanos, Some(0));
        }
        if from.moment.ros.is_zero() || to.moment.ros.is_zero() {
            return Err(Suspicion::Unknown);
        }
        if same_host && from.epoch != to.epoch {
            return Err(Suspicion::Jump);
        }
        let nanos = (to.moment.ros - from.moment.ros).nanos();
        if same_host {
            return checked(nanos, Some(0));
        }
        let side = |domain: u32| {
            let domain = self.domains.get(index(domain))?;
            Some((domain.offset?, domain.bound?))
        };
        match (side(from.domain), side(to.domain)) {
            (Some((offset, bound)), Some((other_offset, other_bound))) => {
                let nanos = nanos.saturating_add(other_offset).saturating_sub(offset);
                within(nanos, bound.saturating_add(other_bound))
            }
            _ => match self.compared(from.domain, to.domain) {
                Some(Difference { ahead, bound }) => within(nanos.saturating_sub(ahead), bound),
                None => checked(nanos, None),
            },
        }
    }

    /// Records the transit time of a message between hosts, each end by its own clock.
    pub(super) fn compare(&mut self, from: Point, to: Point, now: i64) {
        let known = !from.moment.ros.is_zero() && !to.moment.ros.is_zero();
        let current = |point: Point| {
            let domain = self.domains.get(index(point.domain));
            domain.is_some_and(|domain| domain.epoch == point.epoch)
        };
        if from.domain == to.domain || !known || !current(from) || !current(to) {
            return;
        }
        let nanos = (to.moment.ros - from.moment.ros).nanos();
        let least = self.least.entry((from.domain, to.domain));
        let least = least.or_insert(RecentMinimum {
            now: nanos,
            before: nanos,
            since: now,
        });
        if now.saturating_sub(least.since) > WINDOW {
            *least = RecentMinimum {
                now: nanos,
                before: least.now,
                since: now,
            };
        }
        least.now = least.now.min(nanos);
    }

    /// The difference of the clocks of two hosts: no message arrives before it was sent, in either direction.
    pub(super) fn compared(&self, from: u32, to: u32) -> Option<Difference> {
        let least = |from: u32, to: u32| {
            let least = self.least.get(&(from, to))?;
            Some(least.now.min(least.before))
        };
        let (there, back) = (least(from, to)?, least(to, from)?);
        // The sum of both directions is the round trip; a negative one means that a clock was set meanwhile.
        let both = there.saturating_add(back);
        (both >= 0).then_some(Difference {
            ahead: there.saturating_sub(back) / 2,
            bound: both / 2 + 1,
        })
    }

    /// All pairs of hosts that were compared, each once.
    pub(super) fn all_compared(&self) -> Vec<(u32, u32, Difference)> {
        let pairs = self.least.keys().filter(|(from, to)| from < to);
        let mut found: Vec<_> = pairs
            .filter_map(|(from, to)| Some((*from, *to, self.compared(*from, *to)?)))
            .collect();
        found.sort_by_key(|(from, to, _)| (*from, *to));
        found
    }

    /// The same; negative latencies are counted for the two hosts.
    pub(super) fn judged(&mut self, from: Point, to: Point) -> Result<Elapsed, Suspicion> {
        let elapsed = self.elapsed(from, to);
        if elapsed == Err(Suspicion::Negative) {
            self.count_negative(from.domain, to.domain);
        }
        elapsed
    }

    /// Counts a negative latency.
    pub(super) fn count_negative(&mut self, from: u32, to: u32) {
        *self.negative.entry((from, to)).or_default() += 1;
    }

    /// Number of times that ROS time went back by more than a late tag explains.
    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// The clocks that were set while their steady clocks continued.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Negative latencies by pair of hosts.
    pub(super) fn negative(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let negative = self.negative.iter();
        negative.map(|((from, to), count)| (*from, *to, *count))
    }

    pub(super) fn name(&self, domain: u32) -> &str {
        self.domains
            .get(index(domain))
            .map_or("", |domain| domain.name.as_str())
    }

    /// Hosts with publications.
    pub(super) fn used(&self) -> Vec<u32> {
        let mut used: Vec<u32> = self.of_node.values().copied().collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}

/// Within the bound, a message slightly before its cause has latency zero.
fn within(nanos: i64, bound: i64) -> Result<Elapsed, Suspicion> {
    let nanos = if nanos < 0 && nanos >= -bound {
        0
    } else {
        nanos
    };
    checked(nanos, Some(bound.unsigned_abs()))
}

fn checked(nanos: i64, bound: Option<u64>) -> Result<Elapsed, Suspicion> {
    match u64::try_from(nanos) {
        Ok(nanos) => Ok(Elapsed { nanos, bound }),
        Err(_negative) => Err(Suspicion::Negative),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn point(placed: Placed, moment: Moment) -> Point {
        Point {
            moment,
            domain: placed.domain,
            epoch: placed.epoch,
        }
    }

    #[test]
    fn one_host_counts_by_its_steady_clock_independent_of_ros_time() {
        let mut clocks = Clocks::default();
        let (before, after) = (
            Moment::from_nanos(100 * S, 5 * S),
            Moment::from_nanos(10 * S, 6 * S),
        );
        let a = point(clocks.place(1, "/a", before, 5 * S), before);
        let b = point(clocks.place(1, "/a", after, 6 * S), after);
        assert_eq!(clocks.jumps(), 1);
        assert_eq!(
            clocks.elapsed(a, b).map(|elapsed| elapsed.nanos),
            Ok(1_000_000_000)
        );
        // Without the steady clock no duration across the jump is known.
        let bare = |point: Point| Point {
            moment: Moment::from_nanos(point.moment.ros.nanos(), 0),
            ..point
        };
        assert_eq!(clocks.elapsed(bare(a), bare(b)), Err(Suspicion::Jump));
    }

    #[test]
    fn hosts_are_distinguished_by_their_boot() {
        let mut clocks = Clocks::default();
        let one = Moment::from_nanos(1000 * S, 5 * S);
        let two = Moment::from_nanos(1000 * S + 20_000_000, 777 * S);
        let a = point(clocks.place(1, "/a", one, 0), one);
        let same = clocks.place(2, "/b", Moment::from_nanos(1001 * S, 6 * S), S);
        let b = point(clocks.place(3, "/c", two, 0), two);
        assert_eq!(a.domain, same.domain);
        assert_ne!(a.domain, b.domain);
        let elapsed = clocks.elapsed(a, b).unwrap();
        assert_eq!((elapsed.nanos, elapsed.bound), (20_000_000, None));
        assert_eq!(clocks.judged(b, a), Err(Suspicion::Negative));
        assert_eq!(clocks.negative.values().sum::<u64>(), 1);
    }

    #[test]
    fn a_declared_offset_gives_a_bound() {
        let domain = |name: &str, node: &str, offset_ms, bound_ms| ClockDomain {
            name: name.into(),
            nodes: vec![node.into()],
            offset: Some(Duration::from_millis(offset_ms)),
            bound: Some(Duration::from_millis(bound_ms)),
        };
        let mut clocks = Clocks::new(vec![
            domain("car", "/car", 0, 0),
            domain("arm", "/arm", 30, 2),
        ]);
        let moment = Moment::from_nanos(1000 * S, S);
        let car = point(clocks.place(1, "/car/x", moment, 0), moment);
        let late = Moment::from_nanos(1000 * S - 20_000_000, 9 * S);
        let arm = point(clocks.place(2, "/arm/y", late, 0), late);
        let elapsed = clocks.elapsed(car, arm).unwrap();
        assert_eq!(
            (elapsed.nanos, elapsed.bound),
            (10_000_000, Some(2_000_000))
        );
        // One millisecond before its cause, with a bound of two: zero.
        let early = Moment::from_nanos(1000 * S - 31_000_000, 9 * S);
        let arm = Point {
            moment: early,
            ..arm
        };
        assert_eq!(clocks.elapsed(car, arm).map(|elapsed| elapsed.nanos), Ok(0));
    }

    #[test]
    fn hosts_of_a_merged_bag_give_bounds_and_the_longest_name_counts() {
        let host = |name: &str, offset_ns: i64, node: &str| MergedHost {
            name: name.into(),
            offset_ns: Some(offset_ns),
            lower_ns: Some(offset_ns - 400),
            upper_ns: Some(offset_ns + 300),
            nodes: vec![node.into()],
            ..MergedHost::default()
        };
        let data = [MergedHost::custom_data(&[
            host("a", 0, "/cam"),
            host("b", -5_000, "/camera"),
        ])];
        let mut clocks = Clocks::default();
        clocks.declare(ClockDomain::of_merged_bag(&data));
        let (sent, received) = (
            Moment::from_nanos(1_000 * S, S),
            Moment::from_nanos(1_000 * S + 7_000, 9 * S),
        );
        let a = point(clocks.place(1, "/cam", sent, 0), sent);
        let b = point(clocks.place(2, "/camera", received, 0), received);
        assert_ne!(a.domain, b.domain);
        let elapsed = clocks.elapsed(a, b).unwrap();
        assert_eq!((elapsed.nanos, elapsed.bound), (2_000, Some(800)));
    }

    #[test]
    fn simulated_time_at_any_rate_does_not_split_a_host() {
        let mut clocks = Clocks::default();
        // A hundred times as fast: between two nodes' first tags, ROS time advanced by two seconds.
        let first = clocks.place(1, "/a", Moment::from_nanos(50 * S, 5 * S), 100 * S);
        let later = Moment::from_nanos(52 * S, 5 * S + 20_000_000);
        let second = clocks.place(2, "/b", later, 100 * S + 21_000_000);
        assert_eq!(first.domain, second.domain);
    }

    #[test]
    fn traffic_both_ways_compares_two_clocks() {
        let mut clocks = Clocks::default();
        let ms = 1_000_000;
        let (car, arm) = (
            Moment::from_nanos(1000 * S, 5 * S),
            // 30 ms ahead.
            Moment::from_nanos(1000 * S + 30 * ms, 777 * S),
        );
        let a = point(clocks.place(1, "/a", car, 0), car);
        let b = point(clocks.place(2, "/b", arm, 0), arm);
        let after = |from: Point, ms: i64| Point {
            moment: Moment::from_nanos(from.moment.ros.nanos() + ms * 1_000_000, 0),
            ..from
        };
        clocks.compare(a, after(b, 4), 0);
        assert_eq!(clocks.compared(a.domain, b.domain), None);
        assert_eq!(clocks.elapsed(a, after(b, 10)).unwrap().bound, None);
        clocks.compare(b, after(a, 6), 0);
        clocks.compare(a, after(b, 40), 0);
        let elapsed = clocks.elapsed(a, after(b, 10)).unwrap();
        // It took 10 ms; the bound is at most 5 ms.
        assert_eq!(elapsed.bound, Some(5_000_001));
        assert!(elapsed.nanos.abs_diff(10_000_000) <= 5_000_001);
        let back = clocks.elapsed(b, after(a, 10)).unwrap();
        assert!(back.nanos.abs_diff(10_000_000) <= 5_000_001);
        // A clock that was set is compared again.
        clocks.place(2, "/b", Moment::from_nanos(10 * S, 778 * S), S);
        assert_eq!(clocks.compared(a.domain, b.domain), None);
    }
}
