use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};
use timeloom_wire::{EndpointInfo, EndpointKind, NodeName, TopicSpec, WatchedGraph};

use crate::transport::check_context::CheckContext;
use crate::transport::collector::Collector;
use crate::transport::harness::Quirks;

fn on(graph: &WatchedGraph, topic: &TopicSpec, kind: EndpointKind) -> Vec<EndpointInfo> {
    graph.lock().on(&topic.name, kind).cloned().collect()
}

fn nodes_called(graph: &WatchedGraph, name: &NodeName) -> usize {
    graph
        .lock()
        .nodes()
        .find(|(node, _)| *node == name)
        .map_or(0, |(_, count)| count)
}

pub(crate) fn nodes_and_endpoints_are_seen_with_types_and_hashes(context: &CheckContext<'_>) {
    let (here, there) = (context.participant(), context.participant());
    let node = context.node(&here, "near");
    let topic = context.topic("data", QosProfile::DEFAULT);
    let publisher = node.publish(&topic).expect("a publisher is made");
    let subscription = node
        .subscribe(&topic, Collector::new())
        .expect("a subscription is made");
    let hashes = context.capabilities().type_hashes;
    // A participant sees others and itself.
    for watcher in [&there, &here] {
        let graph = WatchedGraph::new(&**watcher);
        let name = context.node_name("near");
        context.until("the node is seen", || nodes_called(&graph, &name) == 1);
        for (kind, gid) in [
            (EndpointKind::Publisher, publisher.gid()),
            (EndpointKind::Subscription, subscription.gid()),
        ] {
            context.until("the endpoint is seen with its node", || {
                on(&graph, &topic, kind)
                    .iter()
                    .any(|info| info.node.as_ref() == Some(&name))
            });
            let found = on(&graph, &topic, kind);
            assert_eq!(found.len(), 1, "{kind:?}: {found:?}");
            assert_eq!(found[0].gid, gid);
            assert_eq!(found[0].type_name, "std_msgs/msg/String");
            assert_eq!(found[0].type_hash, topic.type_hash.filter(|_| hashes));
        }
    }
}

fn profiles() -> [QosProfile; 5] {
    let base = QosProfile {
        liveliness: Liveliness::Automatic,
        ..QosProfile::DEFAULT
    };
    [
        base,
        QosProfile {
            depth: 3,
            reliability: Reliability::BestEffort,
            ..base
        },
        QosProfile {
            history: History::KeepAll,
            depth: 0,
            durability: Durability::TransientLocal,
            ..base
        },
        QosProfile {
            depth: 1_000,
            durability: Durability::TransientLocal,
            lifespan: QosDuration { sec: 10, nsec: 0 },
            ..base
        },
        QosProfile {
            depth: 7,
            deadline: QosDuration::from_nanos(250_000_000),
            liveliness: Liveliness::ManualByTopic,
            liveliness_lease_duration: QosDuration::from_nanos(1_500_000_000),
            ..base
        },
    ]
}

/// A profile in canonical form; subscriptions have no lifespan on DDS.
fn meaning(qos: QosProfile, kind: EndpointKind, quirks: Quirks) -> QosProfile {
    let plain = |duration: QosDuration| {
        duration
            .limit()
            .map_or(QosDuration::INFINITE, QosDuration::from_nanos)
    };
    let no_lifespan = kind == EndpointKind::Subscription || quirks.hides_lifespan;
    let keep_all = qos.history == History::KeepAll;
    QosProfile {
        history: if quirks.hides_history {
            History::Unknown
        } else {
            qos.history
        },
        depth: if keep_all || quirks.hides_history {
            0
        } else {
            qos.depth
        },
        reliability: qos.reliability,
        durability: qos.durability,
        deadline: plain(qos.deadline),
        lifespan: if no_lifespan {
            QosDuration::INFINITE
        } else {
            plain(qos.lifespan)
        },
        liveliness: qos.liveliness,
        liveliness_lease_duration: plain(qos.liveliness_lease_duration),
        avoid_ros_namespace_conventions: qos.avoid_ros_namespace_conventions,
    }
}

