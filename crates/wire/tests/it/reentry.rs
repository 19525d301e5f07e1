//! Calls from inside calls, across participants, and many threads at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_testkit::transport::{Collector, payload};
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::queue::{Overflow, QueueLimits, SampleQueue};
use timeloom_wire::{
    Caller, Node, NodeName, PublishOptions, Publisher, Receiver, Request, RequestHandler, Sample,
    ServiceServer, Subscription,
};

use crate::world::{KEEP_ALL, World, numbers, publish, service, subscribe, topic};

/// Calls a function for each sample.
struct Acting<F>(F);

impl<F: Fn(Sample) + Send + Sync> Receiver for Acting<F> {
    fn sample(&self, sample: Sample) {
        (self.0)(sample);
    }
}

type Slot = Arc<Mutex<Option<Box<dyn Subscription>>>>;

#[test]
fn two_receivers_may_drop_each_other() {
    let world = World::new();
    let (talker, one, two) = (world.node("talker"), world.node("one"), world.node("two"));
    let publisher = talker.publish(&topic(KEEP_ALL)).unwrap();
    let (first, second) = (Slot::default(), Slot::default());
    let calls = Arc::new(AtomicU64::new(0));
    let dropping = |node: &Arc<dyn Node>, other: &Slot| {
        let (other, calls) = (Arc::clone(other), Arc::clone(&calls));
        let receiver = Acting(move |_| {
            calls.fetch_add(1, Ordering::SeqCst);
            drop(other.lock().expect("no panic").take());
        });
        node.subscribe(&topic(KEEP_ALL), Arc::new(receiver))
            .expect("a subscription")
    };
    *first.lock().unwrap() = Some(dropping(&one, &second));
    *second.lock().unwrap() = Some(dropping(&two, &first));
    publish(&*publisher, 3);
    world.pass(10);
    assert!(publisher.matched() <= 1, "one has dropped the other");
    assert!(calls.load(Ordering::SeqCst) >= 1);
}

#[test]
fn the_last_handle_of_a_participant_may_be_dropped_inside_its_own_call() {
    let world = World::new();
    let (talker, far) = (world.node("talker"), world.node("far"));
    let publisher = talker.publish(&topic(KEEP_ALL)).unwrap();
    let everything: Arc<Mutex<Vec<Box<dyn std::any::Any + Send>>>> = Arc::default();
    let inside = Arc::clone(&everything);
    let receiver = Acting(move |_| drop(std::mem::take(&mut *inside.lock().expect("no panic"))));
    let subscription = far.subscribe(&topic(KEEP_ALL), Arc::new(receiver)).unwrap();
    everything
        .lock()
        .unwrap()
        .extend([Box::new(subscription) as _, Box::new(far) as _]);
    publish(&*publisher, 2);
    world.pass(10);
    assert_eq!(publisher.matched(), 0);
    assert_eq!(
        format!("{:?}", world.network),
        "LoopbackNetwork(1 participants)"
    );
}

#[test]
fn a_handler_may_call_a_service_of_another_participant() {
    struct Echo;
    impl RequestHandler for Echo {
        fn request(&self, request: Request, server: &dyn ServiceServer) {
            server.reply(&request.id, request.payload).expect("a reply");
        }
    }
    struct Forward(Caller);
    impl RequestHandler for Forward {
        fn request(&self, request: Request, server: &dyn ServiceServer) {
            let answer = self.0.call(request.payload, Duration::from_secs(1));
            let answer = answer.expect("the service behind answers");
            server.reply(&request.id, answer).expect("a reply");
        }
    }
    let world = World::new();
    let base = world.time.base();
    let (near, middle, far) = (world.node("near"), world.node("middle"), world.node("far"));
    let mut behind = service();
    behind.name = "/behind".to_owned();
    let _far = far.serve(&behind, Arc::new(Echo)).unwrap();
    // A client of its own participant: the handler's thread is busy while it waits.
    let client = Caller::new(&*world.node("helper"), &behind, &base).unwrap();
    let _middle = middle.serve(&service(), Arc::new(Forward(client))).unwrap();
    let caller = Caller::new(&*near, &service(), &base).unwrap();
    assert!(caller.wait_for_server(Duration::from_secs(1)));
    let answer = caller.call(payload(5, 40), Duration::from_secs(1)).unwrap();
    assert_eq!(answer, payload(5, 40));
}

