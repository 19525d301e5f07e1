use std::collections::{HashMap, VecDeque};

/// Stamps that are kept.
const STAMPS: usize = 4096;
/// Topics that are kept for one stamp; with more than one, a message is not linked anyway.
const TOPICS: usize = 3;

/// The topics of each stamp.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    topics: HashMap<i64, Vec<String>>,
    order: VecDeque<i64>,
}

/// The topics that had a stamp before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// No topic had that stamp before, or only this one.
    First,
    /// One other topic had it before.
    One(String),
    /// Several topics had it before: the input is ambiguous.
    Several,
}

impl Stamps {
    /// The topics that had the stamp before this message.
    pub(super) fn see(&mut self, stamp: i64, topic: &str) -> Sharing {
        let Some(topics) = self.topics.get_mut(&stamp) else {
            self.topics.insert(stamp, vec![topic.to_owned()]);
            self.order.push_back(stamp);
            if self.order.len() > STAMPS
                && let Some(oldest) = self.order.pop_front()
            {
                self.topics.remove(&oldest);
            }
            return Sharing::First;
        };
        // A repeated stamp was made of what came before it the first time.
        let at = topics.iter().position(|known| known == topic);
        let before = topics.get(..at.unwrap_or(topics.len())).unwrap_or_default();
        let sharing = match before {
            [] => Sharing::First,
            [one] => Sharing::One(one.clone()),
            _ => Sharing::Several,
        };
        if at.is_none() && topics.len() < TOPICS {
            topics.push(topic.to_owned());
        }
        sharing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_earlier_topic_is_linked() {
        let mut stamps = Stamps::default();
        assert_eq!(stamps.see(1, "/raw"), Sharing::First);
        assert_eq!(stamps.see(1, "/raw"), Sharing::First);
        assert_eq!(stamps.see(1, "/filtered"), Sharing::One("/raw".into()));
        for topic in ["/fused", "/a", "/b", "/fused"] {
            assert_eq!(stamps.see(1, topic), Sharing::Several, "{topic}");
        }
        assert_eq!(stamps.see(1, "/filtered"), Sharing::One("/raw".into()));
        for stamp in 10..10 + i64::try_from(STAMPS).unwrap() {
            assert_eq!(stamps.see(stamp, "/raw"), Sharing::First);
        }
        assert_eq!(stamps.see(1, "/late"), Sharing::First, "it is forgotten");
        assert_eq!(stamps.topics.len(), STAMPS);
    }
}
