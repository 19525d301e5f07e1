use std::collections::{BTreeMap, BTreeSet};

use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::Gid;

/// The publishers of one topic whose end is not settled: those in the graph, and those that left a moment ago.
///
/// Its size depends on the graph, not on how many come and go.
#[derive(Debug, Default)]
pub(super) struct Publishers {
    /// With the time at which they left.
    known: BTreeMap<Gid, Option<Time<Steady>>>,
}

/// Messages that a publisher sent before it left arrive within this time.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

impl Publishers {
    /// Updates the publishers that are in the graph or left since the last call; returns the new ones.
    pub(super) fn see(
        &mut self,
        here: &BTreeSet<Gid>,
        departed: impl IntoIterator<Item = Gid>,
        now: Time<Steady>,
    ) -> Vec<Gid> {
        let mut new = Vec::new();
        for gid in here {
            if self.known.insert(*gid, None) != Some(None) {
                new.push(*gid);
            }
        }
        let departed = departed.into_iter().filter(|gid| !here.contains(gid));
        for gid in departed {
            self.known.entry(gid).or_insert_with(|| {
                new.push(gid);
                Some(now)
            });
        }
        for (gid, left) in &mut self.known {
            if !here.contains(gid) {
                left.get_or_insert(now);
            }
        }
        new
    }

    /// Removes those that left so long ago that all their messages have arrived.
    pub(super) fn take_left(&mut self, now: Time<Steady>) -> Vec<Gid> {
        let is_old = |left: Time<Steady>| now - left >= ON_ITS_WAY;
        let old = self
            .known
            .extract_if(.., |_, left| left.is_some_and(is_old));
        old.map(|(gid, _)| gid).collect()
    }

    /// Whether a publisher left whose end is not settled yet.
    pub(super) fn has_left(&self) -> bool {
        self.known.values().any(Option::is_some)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = Gid> {
        self.known.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Time<Steady> {
        Time::from_nanos(millis * 1_000_000)
    }

    fn gids(numbers: &[u8]) -> BTreeSet<Gid> {
        numbers.iter().map(|number| Gid([*number; 16])).collect()
    }

    #[test]
    fn publishers_that_left_are_settled_after_a_while_and_forgotten() {
        let [one, two, three] = [1, 2, 3].map(|number| Gid([number; 16]));
        let mut publishers = Publishers::default();
        assert_eq!(publishers.see(&gids(&[1, 2]), [], at(0)), [one, two]);
        assert_eq!(publishers.see(&gids(&[1, 2]), [two], at(0)), []);
        assert!(!publishers.has_left());
        // The third one was never seen while it was here.
        assert_eq!(publishers.see(&gids(&[1]), [three], at(100)), [three]);
        assert!(publishers.has_left());
        assert_eq!(publishers.take_left(at(1_099)), []);
        assert_eq!(publishers.see(&gids(&[1, 2]), [], at(1_100)), [two], "back");
        assert_eq!(publishers.take_left(at(1_100)), [three]);
        assert_eq!(publishers.all().collect::<Vec<_>>(), [one, two]);
    }

    #[test]
    fn a_thousand_that_come_and_go_take_no_memory() {
        let mut publishers = Publishers::default();
        for number in 0..1_000_i64 {
            let mut gid = Gid([7; 16]);
            gid.0[..8].copy_from_slice(&number.to_le_bytes());
            publishers.see(&BTreeSet::new(), [gid], at(number * 100));
            publishers.take_left(at(number * 100));
            assert!(publishers.all().count() <= 10);
        }
    }
}
