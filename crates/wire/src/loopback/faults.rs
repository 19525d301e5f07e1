use timeloom_time::Duration;

use crate::gid::Gid;

/// The frequency of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Chance {
    /// Not at all.
    #[default]
    Never,
    /// The nth, 2nth, 3nth sample of each link, and so on; 0 is never.
    EveryNth(u64),
    /// This part of all samples, from 0 to 1, by the network's seed.
    Fraction(f64),
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Connection {
    /// Samples pass.
    #[default]
    Up,
    /// A partition: no sample passes. Best-effort samples are lost; reliable ones wait with the writer, as many as its
    /// history holds, until the connection is up again. The graph does not change.
    Down,
}

/// Faults between a writer and a reader, or a client and a server.
///
/// Reliable links are repaired: a dropped sample arrives later, and all that follow after it; there are no duplicates
/// and the order is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Samples that the network loses.
    pub drop: Chance,
    /// Time that every sample takes.
    pub delay: Duration,
    /// Upper limit of an additional random delay, by the seed; the order is kept.
    pub jitter: Duration,
    /// Samples that arrive twice.
    pub duplicate: Chance,
    /// Samples that are overtaken by those of the next [`reorder_by`](Self::reorder_by).
    pub reorder: Chance,
    /// Additional delay of an overtaken sample.
    pub reorder_by: Duration,
    /// The state of the connection.
    pub connection: Connection,
    /// Time for which the receiver is busy with each sample: meanwhile others wait in the reader's queue, or overflow
    /// it.
    pub slow_receiver: Duration,
}

impl Faults {
    /// No faults.
    pub const NONE: Self = Self {
        drop: Chance::Never,
        delay: Duration::from_nanos(0),
        jitter: Duration::from_nanos(0),
        duplicate: Chance::Never,
        reorder: Chance::Never,
        reorder_by: Duration::from_nanos(0),
        connection: Connection::Up,
        slow_receiver: Duration::from_nanos(0),
    };
}

/// The links that faults apply to; a field that is not set matches any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The topic or service.
    pub topic: Option<String>,
    /// The label of the sender's participant.
    pub from: Option<String>,
    /// The label of the receiver's participant.
    pub to: Option<String>,
    /// The sending endpoint.
    pub writer: Option<Gid>,
    /// The receiving endpoint.
    pub reader: Option<Gid>,
}

impl Scope {
    /// All links.
    pub fn everywhere() -> Self {
        Self::default()
    }

    /// All links of a topic or service.
    pub fn topic(name: impl Into<String>) -> Self {
        Self {
            topic: Some(name.into()),
            ..Self::default()
        }
    }

    /// All links from one participant to another.
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: Some(from.into()),
            to: Some(to.into()),
            ..Self::default()
        }
    }

    /// The link between two endpoints.
    pub fn link(writer: Gid, reader: Gid) -> Self {
        Self {
            writer: Some(writer),
            reader: Some(reader),
            ..Self::default()
        }
    }

    pub(super) fn covers(&self, place: &LinkPlace<'_>) -> bool {
        let names = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        names(&self.topic, place.topic)
            && names(&self.from, place.from)
            && names(&self.to, place.to)
            && self.writer.is_none_or(|gid| gid == place.writer)
            && self.reader.is_none_or(|gid| gid == place.reader)
    }
}

/// The position of a link in the network.
pub(super) struct LinkPlace<'a> {
    pub(super) topic: &'a str,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) writer: Gid,
    pub(super) reader: Gid,
}

/// The random faults of one link, which depend on its own past only.
#[derive(Clone, Debug)]
pub(super) struct RandomFaults {
    rng: fastrand::Rng,
    drops: u64,
    duplicates: u64,
    reorders: u64,
}

/// The faults of one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleFaults {
    /// Number of drops by the network; a reliable writer resends it each time.
    pub(super) drops: u32,
    pub(super) delay: u64,
    pub(super) duplicated: bool,
    pub(super) overtaken: bool,
}

/// Upper limit of the drops of one sample, so that a reliable link always makes progress.
const MOST_DROPS: u32 = 16;

impl RandomFaults {
    pub(super) fn new(seed: u64, writer: Gid, reader: Gid) -> Self {
        let word = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let parts = [writer, reader].map(|gid| word(&gid.0[8..]));
        Self {
            rng: link_rng(seed, parts),
            drops: 0,
            duplicates: 0,
            reorders: 0,
        }
    }

