//! Writes the merged bag.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use timeloom_bag::bag::TimeMap;
use timeloom_bag::convert::{ConvertOutput, MessageEdit, Progress, convert_from};
use timeloom_bag::storage::ExtraCounts;
use timeloom_bag::{BagOptions, BagReader, Message, StorageReader as _, TopicId};

use crate::duplicates::CopyFilter;
use crate::error::Result;
use crate::host_map::HostMap;
use crate::hosts::Hosts;
use crate::options::{Duplicates, MergeOptions, Stamps};

/// The result of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Messages of the inputs.
    pub messages_read: u64,
    /// Messages of the output.
    pub messages_written: u64,
    /// Copies that were left out.
    pub copies_removed: u64,
    /// Publish times that were left, because the host of the publisher is not known.
    pub publish_times_left: u64,
    /// Attachments and metadata records that the output does not hold.
    pub not_carried_over: ExtraCounts,
    /// Damage that was skipped.
    pub damage: Vec<String>,
}

/// The clock of the publish times of a topic.
#[derive(Debug, Clone)]
enum PublishClock {
    /// That of a host.
    Host(HostMap),
    /// There are no publish times: they repeat the log times.
    LogTime,
    /// Not known.
    Unknown,
}

/// Counts that the edits of messages add up.
#[derive(Debug, Default)]
struct Counts {
    copies_removed: u64,
    publish_times_left: u64,
}

/// Writes the messages of all bags into one, in the order of their log times; `bag` says how.
///
/// # Errors
///
/// When a bag cannot be read or written, or the output exists.
pub fn write(
    mut reader: BagReader,
    hosts: &Hosts,
    output: &Path,
    mut bag: BagOptions,
    options: &MergeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<MergeReport> {
    let inputs: Vec<Vec<(String, String)>> = custom_data(&reader);
    bag.custom_data
        .extend(hosts.custom_data(&inputs, options.stamps));
    if options.stamps == Stamps::Corrected {
        for (place, host) in hosts.hosts.iter().enumerate() {
            if !matches!(host.map, HostMap::Same) {
                let times: Arc<dyn TimeMap> = Arc::new(host.map.clone());
                reader.set_times(place, &times);
            }
        }
    }
    if options.duplicates == Duplicates::Remove {
        leave_losses_open(&mut reader, hosts);
    }
    let counts = Rc::new(RefCell::new(Counts::default()));
    let mut target = ConvertOutput::new(output, bag);
    target.edit = Some(edit(&reader, hosts, options, &counts));
    let report = convert_from(reader, vec![target], options.on_damage, progress)?;
    let counts = counts.borrow();
    Ok(MergeReport {
        messages_read: report.messages_read,
        messages_written: report.messages_written.first().copied().unwrap_or(0),
        copies_removed: counts.copies_removed,
        publish_times_left: counts.publish_times_left,
        not_carried_over: report.not_carried_over.first().copied().unwrap_or_default(),
        damage: report.damage,
    })
}

fn custom_data(reader: &BagReader) -> Vec<Vec<(String, String)>> {
    let bags = reader.bags().iter().enumerate();
    let data = bags.map(|(place, bag)| {
        let mut files = reader
            .file_infos()
            .filter(move |(number, _)| *number == place);
        let embedded = files.find_map(|(_, info)| info.metadata.as_ref());
        let metadata = bag.metadata.as_ref().or(embedded);
        metadata.map_or_else(Vec::new, |metadata| metadata.custom_data.clone())
    });
    data.collect()
}

/// A message that one recorder lost may be in the bag of another.
fn leave_losses_open(reader: &mut BagReader, hosts: &Hosts) {
    let topics = reader.info().topics.iter().enumerate();
    let shared = topics.filter(|(_, topic)| hosts.shared.contains(&topic.name));
    let shared: Vec<TopicId> = shared
        .filter_map(|(place, _)| TopicId::from_index(place))
        .collect();
    for topic in shared {
        reader.leave_losses_open(topic);
    }
}

/// The change of each message: its publish time, and whether it is a copy.
fn edit(
    reader: &BagReader,
    hosts: &Hosts,
    options: &MergeOptions,
    counts: &Rc<RefCell<Counts>>,
) -> MessageEdit {
    let counts = Rc::clone(counts);
    let names: Vec<String> = reader
        .info()
        .topics
        .iter()
        .map(|topic| topic.name.clone())
        .collect();
    let clocks = (options.stamps == Stamps::Corrected).then(|| publish_clocks(&names, hosts));
    let shared: Vec<bool> = names
        .iter()
        .map(|name| hosts.shared.contains(name))
        .collect();
    let mut copies = (options.duplicates == Duplicates::Remove)
        .then(|| CopyFilter::new(apart_ns(hosts, options.stamps)));
    Box::new(move |bag: usize, message: &mut Message<'_>| {
        let place = message.topic.index();
        let mut counts = counts.borrow_mut();
        // Copies are known by the publish time of the recorder.
        if let (Some(copies), Some(true)) = (&mut copies, shared.get(place)) {
            let name = names.get(place).map_or("", String::as_str);
            if !copies.is_first(bag, name, message) {
                counts.copies_removed = copies.removed();
                return false;
            }
        }
        match clocks.as_ref().and_then(|clocks| clocks.get(&(bag, place))) {
            None => {}
            Some(PublishClock::Host(map)) => {
                message.publish_time_ns = map.map(message.publish_time_ns);
            }
            Some(PublishClock::LogTime) => message.publish_time_ns = message.log_time_ns,
            Some(PublishClock::Unknown) => counts.publish_times_left += 1,
        }
        true
    })
}

fn publish_clocks(names: &[String], hosts: &Hosts) -> HashMap<(usize, usize), PublishClock> {
    let mut clocks = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        let host = hosts.publishers.host(name);
        let host = host.and_then(|(host, _)| hosts.hosts.get(host));
        for bag in 0..hosts.hosts.len() {
            let clock = match host {
                _ if !hosts.publishers.has_publish_times(name, bag) => PublishClock::LogTime,
                Some(host) => PublishClock::Host(host.map.clone()),
                None => PublishClock::Unknown,
            };
            clocks.insert((bag, place), clock);
        }
    }
    clocks
}

/// Largest distance of the log times of two copies that the clocks alone explain.
fn apart_ns(hosts: &Hosts, stamps: Stamps) -> i64 {
    if stamps == Stamps::Corrected {
        return 0;
    }
    let offsets = hosts.hosts.iter().flat_map(|host| &host.offsets);
    let offsets: Vec<i64> = offsets.map(|offset| offset.offset_ns).collect();
    let most = offsets.iter().copied().max().unwrap_or(0);
    let least = offsets.iter().copied().min().unwrap_or(0);
    most.saturating_sub(least)
}
