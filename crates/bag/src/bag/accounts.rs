//! The account of the topics of opened bags.

use std::sync::Arc;

use super::layout::BagLayout;
use super::merge::Member;
use super::time_map::TimeMap;
use crate::metadata::TopicRecord;
use crate::storage::FileInfo;
use crate::{TopicAccount, TopicInfo};

/// The account of each topic of `info` over all bags; `None` where no bag has one.
///
/// A finished bag has it in its metadata. Otherwise each file has its own. `times` has the clocks by bag.
pub(super) fn accounts(
    info: &FileInfo,
    bags: &[BagLayout],
    members: &[Member],
    times: &[Option<Arc<dyn TimeMap>>],
) -> Vec<Option<TopicAccount>> {
    let mut accounts: Vec<Option<TopicAccount>> = vec![None; info.topics.len()];
    let mut uncounted = vec![false; info.topics.len()];
    for (number, bag) in bags.iter().enumerate() {
        let files = || members.iter().filter(move |member| member.bag == number);
        let finished = bag.metadata.as_ref().filter(|it| !it.is_unfinished());
        let records = finished.map(|metadata| metadata.topics.as_slice());
        let records = records.filter(|them| them.iter().any(|it| it.statistics.is_some()));
        let slots = accounts.iter_mut().zip(&mut uncounted);
        for (topic, (account, uncounted)) in info.topics.iter().zip(slots) {
            let found = match records {
                Some(records) => of_records(records, topic),
                None => of_files(files(), topic),
            };
            let times = times.get(number).and_then(Option::as_ref);
            let found = match (found, times) {
                (Some(found), Some(times)) => Some(found.retimed(times.as_ref())),
                (found, _) => found,
            };
            match found {
                Some(found) => account.get_or_insert_default().merge(&found),
                None => *uncounted |= files().any(|member| holds(member, topic)),
            }
        }
    }
    // A bag that counts does not count what another one misses.
    for (account, uncounted) in accounts.iter_mut().zip(uncounted) {
        if let Some(account) = account {
            account.statistics.unknown.uncounted |= uncounted;
        }
    }
    accounts
}

fn holds(member: &Member, topic: &TopicInfo) -> bool {
    let mut topics = member.info.topics.iter();
    topics.any(|known| is_same(known, topic))
}

fn is_same(a: &TopicInfo, b: &TopicInfo) -> bool {
    a.name == b.name && a.type_name == b.type_name
}

fn of_records(records: &[TopicRecord], topic: &TopicInfo) -> Option<TopicAccount> {
    let mut records = records.iter();
    records
        .find(|record| is_same(&record.topic, topic))?
        .account()
}

fn of_files<'m>(
    files: impl Iterator<Item = &'m Member>,
    topic: &TopicInfo,
) -> Option<TopicAccount> {
    let mut sum: Option<TopicAccount> = None;
    let (mut recorded, mut uncounted) = (0, false);
    for member in files {
        let info = &member.info;
        let at = info.topics.iter().position(|known| is_same(known, topic));
        let count = at.and_then(|at| info.message_counts.get(at));
        recorded += count.copied().unwrap_or(0);
        if let Some(file) = &info.account {
            let account = file.topic(topic);
            sum.get_or_insert_default().merge(&account);
        } else {
            uncounted |= at.is_some();
        }
    }
    // An unfinished file has no count of its messages; its index has.
    sum.map(|mut account| {
        account.statistics.messages_recorded = recorded;
        account.statistics.unknown.uncounted |= uncounted;
        account.take_back_found();
        account
    })
}
