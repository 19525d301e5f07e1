use timeloom_time::Duration;

use super::rng::Rng;
use crate::gid::Gid;

/// How often a fault strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Chance {
    /// Not at all.
    #[default]
    Never,
    /// The nth, the 2nth, the 3nth sample of each link, and so on; 0 is never.
    EveryNth(u64),
    /// This part of all samples, from 0 to 1, by the network's seed.
    Fraction(f64),
}

/// Whether samples pass at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Connection {
    /// They do.
    #[default]
    Up,
    /// They do not: a partition. Best-effort samples are lost; reliable ones wait with the writer, as many as its
    /// history holds, until the connection is up again. The graph does not change.
    Down,
}

/// What goes wrong between a writer and a reader, or a client and a server.
///
/// On reliable links the middleware repairs: a dropped sample comes later, with all that follow it behind, and nothing
/// comes twice or out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Samples that the network loses.
    pub drop: Chance,
    /// How long every sample takes.
    pub delay: Duration,
    /// Up to this much longer, by the seed; order is kept.
    pub jitter: Duration,
    /// Samples that come twice.
    pub duplicate: Chance,
    /// Samples that are overtaken by those of the next [`reorder_by`](Self::reorder_by).
    pub reorder: Chance,
    /// How much longer an overtaken sample takes.
    pub reorder_by: Duration,
    /// Whether samples pass at all.
    pub connection: Connection,
    /// How long the receiver is busy with each sample: meanwhile others wait in the reader's queue, or overflow it.
    pub slow_receiver: Duration,
}

impl Faults {
    /// Nothing goes wrong.
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

/// Which links faults are for; what is not set means any.
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

    pub(super) fn covers(&self, place: &Place<'_>) -> bool {
        let names = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        names(&self.topic, place.topic)
            && names(&self.from, place.from)
            && names(&self.to, place.to)
            && self.writer.is_none_or(|gid| gid == place.writer)
            && self.reader.is_none_or(|gid| gid == place.reader)
    }
}

/// Where a link is.
pub(super) struct Place<'a> {
    pub(super) topic: &'a str,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) writer: Gid,
    pub(super) reader: Gid,
}

/// One link's dice: what strikes it depends on its own past only.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    rng: Rng,
    drops: u64,
    duplicates: u64,
    reorders: u64,
}

/// What happens to one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    /// How often the network loses it; a reliable writer sends it as often again.
    pub(super) drops: u32,
    pub(super) delay: u64,
    pub(super) duplicated: bool,
    pub(super) overtaken: bool,
}

/// A sample that is dropped more often than this gets through at last: no reliable link stands still for ever.
const MOST_DROPS: u32 = 16;

impl Dice {
    pub(super) fn new(seed: u64, writer: Gid, reader: Gid) -> Self {
        let word = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let parts = [writer, reader].map(|gid| word(&gid.0[8..]));
        Self {
            rng: Rng::new([seed, parts[0], parts[1]]),
            drops: 0,
            duplicates: 0,
            reorders: 0,
        }
    }

    pub(super) fn throw(&mut self, faults: &Faults, repairs: bool) -> Fate {
        let mut fate = Fate {
            delay: nanos(faults.delay),
            ..Fate::default()
        };
        if !faults.jitter.is_zero() {
            fate.delay = fate
                .delay
                .saturating_add(self.rng.up_to(nanos(faults.jitter)));
        }
        let most = if repairs { MOST_DROPS } else { 1 };
        while fate.drops < most && strikes(faults.drop, &mut self.drops, &mut self.rng) {
            fate.drops += 1;
        }
        fate.duplicated = strikes(faults.duplicate, &mut self.duplicates, &mut self.rng);
        fate.overtaken = strikes(faults.reorder, &mut self.reorders, &mut self.rng);
        fate
    }
}

fn strikes(chance: Chance, count: &mut u64, rng: &mut Rng) -> bool {
    match chance {
        Chance::Never | Chance::EveryNth(0) => false,
        Chance::EveryNth(n) => {
            *count += 1;
            count.is_multiple_of(n)
        }
        Chance::Fraction(part) => rng.fraction() < part,
    }
}

/// A duration that is not negative, in nanoseconds.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.nanos()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice() -> Dice {
        Dice::new(1, Gid([1; 16]), Gid([2; 16]))
    }

    #[test]
    fn every_third_is_every_third() {
        let faults = Faults {
            drop: Chance::EveryNth(3),
            ..Faults::NONE
        };
        let mut dice = dice();
        let lost: Vec<_> = (1..=9)
            .filter(|_| dice.throw(&faults, false).drops > 0)
            .collect();
        assert_eq!(lost, [3, 6, 9]);
    }

    #[test]
    fn everything_lost_gets_through_at_last() {
        let faults = Faults {
            drop: Chance::Fraction(1.0),
            ..Faults::NONE
        };
        assert_eq!(dice().throw(&faults, true).drops, MOST_DROPS);
        assert_eq!(dice().throw(&faults, false).drops, 1);
    }

    #[test]
    fn a_scope_covers_what_it_names() {
        let place = Place {
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
