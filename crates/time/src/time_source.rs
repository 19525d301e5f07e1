use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::hub::{Handlers, Hub};
use crate::kind::Ros;
use crate::time::Time;

/// A source of time: a topic, shared memory, a socket, a lock-step partner.
///
/// ```
/// use timeloom_time::{ClockSink, SourceId, Time, TimeBase, TimeHub, TimeSource};
/// struct Fixed;
/// impl TimeSource for Fixed {
///     fn id(&self) -> SourceId { SourceId::named("fixed") }
///     fn start(&mut self, sink: ClockSink) -> std::io::Result<()> {
///         sink.tick(Time::from_nanos(42));
///         Ok(())
///     }
///     fn stop(&mut self) {}
/// }
/// let hub = TimeHub::new(&TimeBase::machine());
/// let clock = hub.clock();
/// hub.set_source(Box::new(Fixed))?;
/// hub.activate();
/// assert_eq!(clock.now().nanos(), 42);
/// # std::io::Result::Ok(())
/// ```
pub trait TimeSource: Send {
    /// The identity of this source; two active identities are reported.
    fn id(&self) -> SourceId;

    /// Starts to send time to the sink, from its own thread or from a receive path.
    ///
    /// # Errors
    /// When it cannot: no such topic, no such device.
    fn start(&mut self, sink: ClockSink) -> std::io::Result<()>;

    /// Sends no more time to the sink after this returns.
    fn stop(&mut self);
}

/// The identity of a time source: a name for people, and bytes that are unique per sender (a writer's GUID).
///
/// ```
/// use timeloom_time::SourceId;
/// assert_eq!(SourceId::new("?", [7; 16]), SourceId::new("/player", [7; 16]), "the GUID decides");
/// assert_ne!(SourceId::named("gazebo"), SourceId::named("player"), "or else the name");
/// ```
#[derive(Clone, Debug)]
pub struct SourceId {
    name: Arc<str>,
    gid: [u8; 16],
}

impl SourceId {
    /// A source that its name identifies.
    pub fn named(name: &str) -> Self {
        Self::new(name, [0; 16])
    }

    /// A source that its GUID identifies.
    pub fn new(name: &str, gid: [u8; 16]) -> Self {
        Self {
            name: name.into(),
            gid,
        }
    }

    /// The name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes to compare: the GUID, or the name of a source without one.
    fn key(&self) -> ([u8; 16], Option<&str>) {
        (self.gid, (self.gid == [0; 16]).then_some(&*self.name))
    }
}

impl PartialEq for SourceId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for SourceId {}

impl Hash for SourceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// Takes the samples of one source; see [`TimeHub::sink`](crate::TimeHub::sink).
#[derive(Clone)]
pub struct ClockSink {
    hub: Arc<Hub>,
    source: SourceId,
}

impl ClockSink {
    pub(crate) fn new(hub: Arc<Hub>, source: SourceId) -> Self {
        Self { hub, source }
    }

    /// It is `time` now. When this returns, all attached clocks show it and their jump handlers were called; a handler
    /// that hangs is abandoned after its clock's patience.
    pub fn tick(&self, time: Time<Ros>) {
        self.put(time, None, Handlers::Awaited);
    }

    /// Like [`tick`](Self::tick), with the sample's sequence number: a sample that the transport delivers
    /// late, after a newer one of this source, is dropped and reported.
    pub fn tick_numbered(&self, time: Time<Ros>, sequence: u64) {
        self.put(time, Some(sequence), Handlers::Awaited);
    }

    /// Like [`tick`](Self::tick), for a thread that must not wait, such as a middleware's receive thread: never blocks,
    /// and returns before jump handlers are done. They run on another thread, and samples that are posted meanwhile
    /// follow after them.
    ///
    /// ```
    /// use timeloom_time::{SourceId, Time, TimeBase, TimeHub};
    /// let hub = TimeHub::new(&TimeBase::machine());
    /// let clock = hub.clock();
    /// hub.activate();
    /// hub.sink(SourceId::named("/clock")).post(Time::from_secs(5));
    /// assert_eq!(clock.now(), Time::from_secs(5));
    /// ```
    pub fn post(&self, time: Time<Ros>) {
        self.put(time, None, Handlers::NotAwaited);
    }

    /// Like [`post`](Self::post), with the sample's sequence number; see [`tick_numbered`](Self::tick_numbered).
    pub fn post_numbered(&self, time: Time<Ros>, sequence: u64) {
        self.put(time, Some(sequence), Handlers::NotAwaited);
    }

    fn put(&self, time: Time<Ros>, sequence: Option<u64>, handlers: Handlers) {
        self.hub.tick(&self.source, time, sequence, handlers);
    }
}

impl fmt::Debug for ClockSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClockSink({})", self.source.name)
    }
}
