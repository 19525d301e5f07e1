use timeloom_bag::{BagReader, LossTimeline, StorageReader as _, TopicInfo};
use timeloom_msg::Schema;
use timeloom_msg::qos::{Durability, parse_profiles};
use timeloom_node::player::TopicStatus;

use crate::channel::Retention;
use crate::definition_text::definition_text;

/// The topics of a bag with their definitions, counts and losses.
#[derive(Clone, Debug)]
pub struct BagContents {
    pub(super) title: String,
    pub(super) range_ns: (i64, i64),
    topics: Vec<BagTopic>,
    /// Times of losses, of all topics together.
    losses: LossTimeline,
}

#[derive(Clone, Debug)]
pub(super) struct BagTopic {
    name: String,
    type_name: String,
    /// The definition as `ros2msg`, or the reason why there is none.
    pub(super) definition: Result<String, String>,
    pub(super) retention: Retention,
    pub(super) recorded: u64,
    /// Messages lost in transport, if they were counted.
    pub(super) lost_wire: Option<u64>,
    /// Messages lost in the recorder, if they were counted.
    pub(super) lost_recorder: Option<u64>,
}

impl BagContents {
    /// Reads the contents of a bag; `schema` returns the schema of a topic by its id, or the reason why there is none.
    pub fn new(
        title: impl Into<String>,
        reader: &BagReader,
        schema: impl Fn(usize) -> Result<Schema, String>,
    ) -> Self {
        let info = reader.info();
        let accounts = reader.accounts();
        let start = info.start_time_ns.unwrap_or(0);
        let topics = info.topics.iter().enumerate().map(|(index, topic)| {
            let account = accounts.get(index).and_then(Option::as_ref);
            let statistics = account.map(|account| &account.statistics);
            BagTopic {
                name: topic.name.clone(),
                type_name: topic.type_name.clone(),
                definition: schema(index)
                    .and_then(|schema| definition_text(&schema).map_err(|error| error.to_string())),
                retention: retention(topic),
                recorded: info.message_counts.get(index).copied().unwrap_or(0),
                lost_wire: statistics.and_then(|it| it.known(it.messages_lost_in_transport)),
                lost_recorder: statistics.and_then(|it| it.known(it.messages_lost_in_recorder())),
            }
        });
        let mut losses = LossTimeline::default();
        for account in accounts.iter().flatten() {
            losses.merge(&account.timeline);
        }
        Self {
            title: title.into(),
            range_ns: (start, info.end_time_ns.unwrap_or(start)),
            topics: topics.collect(),
            losses,
        }
    }

    /// Time ranges with losses and their counts, in seconds since `start_ns`.
    pub(super) fn losses(&self, since: impl Fn(i64) -> f64) -> Vec<(f64, f64, u64)> {
        let lost = self.losses.intervals();
        let lost = lost.filter(|interval| interval.cause.is_loss());
        lost.map(|interval| {
            let (start, end) = (since(interval.start_ns), since(interval.end_ns));
            (start, end, interval.messages)
        })
        .collect()
    }

    /// A topic as it is played: by its name, or by its type if it is remapped.
    pub(super) fn topic(&self, played: &TopicStatus) -> Option<&BagTopic> {
        let mut topics = self.topics.iter();
        let by_name = topics.find(|topic| topic.name == played.name);
        by_name.or_else(|| {
            let mut topics = self.topics.iter();
            topics.find(|topic| topic.type_name == played.type_name)
        })
    }
}

fn retention(topic: &TopicInfo) -> Retention {
    // A malformed profile counts as none.
    let profiles = parse_profiles(&topic.offered_qos_profiles).unwrap_or_default();
    let latched = profiles
        .iter()
        .any(|profile| profile.durability == Durability::TransientLocal);
    if latched {
        Retention::Latest
    } else {
        Retention::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::{LeftOutCause, MissingCause};

    #[test]
    fn the_timeline_shows_losses_but_not_messages_left_out() {
        const SECOND: i64 = 1_000_000_000;
        let mut losses = LossTimeline::default();
        losses.add(5 * SECOND + 1, MissingCause::Transport, 3);
        let paused = MissingCause::LeftOut(LeftOutCause::Paused);
        losses.add(7 * SECOND, paused, 9);
        let contents = BagContents {
            title: String::new(),
            range_ns: (SECOND, 9 * SECOND),
            topics: Vec::new(),
            losses,
        };
        let since = |time_ns: i64| ((time_ns - SECOND) / SECOND) as f64;
        assert_eq!(contents.losses(since), [(4.0, 5.0, 3)]);
    }
}
