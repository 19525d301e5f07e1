//! The graph and who watches it.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::lock;
use std::thread::{self, ThreadId};

use crate::{EndpointKind, Graph, GraphEvent, GraphObserver, GraphWatch};
use timeloom_msg::QosProfile;

/// The graph as it was told so far, and those who are told.
#[derive(Default)]
pub struct Observers {
    told: Mutex<Told>,
    /// The thread that tells, while it tells: an observer may end its own watch.
    telling: Mutex<Option<ThreadId>>,
    /// Observers made by observers.
    joining: Mutex<Vec<Arc<Observer>>>,
}

#[derive(Default)]
struct Told {
    graph: Graph,
    observers: Vec<Arc<Observer>>,
}

impl Told {
    fn join(&mut self, observer: Arc<Observer>) {
        for event in self.graph.replay() {
            observer.tell(&event);
        }
        self.observers.push(observer);
    }
}

struct Observer {
    ended: AtomicBool,
    // Taken out at the end of the watch, so that what the observer holds is let go.
    call: Mutex<Option<GraphObserver>>,
}

impl Observer {
    fn tell(&self, event: &GraphEvent) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        if let Some(call) = &*lock(&self.call) {
            call(event);
        }
    }
}

impl Observers {
    /// Takes in events and passes on those that are news.
    pub fn tell(&self, events: Vec<GraphEvent>) {
        if events.is_empty() {
            return;
        }
        let mut told = self.enter();
        for event in events {
            if told.graph.apply(&event) {
                for observer in told.observers.clone() {
                    observer.tell(&event);
                }
            }
        }
        told.observers
            .retain(|observer| !observer.ended.load(Ordering::Acquire));
        self.leave(told);
    }

    /// Tells a new observer all that is there, and keeps it.
    pub fn watch(self: &Arc<Self>, call: GraphObserver) -> GraphWatch {
        let observer = Arc::new(Observer {
            ended: AtomicBool::new(false),
            call: Mutex::new(Some(call)),
        });
        if self.is_telling() {
            // From inside an observer: its turn comes when this telling ends.
            lock(&self.joining).push(Arc::clone(&observer));
        } else {
            let mut told = self.enter();
            told.join(Arc::clone(&observer));
            self.leave(told);
        }
        self.handle(observer)
    }

    /// The profiles of the endpoints of one kind on a topic; none from inside an observer, where the graph changes.
    pub fn profiles(&self, topic: &str, kind: EndpointKind) -> Option<Vec<QosProfile>> {
        if self.is_telling() {
            return None;
        }
        let told = lock(&self.told);
        Some(told.graph.on(topic, kind).map(|info| info.qos).collect())
    }

    fn handle(self: &Arc<Self>, observer: Arc<Observer>) -> GraphWatch {
        let all = Arc::downgrade(self);
        GraphWatch::new(move || {
            observer.ended.store(true, Ordering::Release);
            let Some(all) = all.upgrade() else {
                return;
            };
            if !all.is_telling() {
                // Waits for a call that runs.
                let mut told = lock(&all.told);
                told.observers
                    .retain(|other| !Arc::ptr_eq(other, &observer));
                lock(&observer.call).take();
            }
        })
    }

    fn enter(&self) -> MutexGuard<'_, Told> {
        let told = lock(&self.told);
        *lock(&self.telling) = Some(thread::current().id());
        told
    }

    /// Lets those join who came while somebody was told.
    fn leave(&self, mut told: MutexGuard<'_, Told>) {
        loop {
            let joining = mem::take(&mut *lock(&self.joining));
            if joining.is_empty() {
                break;
            }
            for observer in joining {
                told.join(observer);
            }
        }
        *lock(&self.telling) = None;
        drop(told);
    }

    fn is_telling(&self) -> bool {
        *lock(&self.telling) == Some(thread::current().id())
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
    fn who_joins_is_told_all_and_who_leaves_nothing_more() {
        let observers = Arc::new(Observers::default());
        let (early, watch) = count(&observers);
        observers.tell(added("a"));
        let (late, _watch) = count(&observers);
        assert_eq!((*lock(&early), *lock(&late)), (1, 1));
        drop(watch);
        observers.tell(added("b"));
        assert_eq!((*lock(&early), *lock(&late)), (1, 2));
        assert_eq!(Arc::strong_count(&early), 1, "the observer is let go");
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
        observers.tell(added("a"));
        observers.tell(added("b"));
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
        observers.tell(added("a"));
        assert_eq!(lock(&inner).0, 1);
    }
}
