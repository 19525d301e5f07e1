use std::sync::{Arc, Mutex};

use crate::locking::lock;

use timeloom_wire::{EndpointEvent, Node, Publisher, Receiver, Sample, Subscription, TopicSpec};

use crate::transport::check_context::{CheckContext, plain};
use crate::transport::collector::Collector;
use crate::transport::payload::payload;

/// Calls a function for each sample, after it was collected.
struct Acting<F> {
    collector: Arc<Collector>,
    act: F,
}

impl<F: Fn() + Send + Sync> Receiver for Acting<F> {
    fn sample(&self, sample: Sample) {
        self.collector.sample(sample);
        (self.act)();
    }

    fn event(&self, event: EndpointEvent) {
        self.collector.event(event);
    }
}

fn acting(
    node: &Arc<dyn Node>,
    topic: &TopicSpec,
    act: impl Fn() + Send + Sync + 'static,
) -> (Box<dyn Subscription>, Arc<Collector>) {
    let collector = Collector::new();
    let receiver = Acting {
        collector: Arc::clone(&collector),
        act,
    };
    let subscription = node
        .subscribe(topic, Arc::new(receiver))
        .expect("a subscription is made");
    (subscription, collector)
}

fn publish(publisher: &dyn Publisher, count: u32) {
    for mark in 0..count {
        publisher
            .publish(payload(mark, 16), plain())
            .expect("a sample is published");
    }
}

pub(crate) fn a_subscription_can_be_dropped_inside_its_receiver(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", CheckContext::reliable());
    let publisher = near.publish(&topic).expect("a publisher is made");
    let own: Arc<Mutex<Option<Box<dyn Subscription>>>> = Arc::default();
    let inside = Arc::clone(&own);
    let (subscription, collector) = acting(&far, &topic, move || {
        drop(lock(&inside).take());
    });
    context.matched((&*publisher, 1), (&*subscription, 1));
    *lock(&own) = Some(subscription);
    publish(&*publisher, 5);
    context.until("the first sample arrives", || collector.count() > 0);
    context.quiet();
    assert_eq!(collector.count(), 1, "nothing comes after the drop");
    // The transport lives on.
    let again = context.topic("again", CheckContext::reliable());
    let (publisher, _subscription, collector) = context.pair(&near, &far, &again);
    publish(&*publisher, 1);
    context.until("another subscription works", || collector.count() == 1);
}

pub(crate) fn a_receiver_can_publish(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let there = context.topic("there", CheckContext::reliable());
    let back = context.topic("back", CheckContext::reliable());
    let publisher = near.publish(&there).expect("a publisher is made");
    let answers = far.publish(&back).expect("a publisher is made");
    let echo = Collector::new();
    let listening = near
        .subscribe(&back, Arc::clone(&echo) as _)
        .expect("a subscription is made");
    context.matched((&*answers, 1), (&*listening, 1));
    let (subscription, _) = acting(&far, &there, move || publish(&*answers, 1));
    context.matched((&*publisher, 1), (&*subscription, 1));
    publish(&*publisher, 10);
    context.until("ten echoes", || echo.count() >= 10);
}

pub(crate) fn a_receiver_can_subscribe(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let first = context.topic("first", CheckContext::reliable());
    let second = context.topic("second", CheckContext::latched(1));
    let (early, latched) = (
        near.publish(&first).expect("a publisher is made"),
        near.publish(&second).expect("a publisher is made"),
    );
    publish(&*latched, 1);
    let kept: Mutex<Vec<Box<dyn Subscription>>> = Mutex::default();
    let (inner, node) = (Collector::new(), Arc::clone(&far));
    let inside = Arc::clone(&inner);
    let (subscription, _) = acting(&far, &first, move || {
        let subscription = node
            .subscribe(&second, Arc::clone(&inside) as _)
            .expect("a subscription is made inside a receiver");
        lock(&kept).push(subscription);
    });
    context.matched((&*early, 1), (&*subscription, 1));
    publish(&*early, 1);
    context.until("the inner subscription gets what was kept", || {
        inner.count() == 1
    });
}

pub(crate) fn no_call_begins_after_the_drop(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", CheckContext::reliable());
    for _ in 0..5 {
        let (publisher, subscription, collector) = context.pair(&near, &far, &topic);
        publish(&*publisher, 50);
        drop(subscription);
        let count = collector.count();
        publish(&*publisher, 5);
        context.quiet();
        assert_eq!(collector.count(), count);
    }
}
