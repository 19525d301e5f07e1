//! Changes of the publisher of the messages of one topic.

use std::collections::BTreeMap;

use timeloom_wire::Gid;

/// Changes of the publisher that are remembered, for messages that arrive out of order.
const REMEMBERED: usize = 64;
/// Changes that may wait for the writer, which takes them every second; then the publisher is not known for a while.
const MOST_WAITING: usize = 1 << 16;

/// The publishers of the messages of a topic: from a log time on, up to the next one.
#[derive(Debug, Default)]
pub(super) struct PublisherRuns {
    /// The newest message, for the usual case: the next one comes from the same publisher.
    newest: Option<(i64, Gid)>,
    recent: BTreeMap<i64, Gid>,
    waiting: Vec<(i64, Option<Gid>)>,
}

impl PublisherRuns {
    /// Counts a message of that log time.
    pub(super) fn message(&mut self, log_time_ns: i64, publisher: Gid) {
        let is_newest = self.newest.is_none_or(|(last, _)| log_time_ns >= last);
        if is_newest {
            let before = self.newest.replace((log_time_ns, publisher));
            if before.is_some_and(|(_, last)| last == publisher) {
                return;
            }
            return self.change(log_time_ns, publisher);
        }
        let owner = self.recent.range(..=log_time_ns).next_back();
        let owner = owner.map(|(_, owner)| *owner);
        if owner == Some(publisher) {
            return;
        }
        // Messages after this one keep their publishers.
        let next_ns = log_time_ns.saturating_add(1);
        if let (Some(owner), false) = (owner, self.recent.contains_key(&next_ns)) {
            self.change(next_ns, owner);
        }
        self.change(log_time_ns, publisher);
    }

    fn change(&mut self, log_time_ns: i64, publisher: Gid) {
        match self.waiting.len() {
            MOST_WAITING.. => return,
            // The last one that fits ends what is known; the next call of `take` starts over.
            len if len + 1 == MOST_WAITING => {
                self.waiting.push((log_time_ns, None));
                return;
            }
            _ => self.waiting.push((log_time_ns, Some(publisher))),
        }
        self.recent.insert(log_time_ns, publisher);
        while self.recent.len() > REMEMBERED {
            self.recent.pop_first();
        }
    }

    /// The changes since the last call; `None` where the publisher is not known.
    pub(super) fn take(&mut self) -> Vec<(i64, Option<Gid>)> {
        if self.waiting.len() >= MOST_WAITING {
            self.newest = None;
            self.recent.clear();
        }
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use timeloom_bag::{MessagePublishers, PublisherRun};

    use super::*;

    /// The publisher of each message, as a reader of the runs sees it.
    fn read(runs: Vec<(i64, Option<Gid>)>, times: &[i64]) -> Vec<Option<u8>> {
        let mut all = MessagePublishers::default();
        for (from_ns, gid) in runs {
            let gid = gid.map(|gid| gid.0[0].to_string()).unwrap_or_default();
            all.add("/a", PublisherRun { from_ns, gid });
        }
        let of = |time: &i64| all.of("/a", *time)?.parse().ok();
        times.iter().map(of).collect()
    }

    fn feed(runs: &mut PublisherRuns, messages: &[(i64, u8)]) -> Vec<Option<u8>> {
        for (time, publisher) in messages {
            runs.message(*time, Gid([*publisher; 16]));
        }
        let times: Vec<i64> = messages.iter().map(|(time, _)| *time).collect();
        read(runs.take(), &times)
    }

    #[test]
    fn one_publisher_is_one_run() {
        let mut runs = PublisherRuns::default();
        for time in 0..1000 {
            runs.message(time, Gid([7; 16]));
        }
        assert_eq!(runs.take(), [(0, Some(Gid([7; 16])))]);
        runs.message(1000, Gid([7; 16]));
        assert_eq!(runs.take(), []);
    }

    #[test]
    fn each_message_has_its_publisher_also_out_of_order() {
        for messages in [
            &[(10, 1), (20, 2), (30, 1), (40, 1), (50, 2)][..],
            // The third arrives late, and the fourth is by the same publisher.
            &[
                (10, 1),
                (20, 2),
                (15, 1),
                (17, 2),
                (30, 1),
                (25, 2),
                (40, 2),
            ],
            &[(10, 1), (30, 2), (20, 3), (21, 1), (19, 2), (40, 3)],
        ] {
            let expected: Vec<_> = messages.iter().map(|(_, by)| Some(*by)).collect();
            let found = feed(&mut PublisherRuns::default(), messages);
            assert_eq!(found, expected, "{messages:?}");
        }
    }

    #[test]
    fn messages_beyond_the_limit_have_no_publisher() {
        let mut runs = PublisherRuns::default();
        let many = i64::try_from(MOST_WAITING).unwrap() + 10;
        for time in 0..many {
            let publisher = u8::try_from(time % 2).unwrap();
            runs.message(time, Gid([publisher; 16]));
        }
        let taken = runs.take();
        assert_eq!(taken.len(), MOST_WAITING);
        runs.message(many, Gid([1; 16]));
        let later = runs.take();
        let times = [0, 1, many - 1, many];
        let found = read([taken, later].concat(), &times);
        assert_eq!(found, [Some(0), Some(1), None, Some(1)]);
    }
}
