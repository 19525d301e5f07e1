use std::collections::VecDeque;

/// The limits of a queue.
///
/// An empty queue accepts one item of any size: a limit below the size of a message would otherwise reject it forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Number of messages; at least one.
    pub messages: usize,
    /// Number of payload bytes.
    pub bytes: usize,
}

/// The item to drop when a queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The oldest in the queue: for live views.
    DropOldest,
    /// The newest, which is not queued: for recordings without gaps in their past.
    DropNewest,
}

/// Counts of dropped items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Number of messages.
    pub messages: u64,
    /// Number of payload bytes.
    pub bytes: u64,
}

impl Dropped {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

/// An item with a payload size.
pub(crate) trait PayloadSize {
    /// The bytes of its payload; always the same.
    fn bytes(&self) -> usize;
}

/// A queue with limits, without locks and wake-ups.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    items: VecDeque<T>,
    bytes: usize,
    limits: QueueLimits,
}

impl<T: PayloadSize> Bounded<T> {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            items: VecDeque::new(),
            bytes: 0,
            limits,
        }
    }

    /// Queues an item; `dropped` gets the items that are dropped for it.
    #[inline]
    pub(crate) fn push(&mut self, item: T, overflow: Overflow, mut dropped: impl FnMut(T)) {
        let bytes = item.bytes();
        while self.is_full_for(bytes) {
            match overflow {
                Overflow::DropNewest => return dropped(item),
                Overflow::DropOldest => match self.pop() {
                    Some(oldest) => dropped(oldest),
                    None => break,
                },
            }
        }
        self.bytes += bytes;
        self.items.push_back(item);
    }

    /// Whether another item of that size does not fit.
    #[inline]
    pub(crate) fn is_full_for(&self, bytes: usize) -> bool {
        !self.items.is_empty()
            && (self.items.len() >= self.limits.messages
                || self.bytes.saturating_add(bytes) > self.limits.bytes)
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.bytes -= item.bytes();
        Some(item)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.items.iter()
    }

    /// Moves everything to the end of `out`, oldest first.
    pub(crate) fn drain_into(&mut self, out: &mut Vec<T>) {
        self.bytes = 0;
        if out.is_empty() {
            // Swaps the buffers: nothing is copied or allocated.
            let emptied = VecDeque::from(std::mem::take(out));
            *out = std::mem::replace(&mut self.items, emptied).into();
        } else {
            out.extend(self.items.drain(..));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: QueueLimits = QueueLimits {
        messages: 4,
        bytes: 100,
    };

    struct Item {
        number: usize,
        size: usize,
    }

    impl PayloadSize for Item {
        fn bytes(&self) -> usize {
            self.size
        }
    }

    fn run(sizes: &[usize], overflow: Overflow) -> (Vec<usize>, Vec<usize>) {
        let mut queue = Bounded::new(LIMITS);
        let mut dropped = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let item = Item {
                number,
                size: *size,
            };
            queue.push(item, overflow, |item| dropped.push(item.number));
        }
        let mut kept = Vec::new();
        queue.drain_into(&mut kept);
        assert!(queue.is_empty() && queue.bytes() == 0);
        (kept.iter().map(|item| item.number).collect(), dropped)
    }

    #[test]
    fn a_full_queue_drops_by_policy() {
        let sizes = [10; 6];
        assert_eq!(
            run(&sizes, Overflow::DropOldest),
            (vec![2, 3, 4, 5], vec![0, 1])
        );
        assert_eq!(
            run(&sizes, Overflow::DropNewest),
            (vec![0, 1, 2, 3], vec![4, 5])
        );
        assert_eq!(
            run(&[60, 30, 50], Overflow::DropOldest),
            (vec![1, 2], vec![0])
        );
    }

    #[test]
    fn an_item_above_the_limit_passes_alone() {
        assert_eq!(run(&[1_000], Overflow::DropNewest), (vec![0], vec![]));
        assert_eq!(
            run(&[1, 1_000, 1], Overflow::DropOldest),
            (vec![2], vec![0, 1])
        );
        assert_eq!(
            run(&[1, 1_000, 1], Overflow::DropNewest),
            (vec![0, 2], vec![1])
        );
    }

    proptest! {
        #[test]
        fn kept_and_dropped_make_up_the_whole(
            sizes in prop::collection::vec(0usize..150, 0..60),
            oldest in any::<bool>(),
        ) {
            let overflow = if oldest { Overflow::DropOldest } else { Overflow::DropNewest };
            let (kept, dropped) = run(&sizes, overflow);
            prop_assert!(kept.len() <= LIMITS.messages);
            let bytes: usize = kept.iter().map(|item| sizes[*item]).sum();
            prop_assert!(bytes <= LIMITS.bytes || kept.len() == 1);
            let mut all: Vec<_> = kept.iter().chain(&dropped).copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..sizes.len()).collect::<Vec<_>>());
            prop_assert!(kept.is_sorted());
        }
    }
}
