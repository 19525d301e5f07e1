//! Opens many bags at the same time: on object storage, opening is waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use super::{Indexer, content_of, path_of};
use crate::{Content, FoundBag};

/// Opens bags, in any order; the results are in the order of the bags. `progress` gets the number of opened ones.
pub(super) fn open_all(
    indexer: &Indexer<'_>,
    bags: &[FoundBag],
    progress: &mut dyn FnMut(u64),
) -> Vec<Content> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let threads = indexer.threads.clamp(1, bags.len().max(1));
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
                *place = content;
            }
            progress(count);
        }
        opened
    })
}
