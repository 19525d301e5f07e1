//! Hosts with clocks of their own, their topics and their recorders.

use std::path::{Path, PathBuf};

use timeloom_bag::{BagOptions, BagReader, BagWriter, HOST_CLOCK_KEY, Message, TopicInfo};
use timeloom_merge::{Hosts, MergeOptions, Result, survey};

pub(crate) const SECOND: i64 = 1_000_000_000;
pub(crate) const MILLISECOND: i64 = 1_000_000;
/// 2026-11-16.
pub(crate) const START: i64 = 1_794_800_000 * SECOND;
/// Seconds that are recorded.
pub(crate) const RECORDED: i64 = 60;

/// A host with its own clock.
#[derive(Clone, Default)]
pub(crate) struct Host {
    pub(crate) name: &'static str,
    /// Its clock is ahead of true time at the start.
    pub(crate) ahead_ns: i64,
    /// And faster.
    pub(crate) ppm: i64,
    /// A line of its clock's state.
    pub(crate) state: Option<String>,
    /// It loses every n-th message.
    pub(crate) loses: Option<i64>,
}

impl Host {
    pub(crate) fn time(&self, true_ns: i64) -> i64 {
        true_ns + self.ahead_ns + (true_ns - START) / 1_000_000 * self.ppm
    }
}

/// A topic: its name, the place of the host of its publisher, and the places of the hosts that record it.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) on: usize,
    pub(crate) recorded_by: &'static [usize],
}

pub(crate) struct Fleet {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) hosts: Vec<Host>,
    pub(crate) topics: Vec<Topic>,
    /// Whether the storage has publish times.
    pub(crate) publish_times: bool,
}

impl Fleet {
    pub(crate) fn new(hosts: Vec<Host>, topics: Vec<Topic>) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            hosts,
            topics,
            publish_times: true,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes the bags of all hosts.
    pub(crate) fn record(&self) {
        for (place, host) in self.hosts.iter().enumerate() {
            self.record_on(place, host, &self.path(host.name));
        }
    }

    fn record_on(&self, place: usize, host: &Host, path: &Path) {
        let state = host.state.iter();
        let options = BagOptions {
            custom_data: state
                .map(|it| (HOST_CLOCK_KEY.to_owned(), it.clone()))
                .collect(),
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(path, options).unwrap();
        let mut messages = Vec::new();
        for topic in self
            .topics
            .iter()
            .filter(|topic| topic.recorded_by.contains(&place))
        {
            let id = writer
                .add_topic(&TopicInfo::new(topic.name, "std_msgs/msg/Int64"))
                .unwrap();
            for number in 0..RECORDED * 20 {
                let sent = START + number * 50 * MILLISECOND + 1;
                if host.loses.is_some_and(|nth| number % nth == nth - 1) {
                    writer.lost_in_transport(id, 1, host.time(sent));
                    continue;
                }
                let received = sent + delay(topic.on == place, number);
                let publish = self.hosts[topic.on].time(sent);
                let log = host.time(received);
                let data = [&[0, 1, 0, 0][..], &number.to_le_bytes()].concat();
                let publish = if self.publish_times { publish } else { log };
                messages.push((log, publish, id, data));
            }
        }
        messages.sort_by_key(|(log, ..)| *log);
        for (log_time_ns, publish_time_ns, topic, data) in &messages {
            let message = Message {
                topic: *topic,
                log_time_ns: *log_time_ns,
                publish_time_ns: *publish_time_ns,
                sequence: 0,
                data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        let (_summary, outcome) = writer.finish().unwrap();
        assert!(outcome.is_ok());
    }

    pub(crate) fn reader(&self) -> BagReader {
        let paths: Vec<PathBuf> = self.hosts.iter().map(|host| self.path(host.name)).collect();
        BagReader::open_all(&paths).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.name.to_owned()).collect()
    }

    /// Compares the clocks.
    pub(crate) fn compare(&self, options: &MergeOptions) -> Result<Hosts> {
        let mut reader = self.reader();
        survey(&mut reader, &self.names(), options, &mut |_| {})?.solve(options)
    }

    /// The true offset from times of a host to those of the first one.
    pub(crate) fn true_offset(&self, place: usize, true_ns: i64) -> i64 {
        self.hosts[0].time(true_ns) - self.hosts[place].time(true_ns)
    }

    /// Holds the bounds of a host against the truth, all over the recording; the widest of them.
    pub(crate) fn check_bounds(&self, hosts: &Hosts, place: usize) -> Option<i64> {
        let mut widest = Some(0);
        for step in 0..=20 {
            let true_ns = START + step * RECORDED * SECOND / 20;
            let truth = self.hosts[0].time(true_ns);
            let time = hosts.hosts[place]
                .map
                .convert(self.hosts[place].time(true_ns));
            let is_inside = time.lower_ns.is_none_or(|lower| lower <= truth)
                && time.upper_ns.is_none_or(|upper| truth <= upper);
            assert!(is_inside, "step {step}: {time:?}, truth {truth}");
            widest = widest.zip(time.width_ns()).map(|(a, b)| a.max(b));
        }
        widest
    }
}

/// A host that is ahead.
pub(crate) fn host(name: &'static str, ahead_ns: i64, ppm: i64) -> Host {
    Host {
        name,
        ahead_ns,
        ppm,
        ..Host::default()
    }
}

/// The state of a clock that chrony keeps right.
pub(crate) fn chrony(reference: &str, error_ns: i64) -> String {
    format!(
        "system_ns={START} steady_ns=5 reason=start source=chrony synchronised=true reference={reference} \
         offset_ns=0 error_ns={error_ns} tai_s=37\n"
    )
}

/// Local messages take 50 µs and more, others 400 µs and more.
fn delay(is_local: bool, number: i64) -> i64 {
    let least = if is_local { 50_000 } else { 400_000 };
    // Most are quick, one of seven is late.
    least + (number * 7_919 % 101) * 2_000 + i64::from(number % 7 == 0) * 3 * MILLISECOND
}
