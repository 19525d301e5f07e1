//! The receiving side: one that throws away, and the recorder. And writing without receiving.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::ClockId;
use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo, TopicStatistics, TriggerWindow};
use timeloom_node::recorder::{
    BuiltinTypes, DropPolicy, Options, Recorder, Selection, TriggerOptions,
};
use timeloom_node::trigger::{Trigger, TriggerDefaults};
use timeloom_testkit::bench::Stopwatch;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{Receiver, Sample};

use super::load::{Load, Pace};
use super::publisher::{Publisher, node, participant, topic};

/// Result of a side.
pub(crate) struct Side {
    /// CPU time of this process per message.
    pub(crate) cpu_ns: f64,
    pub(crate) hertz: f64,
    pub(crate) lost: u64,
    /// The cause, as far as the recorder knows it.
    pub(crate) causes: String,
}

/// CPU time of this process, in nanoseconds.
fn process_cpu() -> f64 {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime); // tidy: allow clock
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[derive(Default)]
struct ThrowAway(AtomicU64);

impl Receiver for ThrowAway {
    fn sample(&self, _sample: Sample) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Side {
    /// A subscription on the middleware's receive thread, as the recorder has it, that keeps nothing.
    pub(crate) fn throw_away(publisher: &mut Publisher, load: &Load, pace: Pace) -> Self {
        let participant = participant();
        let node = node(&participant, "throw_away");
        let count = Arc::new(ThrowAway::default());
        let mut spec = topic("/thrown_away");
        spec.qos.history = timeloom_msg::qos::History::KeepLast;
        spec.qos.depth = 1000;
        let _subscription = node
            .subscribe(&spec, Arc::clone(&count) as _)
            .expect("a subscription");
        let (cpu, wall) = drive(publisher, &spec.name, load, pace, || {});
        Self::of(cpu, wall, pace, count.0.load(Ordering::Relaxed))
    }

    /// The recorder with its defaults; closing the bag is part of its cost.
    pub(crate) fn recorder(publisher: &mut Publisher, load: &Load, pace: Pace) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let participant = Arc::new(participant());
        let node = node(&participant, "recorder");
        let mut selection = Selection::default();
        selection.topics.insert("/recorded".to_owned());
        let types = Arc::new(BuiltinTypes);
        let mut options = Options::new(directory.path().join("bag"), selection, types);
        if pace.hertz == 0 {
            // The publisher waits where the disk is slower, and the cache holds only a small part of what is sent.
            options.drop_policy = DropPolicy::Block;
            options.max_cache_bytes = 16 << 20;
        }
        let recorder = Recorder::start(participant, node, options).expect("a recorder");
        let mut total = TopicStatistics::default();
        let (cpu, wall) = drive(publisher, "/recorded", load, pace, || {
            for report in recorder.finish().expect("a bag") {
                total.merge(&report.total());
            }
        });
        Self {
            causes: format!(
                "transport {}, {:?}",
                total.messages_lost_in_transport, total.lost_in_recorder
            ),
            ..Self::of(cpu, wall, pace, total.messages_recorded)
        }
    }

    /// The recorder that keeps the last half minute in memory: in snapshot mode, or with triggers.
    pub(crate) fn ring(
        publisher: &mut Publisher,
        load: &Load,
        pace: Pace,
        triggers: &[&str],
    ) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let participant = Arc::new(participant());
        let node = node(&participant, "recorder");
        let mut selection = Selection::default();
        selection.topics.insert("/triggered".to_owned());
        let types = Arc::new(BuiltinTypes);
        let mut options = Options::new(directory.path().join("bag"), selection, types);
        if triggers.is_empty() {
            options.snapshot_mode = true;
            options.max_cache_duration = Duration::from_secs(30);
        } else {
            let defaults = TriggerDefaults::default();
            let triggers = triggers.iter().map(|text| Trigger::parse(text, &defaults));
            options.triggers = Some(TriggerOptions {
                triggers: triggers.collect::<Result<_, _>>().expect("conditions"),
                max_windows: 0,
            });
        }
        let recorder = Recorder::start(participant, node, options).expect("a recorder");
        let mut kept = 0;
        let (cpu, wall) = drive(publisher, "/triggered", load, pace, || {
            for report in recorder.finish().expect("a bag") {
                kept += report.total().left_out.overwritten;
                let fired = TriggerWindow::all(&report.metadata.custom_data);
                assert_eq!(fired, [], "no trigger fires");
            }
        });
        Self::of(cpu, wall, pace, kept)
    }

    fn of(cpu: f64, wall: f64, pace: Pace, seen: u64) -> Self {
        Self {
            cpu_ns: cpu / pace.count as f64,
            hertz: pace.count as f64 * 1e9 / wall,
            lost: pace.count.saturating_sub(seen),
            causes: String::new(),
        }
    }
}

/// Has a load published; CPU and wall time until all of it is acknowledged, and the CPU time of `end` besides.
fn drive(
    publisher: &mut Publisher,
    topic: &str,
    load: &Load,
    pace: Pace,
    end: impl FnOnce(),
) -> (f64, f64) {
    publisher.say(&format!(
        "{topic} {} {} {}",
        pace.count, load.size, pace.hertz
    ));
    publisher.hear("matched");
    // The first announcements are over.
    let _woke = Clock::<Steady>::new().sleep_for(Duration::from_millis(200));
    let (cpu, stopwatch) = (process_cpu(), Stopwatch::start());
    publisher.say("go");
    publisher.hear("done");
    let wall = stopwatch.wall();
    end();
    (process_cpu() - cpu, wall)
}

/// CPU time per message of writing them without receiving, in batches as the recorder's.
pub(crate) fn write(load: &Load, count: u64) -> f64 {
    let directory = tempfile::tempdir().expect("a directory");
    let payload = vec![7; load.size + 4];
    let cpu = process_cpu();
    write_bag(&directory.path().join("bag"), &payload, count);
    (process_cpu() - cpu) / count as f64
}

fn write_bag(path: &Path, payload: &[u8], count: u64) {
    let mut writer = BagWriter::create(path, BagOptions::default()).expect("a bag");
    let info = TopicInfo::new("/written", "std_msgs/msg/String");
    let topic = writer.add_topic(&info).expect("a topic");
    let mut left = count;
    let mut time = 0;
    while left > 0 {
        let batch: Vec<_> = (0..left.min(64))
            .map(|number| Message {
                topic,
                log_time_ns: time + i64::try_from(number).unwrap_or(0),
                publish_time_ns: time,
                sequence: 0,
                data: payload,
            })
            .collect();
        left -= batch.len() as u64;
        time += 64;
        assert!(writer.write(&batch, time).is_ok(), "written");
    }
    let (summary, outcome) = writer.finish().expect("a bag");
    assert!(outcome.is_ok(), "closed");
    assert_eq!(summary.metadata.message_count, count);
}
