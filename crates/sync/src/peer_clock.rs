//! The clock of another host, from messages between the two hosts.

use timeloom_time::{Steady, Time};

use crate::anchor::whole_nanos;
use crate::crossings::{Crossing, Crossings};
use crate::device_time::DeviceTime;
use crate::error::Result;
use crate::event::EventKind;
use crate::limits::{GrainSource, Limits};
use crate::line::{nanos_between, seconds_between};
use crate::mapped::{Bounds, Health, Mapped};
use crate::mapping::Mapping;
use crate::method::Method;
use crate::recording::smooth_with;
use crate::sample::{ActiveSample, PassiveSample, Sample};

/// Messages of both directions are used together up to this distance, in seconds.
const PAIRED_WITHIN: f64 = 5.0;
/// Messages of both directions contradict each other if more than this share of the pairs does.
const MOST_CONTRADICTIONS: f64 = 0.02;
/// Rounds in which a map is inverted: each gains three digits.
const ROUNDS: usize = 6;

/// In which directions messages went between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Directions {
    /// From the peer to this host only: times of the peer have an upper bound.
    FromPeer,
    /// From this host to the peer only: times of the peer have a lower bound.
    ToPeer,
    /// Both: times of the peer have both bounds.
    Both,
}

/// Messages of both directions that no offset of the clocks explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// The first time at which they contradict each other, by the clock of the peer, in nanoseconds.
    pub peer_ns: i64,
    /// The time of this host is at least this, by messages to the peer.
    pub lower_ns: i64,
    /// The time of this host is at most this, by messages from the peer.
    pub upper_ns: i64,
    /// Pairs of messages that contradict each other.
    pub pairs: usize,
    /// All pairs.
    pub of: usize,
}

/// The result of comparing the clocks of two hosts.
#[derive(Debug, Clone)]
pub enum PeerFit {
    /// The clock of the peer as this host sees it.
    Clock(PeerClock),
    /// The messages contradict each other: a clock was set again and again, or a sender is not where it is thought to be.
    Contradiction(Contradiction),
    /// No message went from one host to the other.
    NoMessages,
}

/// From times of another host to times of this one, with bounds.
///
/// A message arrives after it was sent. So each message from the peer limits the time of this host from above, and each
/// message to the peer from below. Between messages the bounds loosen by [`Limits::skew_ppm`].
///
/// ```
/// use timeloom_sync::{Crossing, Crossings, Limits, PeerClock, PeerFit};
///
/// // The clock of the peer is 30 ms ahead; messages take 1 ms there and 2 ms back.
/// let (mut there, mut back) = (Crossings::default(), Crossings::default());
/// for step in 0..600 {
///     let here = step * 100_000_000;
///     there.add(Crossing { sent_ns: here, received_ns: here + 31_000_000 });
///     back.add(Crossing { sent_ns: here + 50_000_000, received_ns: here + 22_000_000 });
/// }
/// let limits = Limits { skew_ppm: 100.0, ..Limits::default() };
/// let PeerFit::Clock(clock) = PeerClock::fit(&back, &there, &limits)? else { panic!() };
/// let mapped = clock.convert(30_030_000_000)?;
/// let truth = timeloom_time::Time::from_nanos(30_000_000_000);
/// assert!(mapped.bounds.contain(truth));
/// assert!(mapped.bounds.width().unwrap().nanos() < 3_100_000);
/// # Ok::<(), timeloom_sync::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PeerClock {
    map: Map,
    directions: Directions,
    steps: u32,
}

#[derive(Debug, Clone)]
enum Map {
    /// From times of the peer to times of this host.
    Straight(Mapping),
    /// From times of this host to times of the peer.
    Inverse(Mapping),
}

