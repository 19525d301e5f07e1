use timeloom_bag::{
    BagReader, HostClockRecord, Query, StorageReader as _, TopicId, TopicStatistics,
};
use timeloom_msg::TypeResolver;

use crate::{Checker, ClockContract, Contract, Learner, Recording, Report, Result};

/// Holds a bag against a contract. Only topics that the contract names are read.
///
/// # Errors
/// When the bag cannot be read, or the contract names a field that the type of its topic does not have.
pub fn check_bag(
    bag: &mut BagReader,
    contract: &Contract,
    resolver: &TypeResolver,
) -> Result<Report> {
    let resolver = resolver.clone().for_distro(&bag.info().ros_distro);
    let topics = bag.info().topics.clone();
    let mut checker = Checker::new(contract, &topics, &resolver)?;
    let needed = (0..topics.len()).filter(|topic| checker.needs(*topic));
    let query = Query {
        topics: Some(needed.filter_map(TopicId::from_index).collect()),
        ..Query::default()
    };
    read(bag, &query, |topic, time_ns, log_time_ns, payload| {
        checker.message(topic, time_ns, log_time_ns, payload);
    })?;
    Ok(checker.finish(&Recording {
        start_ns: bag.info().start_time_ns.unwrap_or_default(),
        host_clock: host_clock(bag),
        duration_ns: duration(bag),
        statistics: statistics(bag),
    }))
}

/// Writes a contract from a bag.
///
/// # Errors
/// When the bag cannot be read.
pub fn learn_bag(bag: &mut BagReader, resolver: &TypeResolver) -> Result<Contract> {
    let resolver = resolver.clone().for_distro(&bag.info().ros_distro);
    let mut learner = Learner::new(&bag.info().topics, &resolver);
    read(
        bag,
        &Query::default(),
        |topic, time_ns, log_time_ns, payload| {
            learner.message(topic, time_ns, log_time_ns, payload);
        },
    )?;
    let contract = learner.finish(duration(bag), &statistics(bag));
    Ok(Contract {
        clock: ClockContract::learned(&host_clock(bag)),
        ..contract
    })
}

fn read(
    bag: &mut BagReader,
    query: &Query,
    mut take: impl FnMut(usize, i64, i64, &[u8]),
) -> Result<()> {
    let start = bag.info().start_time_ns.unwrap_or_default();
    bag.start(query)?;
    while bag.advance()? {
        let Some(message) = bag.message() else { break };
        let time = message.log_time_ns.saturating_sub(start);
        take(
            message.topic.index(),
            time,
            message.log_time_ns,
            message.data,
        );
    }
    Ok(())
}

/// The states of the host clock in the metadata of a bag.
fn host_clock(bag: &BagReader) -> Vec<HostClockRecord> {
    let metadata = bag.bags().iter().filter_map(|bag| bag.metadata.as_ref());
    metadata
        .flat_map(|metadata| HostClockRecord::history(&metadata.custom_data))
        .collect()
}

fn duration(bag: &BagReader) -> i64 {
    let info = bag.info();
    match (info.start_time_ns, info.end_time_ns) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => 0,
    }
}

fn statistics(bag: &BagReader) -> Vec<Option<TopicStatistics>> {
    let accounts = bag.accounts().iter();
    accounts
        .map(|account| account.as_ref().map(|account| account.statistics))
        .collect()
}
