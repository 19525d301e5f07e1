//! Opens many bags at the same time: on object storage, opening is waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use timeloom_bag::BagSummary;

use super::{Indexer, content_of, path_of};
use crate::topic_sets::TopicSets;
use crate::{Content, FoundBag};

/// Opens bags, in any order; the results are in the order of the bags, and bags with the same topics share them in
/// `sets`. `progress` gets the number of opened ones.
pub(super) fn open_all(
    indexer: &Indexer<'_>,
    bags: &[FoundBag],
    sets: &mut TopicSets,
    progress: &mut dyn FnMut(u64),
) -> Vec<Content> {
    let next = AtomicUsize::new(0);
    let threads = indexer.threads.clamp(1, bags.len().max(1));
    // Few wait here: their topics are not shared yet.
    let (sender, receiver) = sync_channel(threads);
    let (place, root) = (&indexer.place, indexer.root);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(bag) = bags.get(index) else {
                        return;
                    };
                    let content = content_of(place, &path_of(root, bag));
                    if sender.send((index, content)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let unopened = || Content::Unreadable("the thread that opened it ended".to_owned());
        let mut opened: Vec<Content> = bags.iter().map(|_| unopened()).collect();
        for (count, (index, content)) in (1..).zip(receiver) {
            if let Some(place) = opened.get_mut(index) {
                *place = shared(content, sets);
            }
            progress(count);
        }
        opened
    })
}

/// A summary with topics that other summaries have, too: definitions are long, and in a fleet all the same. It is a copy,
/// made by one thread: what stays lies together, and the threads that open bags use the same memory again and again.
fn shared(content: Content, sets: &mut TopicSets) -> Content {
    match content {
        Content::Bag(summary) => Content::Bag(Arc::new(BagSummary {
            topics: sets.share(&summary.topics),
            ..BagSummary::clone(&summary)
        })),
        unreadable @ Content::Unreadable(_) => unreadable,
    }
}

#[cfg(test)]
mod tests {
    use timeloom_bag::{BagOptions, BagWriter, LocalPlace, TopicInfo};
    use timeloom_time::{Clock, VirtualTime};

    use super::*;
    use crate::{BagFolder, LocalStore};

    #[test]
    fn opened_bags_share_their_topics() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for (bag, topics) in [
            ("a", ["/x", "/y"]),
            ("b", ["/x", "/y"]),
            ("c", ["/x", "/z"]),
        ] {
            let mut writer = BagWriter::create(&root.join(bag), BagOptions::default()).unwrap();
            for topic in topics {
                let topic = TopicInfo::new(topic, "std_msgs/msg/String");
                writer.add_topic(&topic).unwrap();
            }
            writer.finish().unwrap().1.into_result().unwrap();
        }
        let indexer = Indexer {
            place: Arc::new(LocalPlace),
            root,
            store: &LocalStore::new(root),
            clock: Clock::on(&VirtualTime::manual().base()),
            threads: 2,
        };
        let bags = BagFolder::list(indexer.place.as_ref(), root).unwrap().bags;
        let opened = open_all(&indexer, &bags, &mut TopicSets::default(), &mut |_| {});
        let topics = |index: usize| match &opened[index] {
            Content::Bag(summary) => &summary.topics,
            Content::Unreadable(reason) => panic!("{reason}"),
        };
        assert!(Arc::ptr_eq(topics(0), topics(1)));
        assert_eq!(topics(2)[1].name, "/z");
    }
}
