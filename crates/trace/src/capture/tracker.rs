use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use timeloom_time::{Duration, Ros, Time};

use super::input::TrackedInput;
use super::input_set::Used;
use super::output::TrackedOutput;
use super::ring::Received;
use crate::moment::Moment;

/// The limits of a tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackerOptions {
    /// Number of messages of each input; rounded up to a power of two.
    pub messages: usize,
    /// Time for which a message can be found by its stamp, from its reception; `None` means as long as there is room.
    ///
    /// TILDE counts from the stamp instead, and so drops replayed messages at once.
    pub retention: Option<Duration>,
}

impl Default for TrackerOptions {
    fn default() -> Self {
        Self {
            messages: 256,
            retention: None,
        }
    }
}

/// The inputs and outputs of one node.
///
/// ```
/// use timeloom_time::Time;
/// use timeloom_trace::{MessageTrackingTag, Moment, Received, Tracker, TrackerOptions};
///
/// let tracker = Tracker::new("/NodeC", TrackerOptions::default());
/// let (a, b) = (tracker.input("/topic_a"), tracker.input("/topic_b"));
/// let output = tracker.output("/topic_c");
///
/// let at = |seconds: i64| Moment::from_nanos(seconds * 1_000_000_000, seconds * 1_000_000_000);
/// let stamp = |seconds: i64| Some(Time::from_nanos(seconds * 1_000_000_000));
/// a.received(Received { at: at(2), stamp: stamp(1) });
/// b.received(Received { at: at(4), stamp: stamp(3) });
///
/// let mut payload = Vec::new();
/// output.tag(at(6), stamp(5), &mut payload);
/// let tag = MessageTrackingTag::decode(&payload)?;
/// assert_eq!(tag.output.topic, "/topic_c");
/// assert_eq!(tag.inputs.len(), 2);
/// # Ok::<_, timeloom_trace::Error>(())
/// ```
#[derive(Debug)]
pub struct Tracker {
    pub(super) node: Box<str>,
    pub(super) options: TrackerOptions,
    pub(super) enabled: Arc<AtomicBool>,
    inputs: RwLock<Inputs>,
}

/// The inputs by name, in the order of TILDE's lists, and by number.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) by_name: Vec<Arc<TrackedInput>>,
    pub(super) by_number: Vec<Arc<TrackedInput>>,
}

impl Tracker {
    /// A tracker for the node of that full name, switched on.
    pub fn new(node: &str, options: TrackerOptions) -> Arc<Self> {
        Arc::new(Self {
            node: node.into(),
            options,
            enabled: Arc::new(AtomicBool::new(true)),
            inputs: RwLock::default(),
        })
    }

    /// The full name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Switches tracking on or off, immediately and completely: while it is off, no message is recorded and no tag is
    /// written.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::Relaxed);
    }

    /// Whether tracking is on.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// The input of that topic, created on the first call. Subscriptions of one topic share it.
    pub fn input(&self, topic: &str) -> Arc<TrackedInput> {
        let mut inputs = self.inputs.write().unwrap_or_else(PoisonError::into_inner);
        let place = inputs
            .by_name
            .binary_search_by(|input| input.topic().cmp(topic));
        match place {
            Ok(index) => Arc::clone(&inputs.by_name[index]),
            Err(index) => {
                let number = u32::try_from(inputs.by_number.len()).unwrap_or(u32::MAX);
                let enabled = Arc::clone(&self.enabled);
                let input = TrackedInput::new(number, topic, self.options.messages, enabled);
                let input = Arc::new(input);
                inputs.by_name.insert(index, Arc::clone(&input));
                inputs.by_number.push(Arc::clone(&input));
                input
            }
        }
    }

    /// An output on that topic. Each has its own sequence numbers, also two on one topic.
    pub fn output(self: &Arc<Self>, topic: &str) -> TrackedOutput {
        TrackedOutput::new(Arc::clone(self), topic)
    }

    /// The message of a topic with this stamp as an input; if it is no longer kept, only its stamp is known. `None` if
    /// the node has no such input.
    pub fn find(&self, topic: &str, stamp: Time<Ros>, now: Moment) -> Option<Used> {
        let inputs = self.read();
        let place = inputs
            .by_name
            .binary_search_by(|input| input.topic().cmp(topic));
        let input = inputs.by_name.get(place.ok()?)?;
        let remembered = input
            .find(stamp)
            .filter(|received| self.remembers(received, now));
        let received = remembered.unwrap_or(Received {
            at: Moment::UNKNOWN,
            stamp: Some(stamp),
        });
        Some(Used {
            input: input.number,
            received,
        })
    }

    fn remembers(&self, received: &Received, now: Moment) -> bool {
        self.options
            .retention
            .is_none_or(|retention| now.steady - received.at.steady <= retention)
    }

    pub(super) fn read(&self) -> std::sync::RwLockReadGuard<'_, Inputs> {
        self.inputs.read().unwrap_or_else(PoisonError::into_inner)
    }
}