impl PeerClock {
    /// Compares the clocks by messages from the peer and messages to the peer.
    ///
    /// # Errors
    ///
    /// [`Error::StampOutOfRange`](crate::Error::StampOutOfRange) for times that no clock shows.
    pub fn fit(from_peer: &Crossings, to_peer: &Crossings, limits: &Limits) -> Result<PeerFit> {
        let directions = match (from_peer.is_empty(), to_peer.is_empty()) {
            (true, true) => return Ok(PeerFit::NoMessages),
            (false, true) => Directions::FromPeer,
            (true, false) => Directions::ToPeer,
            (false, false) => Directions::Both,
        };
        // Times of system clocks have no grain; messages that are sent at regular times would look as if.
        let limits = &Limits {
            grain_source: GrainSource::Given,
            ..*limits
        };
        let samples = match directions {
            Directions::FromPeer => one_way(from_peer),
            Directions::ToPeer => one_way(to_peer),
            Directions::Both => match two_way(from_peer, to_peer, limits) {
                Ok(samples) => samples,
                Err(contradiction) => return Ok(PeerFit::Contradiction(contradiction)),
            },
        };
        let (rows, mut clock) = smooth_with(&samples, Method::Envelope.clock(*limits))?;
        let mut steps = 0;
        while let Some(event) = clock.take_event() {
            steps += u32::from(matches!(event.kind, EventKind::NewEpoch { .. }));
        }
        let rows = samples.iter().map(Sample::device).zip(rows);
        let mapping = Mapping::new(rows, clock.limits());
        let map = if directions == Directions::ToPeer {
            Map::Inverse(mapping)
        } else {
            Map::Straight(mapping)
        };
        Ok(PeerFit::Clock(Self {
            map,
            directions,
            steps,
        }))
    }

    /// In which directions messages went.
    pub const fn directions(&self) -> Directions {
        self.directions
    }

    /// Number of times that a clock was set, or seems to have been set.
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// Converts a time of the peer to a time of this host.
    ///
    /// # Errors
    ///
    /// [`Error::StampOutOfRange`](crate::Error::StampOutOfRange) for a time that no clock shows.
    pub fn convert(&self, peer_ns: i64) -> Result<Mapped> {
        match &self.map {
            Map::Straight(mapping) => nearest_epoch(mapping, peer_ns),
            Map::Inverse(mapping) => inverse(mapping, peer_ns),
        }
    }

    /// Converts a time of this host to a time of the peer.
    ///
    /// # Errors
    ///
    /// As [`convert`](Self::convert).
    pub fn convert_back(&self, here_ns: i64) -> Result<Mapped> {
        match &self.map {
            Map::Straight(mapping) => inverse(mapping, here_ns),
            Map::Inverse(mapping) => nearest_epoch(mapping, here_ns),
        }
    }
}

/// A clock that was set back shows the same time twice: then the bounds contain both.
fn nearest_epoch(mapping: &Mapping, at: i64) -> Result<Mapped> {
    match mapping.convert_all(DeviceTime::from_nanos(at))? {
        (one, None) => Ok(one),
        (one, Some(other)) => Ok(Mapped {
            bounds: Bounds {
                lower: one.bounds.lower.min(other.bounds.lower),
                upper: one
                    .bounds
                    .upper
                    .zip(other.bounds.upper)
                    .map(|(a, b)| a.max(b)),
            },
            health: Health::Degraded,
            ..other
        }),
    }
}

/// The time that a mapping converts to `wanted`: clocks run nearly alike, so that the error shrinks fast.
fn inverse(mapping: &Mapping, wanted: i64) -> Result<Mapped> {
    let solve = |part: fn(&Mapped) -> Option<i64>| -> Result<Option<i64>> {
        let mut at = wanted;
        for _ in 0..ROUNDS {
            let Some(found) = part(&nearest_epoch(mapping, at)?) else {
                return Ok(None);
            };
            at = at.saturating_add(wanted.saturating_sub(found));
        }
        Ok(Some(at))
    };
    let at = solve(|mapped| Some(mapped.host.nanos()))?.unwrap_or(wanted);
    // The later the other clock can be at most, the earlier this one is at least.
    let lower = solve(|mapped| mapped.bounds.upper.map(Time::nanos))?;
    let upper = solve(|mapped| mapped.bounds.lower.map(Time::nanos))?;
    let host = Time::from_nanos(at);
    let bounds = Bounds {
        lower: lower.map(Time::from_nanos),
        upper: upper.map(Time::from_nanos),
    };
    Ok(Mapped {
        host,
        bounds: bounds.widened_to(host),
        ..nearest_epoch(mapping, at)?
    })
}

