//! Models of the queue between receivers and the writer, checked by loom (`make loom`). They drive the code that ships;
//! there is no time in them: a wake-up that is lost is a deadlock.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_time::sync::loom::thread;
use timeloom_time::sync::model;
use timeloom_time::{Duration, TimeBase};

use super::drop_policy::DropPolicy;
use super::queue::Queue;
use super::queued_message::QueuedMessage;

fn message(sequence: u32) -> QueuedMessage {
    QueuedMessage {
        sequence,
        ..QueuedMessage::new(0, 0, 0, Bytes::from_static(&[0; 100]))
    }
}

fn queue(bytes: usize) -> Arc<Queue> {
    Arc::new(Queue::new(&TimeBase::machine(), bytes, Duration::ZERO))
}

/// Takes and releases, resting in between, until so many have come.
fn write(queue: &Queue, messages: usize) {
    let (mut written, mut batch) = (0, Vec::new());
    while written < messages {
        queue.take(&mut batch);
        queue.release(&batch);
        written += batch.len();
        batch.clear();
        if written < messages {
            queue.wait(Duration::from_secs(3600), true);
        }
    }
}

#[test]
fn an_idle_writer_is_woken_for_every_message() {
    model(2, || {
        let queue = queue(1 << 20);
        let receiver = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let lost: u64 = (0..2)
                    .map(|number| queue.push(message(number), DropPolicy::Newest))
                    .sum();
                assert_eq!(lost, 0);
            })
        };
        write(&queue, 2);
        receiver.join().unwrap();
        assert_eq!(queue.used(), 0);
    });
}

/// Space for one message: the thread that pushes the second one waits and is woken.
#[test]
fn a_blocked_push_is_woken_when_there_is_space() {
    let room = message(0).cost();
    model(2, move || {
        let full = queue(room);
        let lost = [0, 1].map(|number| full.push(message(number), DropPolicy::Newest));
        assert_eq!(lost, [0, 1], "no room for two");
        let queue = queue(room);
        let receiver = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let lost: u64 = (0..2)
                    .map(|number| queue.push(message(number), DropPolicy::Block))
                    .sum();
                assert_eq!(lost, 0);
            })
        };
        write(&queue, 2);
        receiver.join().unwrap();
        assert_eq!(queue.used(), 0);
    });
}

#[test]
fn closing_the_queue_ends_blocked_pushes() {
    let room = message(0).cost();
    model(2, move || {
        let queue = queue(room);
        assert_eq!(queue.push(message(0), DropPolicy::Block), 0);
        let receiver = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(message(1), DropPolicy::Block))
        };
        queue.close();
        assert_eq!(receiver.join().unwrap(), 1, "it is counted as lost");
    });
}
