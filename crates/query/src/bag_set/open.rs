//! Opens the bags of a query, several at a time: on object storage, opening is waiting.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bags that are opened at the same time.
const AT_ONCE: usize = 16;

/// The results of a function for all items, in their order; up to [`AT_ONCE`] calls run at the same time.
///
/// Ends after the first error. All items before it were done, so that it is the same error as one after the other.
pub(crate) fn try_map<'a, T: Sync, R: Send, E: Send>(
    items: &'a [T],
    work: impl Fn(&'a T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let some = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                break;
            };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((index, result));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let threads = AT_ONCE.min(items.len());
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect::<Vec<_>>()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_keep_their_order_and_work_overlaps() {
        let items: Vec<usize> = (0..10 * AT_ONCE).collect();
        // Each call waits for all others of its round: one call after the other would never end.
        let all_at_once = Barrier::new(AT_ONCE);
        let work = |item: &usize| {
            all_at_once.wait();
            Ok::<_, ()>(item * 2)
        };
        let doubled = items.iter().map(|item| item * 2).collect();
        assert_eq!(try_map(&items, work), Ok(doubled));
        assert_eq!(try_map(&[], |_: &u8| Ok::<(), ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn the_first_error_is_that_of_the_first_item() {
        let items: Vec<usize> = (0..1_000).collect();
        for _ in 0..50 {
            let done = AtomicUsize::new(0);
            let work = |item: &usize| {
                done.fetch_add(1, Ordering::Relaxed);
                if *item >= 37 { Err(*item) } else { Ok(()) }
            };
            assert_eq!(try_map(&items, work), Err(37));
            assert!(done.load(Ordering::Relaxed) < 37 + 2 * AT_ONCE);
        }
    }
}