fn one_way(crossings: &Crossings) -> Vec<Sample> {
    crossings.iter().map(passive).collect()
}

/// Each message from the peer with the message to the peer that limits it best from below.
fn two_way(
    from_peer: &Crossings,
    to_peer: &Crossings,
    limits: &Limits,
) -> std::result::Result<Vec<Sample>, Contradiction> {
    // In the order of the peer's clock.
    let mut there: Vec<Crossing> = to_peer.iter().copied().collect();
    there.sort_by_key(|crossing| crossing.received_ns);
    let grain = limits.stamp_grain.nanos();
    let mut samples = Vec::new();
    let mut first = None;
    let (mut pairs, mut contradictions) = (0_u32, 0_u32);
    for back in from_peer.iter() {
        let Some(lower_ns) = lower_bound(&there, back, limits) else {
            samples.push(passive(back));
            continue;
        };
        pairs += 1;
        if lower_ns > back.received_ns.saturating_add(grain) {
            contradictions += 1;
            first.get_or_insert(Contradiction {
                peer_ns: back.sent_ns,
                lower_ns,
                upper_ns: back.received_ns,
                pairs: 0,
                of: 0,
            });
            continue;
        }
        samples.push(Sample::Active(ActiveSample {
            host_tx: Time::from_nanos(lower_ns.min(back.received_ns)),
            device: DeviceTime::from_nanos(back.sent_ns),
            host_rx: Time::from_nanos(back.received_ns),
        }));
    }
    match first {
        Some(first)
            if contradictions > 2
                && f64::from(contradictions) > MOST_CONTRADICTIONS * f64::from(pairs) =>
        {
            Err(Contradiction {
                pairs: usize::try_from(contradictions).unwrap_or(usize::MAX),
                of: usize::try_from(pairs).unwrap_or(usize::MAX),
                ..first
            })
        }
        _ => Ok(samples),
    }
}

fn passive(crossing: &Crossing) -> Sample {
    Sample::Passive(PassiveSample::new(
        DeviceTime::from_nanos(crossing.sent_ns),
        Time::<Steady>::from_nanos(crossing.received_ns),
    ))
}

/// The time of this host when a message left the peer is no earlier, by messages to the peer shortly before and after.
fn lower_bound(there: &[Crossing], back: &Crossing, limits: &Limits) -> Option<i64> {
    let peer_ns = back.sent_ns;
    let bound = |crossing: &Crossing| {
        let distance = nanos_between(crossing.received_ns, peer_ns);
        let loosened = distance - distance.abs() * limits.skew_ppm * 1e-6;
        crossing.sent_ns.saturating_add(whole_nanos(loosened))
    };
    let is_near = |crossing: &&Crossing| {
        seconds_between(crossing.received_ns, peer_ns).abs() <= PAIRED_WITHIN
    };
    let after = there.partition_point(|crossing| crossing.received_ns <= peer_ns);
    let (earlier, later) = there.split_at(after);
    let near = || {
        let earlier = earlier.iter().rev().take_while(is_near);
        earlier.chain(later.iter().take_while(is_near))
    };
    let best = near().map(bound).max()?;
    if best <= back.received_ns {
        return Some(best);
    }
    // A clock was set between the two: the nearest message is on the same side of the step.
    let distance = |crossing: &&Crossing| crossing.received_ns.abs_diff(peer_ns);
    near().min_by_key(distance).map(bound)
}
