//! The queue between the driver's threads and the publishing thread.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use timeloom_pf::{Header, Scan, ScanStamp};
use timeloom_time::sync::{Mutex, lock};
use timeloom_time::{BaseThread, TimeBase};

use crate::{Error, Result};

/// A message to publish.
pub(crate) enum Job {
    Header(Header),
    Scan(Scan, ScanStamp),
}

/// The result of queueing a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Queued,
    /// The queue is full: the job was dropped.
    Dropped,
    /// The node is shutting down.
    Closed,
}

/// Jobs for one thread, so that a middleware that blocks does not hold up the socket.
pub(crate) struct PublishQueue<J = Job> {
    jobs: Mutex<Option<SyncSender<J>>>,
}

impl<J: Send> PublishQueue<J> {
    /// A queue for `capacity` jobs, and where they come out.
    pub(crate) fn new(capacity: usize) -> (Self, Receiver<J>) {
        let (jobs, receiver) = sync_channel(capacity);
        let jobs = Mutex::new(Some(jobs));
        (Self { jobs }, receiver)
    }

    /// Adds a job; never blocks.
    pub(crate) fn push(&self, job: J) -> Pushed {
        let jobs = lock(&self.jobs);
        match jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => Pushed::Queued,
            Some(Err(_full)) => Pushed::Dropped,
            None => Pushed::Closed,
        }
    }

    /// Takes no more jobs; the thread ends after those that are queued.
    pub(crate) fn close(&self) {
        *lock(&self.jobs) = None;
    }
}

/// Starts the thread that does the jobs.
pub(crate) fn start<J: Send + 'static>(
    base: &TimeBase,
    jobs: Receiver<J>,
    mut publish: impl FnMut(J) + Send + 'static,
) -> Result<BaseThread<()>> {
    let run = move || {
        for job in jobs {
            publish(job);
        }
    };
    base.spawn("lidar_publisher", run).map_err(Error::Thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_that_blocks_costs_messages_and_not_the_socket() {
        let (queue, jobs) = PublishQueue::new(2);
        let (started, is_started) = sync_channel(0);
        let (release, released) = sync_channel::<()>(0);
        let thread = start(&TimeBase::machine(), jobs, move |()| {
            let _waiting = started.send(());
            let _released = released.recv();
        });
        let thread = thread.expect("a thread");
        assert_eq!(queue.push(()), Pushed::Queued);
        is_started.recv().expect("the first job is being published");
        let pushed = [(); 4].map(|()| queue.push(()));
        assert_eq!(pushed[..2], [Pushed::Queued; 2]);
        assert_eq!(pushed[2..], [Pushed::Dropped; 2]);
        queue.close();
        assert_eq!(queue.push(()), Pushed::Closed);
        drop(is_started);
        drop(release);
        thread.join().expect("it ends after what was queued");
    }
}
