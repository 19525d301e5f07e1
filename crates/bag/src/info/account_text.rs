//! Missing messages of a bag as text, per topic.

use timeloom_text::{calendar_time, percent};

use super::BagInfo;
use crate::{LossTimeline, MissingCause, TopicStatistics};

/// Number of periods of losses that are shown.
const STRETCHES: usize = 5;

/// A topic or service with an account.
struct Named<'a> {
    name: &'a str,
    statistics: &'a TopicStatistics,
    timeline: &'a LossTimeline,
}

fn all(info: &BagInfo) -> impl Iterator<Item = Named<'_>> {
    let topics = info.topics.iter();
    let topics = topics.map(|it| (&it.name, &it.statistics, &it.timeline));
    let services = info.services.iter();
    let services = services.map(|it| (&it.name, &it.statistics, &it.timeline));
    topics.chain(services).filter_map(|(name, it, timeline)| {
        Some(Named {
            name,
            statistics: it.as_ref()?,
            timeline,
        })
    })
}

/// Lost and left out messages, by topic and cause.
pub(super) fn missing(info: &BagInfo) -> Vec<String> {
    let mut lines = Vec::new();
    for Named {
        name, statistics, ..
    } in all(info)
    {
        if statistics.messages_lost() > 0 {
            lines.push(format!(
                "{name}: {} of {} published messages lost ({}): {}",
                statistics.messages_lost(),
                statistics.messages_published(),
                percent(statistics.percent_lost()),
                causes(|cause| if cause.is_loss() {
                    statistics.missing(cause)
                } else {
                    0
                }),
            ));
        }
        if statistics.messages_left_out() > 0 {
            lines.push(format!(
                "{name}: {} of {} published messages left out: {}",
                statistics.messages_left_out(),
                statistics.messages_published(),
                causes(|cause| if cause.is_loss() {
                    0
                } else {
                    statistics.missing(cause)
                }),
            ));
        }
    }
    lines
}

/// Unknown messages, of the bag and by topic.
pub(super) fn unknown(info: &BagInfo) -> Vec<String> {
    let mut lines = Vec::new();
    if info.interrupted {
        lines.push(
            "topics and messages that had not reached a file: the recording was interrupted".into(),
        );
    }
    for Named {
        name, statistics, ..
    } in all(info)
    {
        let sentences = statistics.unknown.sentences().into_iter();
        lines.extend(sentences.map(|sentence| format!("{name}: {sentence}")));
    }
    lines
}

/// Intervals with losses that follow each other.
struct Stretch<'a> {
    name: &'a str,
    start_ns: i64,
    end_ns: i64,
    lost: TopicStatistics,
}

/// The periods with the most losses, the worst first.
pub(super) fn worst_stretches(info: &BagInfo, utc_offset_seconds: i32) -> Vec<String> {
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for Named { name, timeline, .. } in all(info) {
        let first = stretches.len();
        for interval in timeline.intervals().filter(|it| it.cause.is_loss()) {
            let last = stretches.get_mut(first..).and_then(<[_]>::last_mut);
            let fits = last.filter(|last| interval.start_ns <= last.end_ns);
            if let Some(last) = fits {
                last.end_ns = interval.end_ns;
                last.lost.miss(interval.cause, interval.messages);
                continue;
            }
            let mut lost = TopicStatistics::default();
            lost.miss(interval.cause, interval.messages);
            stretches.push(Stretch {
                name,
                start_ns: interval.start_ns,
                end_ns: interval.end_ns,
                lost,
            });
        }
    }
    stretches.sort_by_key(|it| (std::cmp::Reverse(it.lost.messages_lost()), it.start_ns));
    stretches.truncate(STRETCHES);
    let line = |stretch: &Stretch<'_>| {
        let seconds = stretch.end_ns.saturating_sub(stretch.start_ns) / 1_000_000_000;
        format!(
            "{}: {} lost within {seconds} s from {}: {}",
            stretch.name,
            stretch.lost.messages_lost(),
            calendar_time(stretch.start_ns, utc_offset_seconds),
            causes(|cause| stretch.lost.missing(cause)),
        )
    };
    stretches.iter().map(line).collect()
}

/// The causes with their counts, as `3 transport, 2 queue`.
fn causes(count: impl Fn(MissingCause) -> u64) -> String {
    let counts = MissingCause::all().map(|cause| (cause, count(cause)));
    let counts = counts.filter(|(_, messages)| *messages > 0);
    let words: Vec<String> = counts
        .map(|(cause, messages)| format!("{messages} {}", cause.name().replace('_', " ")))
        .collect();
    words.join(", ")
}
