//! The graph and its observers.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::lock;
use std::thread::{self, ThreadId};

use crate::{EndpointKind, Graph, GraphEvent, GraphObserver, GraphWatch};
use timeloom_msg::QosProfile;

/// The current graph, and the observers that are notified of changes.
#[derive(Default)]
pub struct Observers {
    watched: Mutex<WatchedGraph>,
    /// The thread that is calling the observers: an observer may end its own watch.
    notifying: Mutex<Option<ThreadId>>,
    /// Observers that were added from inside an observer.
    joining: Mutex<Vec<Arc<Observer>>>,
}

#[derive(Default)]
struct WatchedGraph {
    graph: Graph,
    observers: Vec<Arc<Observer>>,
}

impl WatchedGraph {
    fn add(&mut self, observer: Arc<Observer>) {
        for event in self.graph.replay() {
            observer.notify(&event);
        }
        self.observers.push(observer);
    }
}

struct Observer {
    ended: AtomicBool,
    // Taken at the end of the watch, so that everything that the observer owns is dropped.
    call: Mutex<Option<GraphObserver>>,
}

impl Observer {
    fn notify(&self, event: &GraphEvent) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        if let Some(call) = &*lock(&self.call) {
            call(event);
        }
    }
}

impl Observers {
    /// Applies events and notifies the observers of those that changed the graph.
    pub fn notify(&self, events: Vec<GraphEvent>) {
        if events.is_empty() {
            return;
        }
        let mut watched = self.enter();
        for event in events {
            if watched.graph.apply(&event) {
                for observer in watched.observers.clone() {
                    observer.notify(&event);
                }
            }
        }
        watched
            .observers
            .retain(|observer| !observer.ended.load(Ordering::Acquire));
        self.leave(watched);
    }

    /// Calls a new observer with the whole graph, and keeps it.
    pub fn watch(self: &Arc<Self>, call: GraphObserver) -> GraphWatch {
        let observer = Arc::new(Observer {
            ended: AtomicBool::new(false),
            call: Mutex::new(Some(call)),
        });
        if self.is_notifying() {
            // Inside an observer: the new one is called when the current notification ends.
            lock(&self.joining).push(Arc::clone(&observer));
        } else {
            let mut watched = self.enter();
            watched.add(Arc::clone(&observer));
            self.leave(watched);
        }
        self.handle(observer)
    }

    /// The profiles of the endpoints of one kind on a topic; `None` inside an observer, while the graph changes.
    pub fn profiles(&self, topic: &str, kind: EndpointKind) -> Option<Vec<QosProfile>> {
        if self.is_notifying() {
            return None;
        }
        let watched = lock(&self.watched);
        Some(watched.graph.on(topic, kind).map(|info| info.qos).collect())
    }

    fn handle(self: &Arc<Self>, observer: Arc<Observer>) -> GraphWatch {
        let all = Arc::downgrade(self);
        GraphWatch::new(move || {
            observer.ended.store(true, Ordering::Release);
            let Some(all) = all.upgrade() else {
                return;
            };
            if !all.is_notifying() {
                // Waits for a call that is running.
                let mut watched = lock(&all.watched);
                watched
                    .observers
                    .retain(|other| !Arc::ptr_eq(other, &observer));
                lock(&observer.call).take();
            }
        })
    }

    fn enter(&self) -> MutexGuard<'_, WatchedGraph> {
        let watched = lock(&self.watched);
        *lock(&self.notifying) = Some(thread::current().id());
        watched
    }

    /// Adds the observers that were created during the notification.
    fn leave(&self, mut watched: MutexGuard<'_, WatchedGraph>) {
        loop {
            let joining = mem::take(&mut *lock(&self.joining));
            if joining.is_empty() {
                break;
            }
            for observer in joining {
                watched.add(observer);
            }
        }
        *lock(&self.notifying) = None;
        drop(watched);
    }

    fn is_notifying(&self) -> bool {
        *lock(&self.notifying) == Some(thread::current().id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeName;

    fn added(name: &str) -> Vec<GraphEvent> {
        vec![GraphEvent::NodeAdded(NodeName::new("/", name).unwrap())]
    }

    fn count(observers: &Arc<Observers>) -> (Arc<Mutex<usize>>, GraphWatch) {
        let count = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&count);
        let watch = observers.watch(Box::new(move |_| *lock(&seen) += 1));
        (count, watch)
    }

    #[test]
    fn a_new_observer_gets_the_whole_graph_and_none_after_its_end() {
        let observers = Arc::new(Observers::default());
        let (early, watch) = count(&observers);
        observers.notify(added("a"));
        let (late, _watch) = count(&observers);
        assert_eq!((*lock(&early), *lock(&late)), (1, 1));
        drop(watch);
        observers.notify(added("b"));
        assert_eq!((*lock(&early), *lock(&late)), (1, 2));
        assert_eq!(Arc::strong_count(&early), 1, "the observer is dropped");
    }

    #[test]
    fn a_watch_can_end_inside_its_observer() {
        let observers = Arc::new(Observers::default());
        let own: Arc<Mutex<Option<GraphWatch>>> = Arc::default();
        let (inside, calls) = (Arc::clone(&own), Arc::new(Mutex::new(0)));
        let seen = Arc::clone(&calls);
        *lock(&own) = Some(observers.watch(Box::new(move |_| {
            *lock(&seen) += 1;
            drop(lock(&inside).take());
        })));
        observers.notify(added("a"));
        observers.notify(added("b"));
        assert_eq!(*lock(&calls), 1);
    }

    #[test]
    fn an_observer_can_watch() {
        let observers = Arc::new(Observers::default());
        let inner = Arc::new(Mutex::new((0, Vec::new())));
        let (all, kept) = (Arc::clone(&observers), Arc::clone(&inner));
        let _watch = observers.watch(Box::new(move |_| {
            let seen = Arc::clone(&kept);
            let watch = all.watch(Box::new(move |_| lock(&seen).0 += 1));
            lock(&kept).1.push(watch);
        }));
        observers.notify(added("a"));
        assert_eq!(lock(&inner).0, 1);
    }
}
