use std::fmt;
use std::sync::Arc;

use crate::kind::Ros;
use crate::time::Time;
use crate::time_hub::Hub;

/// Brings time from somewhere else: a topic, shared memory, a socket, a lock-step partner.
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
    /// Who this is; two ids at work at a time are reported.
    fn id(&self) -> SourceId;

    /// Begins to put time into the sink, from a thread of its own or from a receive path.
    ///
    /// # Errors
    /// When it cannot: no such topic, no such device.
    fn start(&mut self, sink: ClockSink) -> std::io::Result<()>;

    /// Puts no more time into the sink after this returns.
    fn stop(&mut self);
}

/// Who sends time: a name for people and the bytes that tell one sender from another (a writer's GUID).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
}

/// Where one source puts its time; see [`TimeHub::sink`](crate::TimeHub::sink).
#[derive(Clone)]
pub struct ClockSink {
    hub: Arc<Hub>,
    source: SourceId,
}

impl ClockSink {
    pub(crate) fn new(hub: Arc<Hub>, source: SourceId) -> Self {
        Self { hub, source }
    }

    /// It is `time` now. When this returns, all attached clocks show it and their jump handlers were called.
    pub fn tick(&self, time: Time<Ros>) {
        self.hub.tick(&self.source, time, None);
    }

    /// Like [`tick`](Self::tick), with the sample's sequence number: a sample that the transport delivers
    /// late, after a newer one of this source, is dropped and reported.
    pub fn tick_numbered(&self, time: Time<Ros>, sequence: u64) {
        self.hub.tick(&self.source, time, Some(sequence));
    }
}

impl fmt::Debug for ClockSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClockSink({})", self.source.name)
    }
}