    pub(super) fn next_sample(&mut self, faults: &Faults, repairs: bool) -> SampleFaults {
        let mut sample_faults = SampleFaults {
            delay: nanos(faults.delay),
            ..SampleFaults::default()
        };
        if !faults.jitter.is_zero() {
            sample_faults.delay = sample_faults
                .delay
                .saturating_add(self.rng.u64(..=nanos(faults.jitter)));
        }
        let most = if repairs { MOST_DROPS } else { 1 };
        while sample_faults.drops < most && strikes(faults.drop, &mut self.drops, &mut self.rng) {
            sample_faults.drops += 1;
        }
        sample_faults.duplicated = strikes(faults.duplicate, &mut self.duplicates, &mut self.rng);
        sample_faults.overtaken = strikes(faults.reorder, &mut self.reorders, &mut self.rng);
        sample_faults
    }
}

/// A generator of its own for each link.
fn link_rng(seed: u64, parts: [u64; 2]) -> fastrand::Rng {
    parts
        .into_iter()
        .fold(fastrand::Rng::with_seed(seed), |mut rng, part| {
            fastrand::Rng::with_seed(rng.u64(..) ^ part)
        })
}

fn strikes(chance: Chance, count: &mut u64, rng: &mut fastrand::Rng) -> bool {
    match chance {
        Chance::Never | Chance::EveryNth(0) => false,
        Chance::EveryNth(n) => {
            *count += 1;
            count.is_multiple_of(n)
        }
        Chance::Fraction(part) => rng.f64() < part,
    }
}

/// A duration that is not negative, in nanoseconds.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.nanos()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_generators_of_their_own_that_the_seed_repeats() {
        let numbers = |seed, parts| {
            let mut rng = link_rng(seed, parts);
            [rng.u64(..), rng.u64(..), rng.u64(..)]
        };
        assert_eq!(numbers(1, [2, 3]), numbers(1, [2, 3]));
        assert_ne!(numbers(1, [2, 3]), numbers(1, [3, 2]));
        assert_ne!(numbers(0, [0, 0]), numbers(0, [0, 1]));
        assert_ne!(numbers(0, [0, 0]), numbers(1, [0, 0]));
    }

    #[test]
    fn a_fraction_hits_its_part_of_the_samples() {
        let mut dice = RandomFaults::new(7, Gid::UNKNOWN, Gid::UNKNOWN);
        let faults = Faults {
            drop: Chance::Fraction(0.25),
            ..Faults::NONE
        };
        let hits = (0..10_000).filter(|_| dice.next_sample(&faults, false).drops > 0);
        let hits = hits.count();
        assert!((2_300..2_700).contains(&hits), "{hits}");
    }

    fn dice() -> RandomFaults {
        RandomFaults::new(1, Gid([1; 16]), Gid([2; 16]))
    }

    #[test]
    fn every_third_sample_is_hit() {
        let faults = Faults {
            drop: Chance::EveryNth(3),
            ..Faults::NONE
        };
        let mut dice = dice();
        let lost: Vec<_> = (1..=9)
            .filter(|_| dice.next_sample(&faults, false).drops > 0)
            .collect();
        assert_eq!(lost, [3, 6, 9]);
    }

    #[test]
    fn a_reliable_sample_gets_through_after_the_most_drops() {
        let faults = Faults {
            drop: Chance::Fraction(1.0),
            ..Faults::NONE
        };
        assert_eq!(dice().next_sample(&faults, true).drops, MOST_DROPS);
        assert_eq!(dice().next_sample(&faults, false).drops, 1);
    }

    #[test]
    fn a_scope_matches_its_fields() {
        let place = LinkPlace {
            topic: "/a",
            from: "one",
            to: "two",
            writer: Gid([1; 16]),
            reader: Gid([2; 16]),
        };
        assert!(Scope::everywhere().covers(&place));
        assert!(Scope::topic("/a").covers(&place));
        assert!(!Scope::topic("/b").covers(&place));
        assert!(Scope::between("one", "two").covers(&place));
        assert!(!Scope::between("two", "one").covers(&place));
        assert!(Scope::link(Gid([1; 16]), Gid([2; 16])).covers(&place));
        assert!(!Scope::link(Gid([2; 16]), Gid([1; 16])).covers(&place));
    }
}
