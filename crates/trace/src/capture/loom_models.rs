//! Models of the ring between callbacks and publishers, checked by loom (`make loom`). They drive the production code.

use std::sync::Arc;

use timeloom_time::Time;
use timeloom_time::sync::loom::thread;
use timeloom_time::sync::model;

use super::ring::{Received, Ring};
use crate::moment::Moment;

/// A message whose parts all carry its number; every second has a stamp.
fn received(number: i64) -> Received {
    Received {
        at: Moment::from_nanos(number * 3, number * 5),
        stamp: (number % 2 == 0).then(|| Time::from_nanos(number * 7)),
    }
}

fn assert_whole(seen: &Received) {
    assert_eq!(*seen, received(seen.at.ros.nanos() / 3));
}

/// One slot, so that the second message is written over the first while it is read.
#[test]
fn a_reader_never_sees_half_a_message() {
    model(3, || {
        let ring = Arc::new(Ring::new(1));
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                ring.push(&received(1));
                ring.push(&received(2));
            })
        };
        ring.newest_first().for_each(|seen| assert_whole(&seen));
        writer.join().unwrap();
        assert_eq!(ring.latest(), Some(received(2)));
        assert_eq!((ring.count(), ring.dropped()), (2, 0));
    });
}

/// Writers that meet in one slot do not wait: each message is stored, was overwritten, or is counted as dropped.
#[test]
fn writers_of_one_slot_leave_a_whole_message() {
    model(3, || {
        let ring = Arc::new(Ring::new(1));
        let other = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.push(&received(1)))
        };
        ring.push(&received(2));
        other.join().unwrap();
        assert_eq!(ring.count(), 2);
        assert!(ring.dropped() <= 1);
        // If the older writer is last, the newer one is dropped, or the older one: neither waited.
        ring.newest_first().for_each(|seen| assert_whole(&seen));
        assert!(ring.dropped() == 1 || ring.latest().is_some());
    });
}

#[test]
fn two_writers_and_a_reader() {
    model(2, || {
        let ring = Arc::new(Ring::new(2));
        let writers = [1, 2].map(|number| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.push(&received(number)))
        });
        ring.newest_first().for_each(|seen| assert_whole(&seen));
        for writer in writers {
            writer.join().unwrap();
        }
        // Two slots for two messages: none is dropped, and both are found.
        assert_eq!((ring.dropped(), ring.newest_first().count()), (0, 2));
        assert!(ring.find(Time::from_nanos(14)).is_some());
    });
}