pub(crate) fn qos_of_every_policy_is_seen_exactly(context: &CheckContext<'_>) {
    let (here, there) = (context.participant(), context.participant());
    let node = context.node(&here, "near");
    let graph = WatchedGraph::new(&*there);
    for (number, profile) in profiles().into_iter().enumerate() {
        let topic = context.topic(&format!("data{number}"), profile);
        let _publisher = node.publish(&topic).expect("a publisher is made");
        let _subscription = node
            .subscribe(&topic, Collector::new())
            .expect("a subscription is made");
        for kind in [EndpointKind::Publisher, EndpointKind::Subscription] {
            context.until("the endpoint is seen", || {
                on(&graph, &topic, kind).len() == 1
            });
            let wanted = meaning(profile, kind, context.quirks());
            let seen = || meaning(on(&graph, &topic, kind)[0].qos, kind, context.quirks());
            assert_eq!(seen(), wanted, "{kind:?} {number}");
        }
    }
}

pub(crate) fn a_watcher_that_joins_late_sees_the_same(context: &CheckContext<'_>) {
    let (here, there) = (context.participant(), context.participant());
    let early = WatchedGraph::new(&*there);
    let nodes = ["one", "two"].map(|name| context.node(&here, name));
    let topic = context.topic("data", QosProfile::DEFAULT);
    let _publishers = nodes
        .each_ref()
        .map(|node| node.publish(&topic).expect("a publisher is made"));
    let whole = |graph: &WatchedGraph| {
        let ends = on(graph, &topic, EndpointKind::Publisher);
        // Nodes and their endpoints may be announced each for itself, in any order.
        let named = |name| nodes_called(graph, &context.node_name(name)) == 1;
        ends.len() == 2
            && ends.iter().all(|info| info.node.is_some())
            && named("one")
            && named("two")
    };
    context.until("the early watcher sees both", || whole(&early));
    let late = WatchedGraph::new(&*there);
    assert!(
        whole(&late),
        "everything is reported before the call returns"
    );
    assert_eq!(
        on(&late, &topic, EndpointKind::Publisher),
        on(&early, &topic, EndpointKind::Publisher)
    );
}

pub(crate) fn peers_that_leave_are_gone(context: &CheckContext<'_>) {
    let there = context.participant();
    let graph = WatchedGraph::new(&*there);
    let topic = context.topic("data", QosProfile::DEFAULT);
    let here = context.participant();
    let node = context.node(&here, "near");
    let publisher = node.publish(&topic).expect("a publisher is made");
    let subscription = node
        .subscribe(&topic, Collector::new())
        .expect("a subscription is made");
    let count = |kind| on(&graph, &topic, kind).len();
    context.until("both are seen", || {
        count(EndpointKind::Publisher) == 1 && count(EndpointKind::Subscription) == 1
    });
    drop(publisher);
    context.until("the publisher is gone", || {
        count(EndpointKind::Publisher) == 0
    });
    assert_eq!(count(EndpointKind::Subscription), 1);
    drop((subscription, node, here));
    context.until("everything is gone", || {
        count(EndpointKind::Subscription) == 0
            && nodes_called(&graph, &context.node_name("near")) == 0
    });
}

pub(crate) fn two_nodes_of_one_name_are_two(context: &CheckContext<'_>) {
    let there = context.participant();
    let graph = WatchedGraph::new(&*there);
    let participants = [context.participant(), context.participant()];
    let mut nodes: Vec<_> = participants
        .iter()
        .map(|participant| context.node(participant, "twin"))
        .collect();
    let count = || nodes_called(&graph, &context.node_name("twin"));
    context.until("both are seen", || count() == 2);
    nodes.pop();
    context.until("one is left", || count() == 1);
    nodes.clear();
    context.until("none is left", || count() == 0);
}

pub(crate) fn no_graph_event_after_the_drop_of_the_watch(context: &CheckContext<'_>) {
    let (here, there) = (context.participant(), context.participant());
    let events = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&events);
    let watch = there.watch_graph(Box::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    }));
    let living = WatchedGraph::new(&*there);
    drop(watch);
    let before = events.load(Ordering::Relaxed);
    let _node = context.node(&here, "near");
    let name = context.node_name("near");
    context.until("the living watch sees it", || {
        nodes_called(&living, &name) == 1
    });
    context.quiet();
    assert_eq!(events.load(Ordering::Relaxed), before);
    assert_eq!(Arc::strong_count(&events), 1, "the observer is dropped");
}