#[test]
fn with_several_servers_the_first_reply_counts() {
    struct Named(u32);
    impl RequestHandler for Named {
        fn request(&self, request: Request, server: &dyn ServiceServer) {
            server
                .reply(&request.id, payload(self.0, 4))
                .expect("a reply");
        }
    }
    let world = World::new();
    let servers = ["a", "b", "c"].map(|label| world.node(label));
    let _serving: Vec<_> = (0..)
        .zip(&servers)
        .map(|(n, node)| node.serve(&service(), Arc::new(Named(n))).unwrap())
        .collect();
    let near = world.node("near");
    let caller = Caller::new(&*near, &service(), &world.time.base()).unwrap();
    assert_eq!(caller.client().servers(), 3);
    let answers: Vec<_> = (0..5)
        .map(|_| caller.call(payload(9, 4), Duration::from_secs(1)).unwrap())
        .collect();
    assert!(
        answers
            .iter()
            .all(|answer| (0..3).any(|n| *answer == payload(n, 4)))
    );
}

#[test]
fn a_sample_queue_receives_from_the_loopback() {
    let world = World::new();
    let base = world.time.base();
    let (near, far) = (world.node("near"), world.node("far"));
    let limits = QueueLimits {
        messages: 64,
        bytes: 1 << 20,
    };
    let queue = SampleQueue::new(&base, limits, Overflow::DropNewest);
    let publisher = near.publish(&topic(KEEP_ALL)).unwrap();
    let _subscription = far
        .subscribe(&topic(KEEP_ALL), Arc::clone(&queue) as _)
        .unwrap();
    let taker = {
        let queue = Arc::clone(&queue);
        world.time.spawn("taker", move || {
            let mut taken = Vec::new();
            while queue.wait(Duration::from_secs(1)) {
                queue.take(&mut taken);
            }
            taken
                .iter()
                .filter_map(|sample| sample.sequence)
                .collect::<Vec<_>>()
        })
    };
    publish(&*publisher, 500);
    let taken = taker.join().unwrap();
    assert_eq!(taken, (1..=500).collect::<Vec<_>>());
    assert_eq!(queue.dropped().messages, 0);
}

fn node(network: &LoopbackNetwork, label: &str) -> Arc<dyn Node> {
    let name = NodeName::new("/", label).expect("a name");
    let participant = network.participant(label).expect("it joins");
    participant.node(name).expect("a node")
}

/// On the machine's time, with real races: publishers, subscriptions that come and go, a graph watcher.
#[test]
fn many_threads_come_and_go_without_a_deadlock() {
    let network = LoopbackNetwork::new(&TimeBase::machine());
    let stable = node(&network, "stable");
    let (subscription, collector) = subscribe(&stable, KEEP_ALL);
    let done = Arc::new(AtomicBool::new(false));
    let watch = network
        .participant("watcher")
        .unwrap()
        .watch_graph(Box::new(|_| {}));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|n| {
                let network = &network;
                scope.spawn(move || {
                    let own = node(network, &format!("writer{n}"));
                    let publisher = own.publish(&topic(KEEP_ALL)).expect("a publisher");
                    for mark in 0..500 {
                        let sent = publisher.publish(payload(mark, 16), PublishOptions::default());
                        sent.expect("it is sent");
                    }
                    publisher.gid()
                })
            })
            .collect();
        for n in 0..2 {
            let (network, done) = (&network, Arc::clone(&done));
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let passing = node(network, &format!("passing{n}"));
                    let receiver = Collector::new();
                    drop(passing.subscribe(&topic(KEEP_ALL), receiver));
                }
            });
        }
        let gids: Vec<_> = writers
            .into_iter()
            .map(|writer| writer.join().expect("no panic"))
            .collect();
        done.store(true, Ordering::SeqCst);
        let event = timeloom_time::Event::new(&TimeBase::machine());
        while collector.count() < 1_500 {
            event.wait_for(Duration::from_millis(1));
        }
        for gid in gids {
            let account = network
                .account(gid, subscription.gid())
                .expect("they matched");
            assert_eq!((account.sent, account.delivered), (500, 500));
        }
    });
    drop(watch);
    assert_eq!(numbers(&collector).len(), 1_500);
}

#[test]
fn a_receiver_that_panics_does_not_hang_the_drop_of_its_subscription() {
    let network = LoopbackNetwork::new(&TimeBase::machine());
    let (near, far) = (node(&network, "near"), node(&network, "far"));
    let publisher: Box<dyn Publisher> = near.publish(&topic(KEEP_ALL)).unwrap();
    let entered = timeloom_time::Event::new(&TimeBase::machine());
    let event = entered.clone();
    let receiver = Acting(move |_| {
        event.set();
        panic!("a bug in a receiver, made on purpose");
    });
    let subscription = far.subscribe(&topic(KEEP_ALL), Arc::new(receiver)).unwrap();
    publish(&*publisher, 1);
    entered.wait();
    drop(subscription);
    drop(far);
    publish(&*publisher, 1);
    assert_eq!(publisher.matched(), 0);
}
