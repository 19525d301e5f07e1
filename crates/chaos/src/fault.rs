use crate::Failure;
use crate::dice::Dice;
use crate::faults;
use crate::tally::Tally;
use crate::test_bed::TestBed;

/// A fault that is injected on purpose.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// Number of cases per deck.
    pub(crate) share: u64,
    /// Whether messages are published: a kind of fault without any has proved nothing.
    pub(crate) publishes: bool,
    /// Injects it in a directory of its own, and checks the results.
    pub(crate) act: Act,
}

type Act = fn(&mut TestBed, &std::path::Path, &mut Dice, &mut Tally) -> Result<(), Failure>;

/// All faults.
pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("link loss", 2, faults::link::loss),
    Fault::new("link delay", 1, faults::link::delay),
    Fault::new("link reorder", 1, faults::link::reorder),
    Fault::new("link duplicates", 1, faults::link::duplicates),
    Fault::new("link partition", 2, faults::link::partition),
    Fault::new("link down", 1, faults::link::down),
    Fault::new("link all at once", 1, faults::link::storm),
    Fault::new("peer kill -9", 2, faults::peers::kill),
    Fault::new("peer vanishes", 2, faults::peers::vanish),
    Fault::new("peer short-lived", 1, faults::peers::short),
    Fault::new("peer restart", 1, faults::peers::restart),
    Fault::new("peer changes qos", 1, faults::peers::qos),
    Fault::new("peer changes type", 1, faults::peers::kind),
    Fault::new("peer two types", 1, faults::peers::kinds),
    Fault::new("peer stalled", 1, faults::peers::stalled),
    Fault::new("clock second owner", 1, faults::clock::second_owner),
    Fault::new("clock steps", 1, faults::clock::steps),
    Fault::new("disk full", 1, faults::disk::full),
    Fault::new("disk stalled", 1, faults::disk::stalled),
    Fault::silent("disk read-only", 1, faults::disk::read_only),
    Fault::new("disk read-only midway", 1, faults::disk::sealed),
    Fault::new("disk vanished", 1, faults::disk::vanished),
    Fault::new("recorder stalled", 1, faults::disk::stopped),
    Fault::new("recorder paused", 1, faults::left_out::paused),
    Fault::new("recorder thinned", 1, faults::left_out::thinned),
    Fault::new("recorder blocked", 1, faults::left_out::blocked),
    Fault::new("recorder lossy kill -9", 2, faults::kill::lossy_recorder),
    Fault::new("recorder kill -9", 6, faults::kill::recorder),
    Fault::new("recover kill -9", 1, faults::kill::recover),
    Fault::new("player kill -9", 3, faults::kill::player),
    Fault::new("zenoh link", 1, faults::zenoh::link),
    Fault::new("zenoh peer kill -9", 1, faults::zenoh::peer),
    Fault::new("zenoh recorder kill -9", 1, faults::zenoh::recorder),
];

impl Fault {
    const fn new(name: &'static str, share: u64, act: Act) -> Self {
        Self {
            name,
            share,
            publishes: true,
            act,
        }
    }

    /// A fault that ends before anything is published.
    const fn silent(name: &'static str, share: u64, act: Act) -> Self {
        Self {
            publishes: false,
            ..Self::new(name, share, act)
        }
    }

    /// Reports a failure if no message was published in any case of the fault.
    pub(crate) fn check_proof(&self, tally: &mut Tally) {
        let injected = tally.injected;
        let silent = self.publishes && injected > 0 && tally.published == 0;
        tally.check(!silent, || {
            let name = self.name;
            format!("{name}: {injected} faults prove nothing: no message was published")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_without_messages_fail() {
        let problems = |name: &str, published: u64| {
            let fault = FAULTS.iter().find(|fault| fault.name == name).unwrap();
            let mut tally = Tally {
                injected: 74,
                published,
                ..Tally::default()
            };
            fault.check_proof(&mut tally);
            tally.problems
        };
        assert_eq!(
            problems("player kill -9", 0),
            ["player kill -9: 74 faults prove nothing: no message was published"]
        );
        assert!(problems("player kill -9", 1).is_empty());
        assert!(problems("disk read-only", 0).is_empty());
    }
}
