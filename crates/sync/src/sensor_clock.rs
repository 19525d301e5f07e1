//! The clock of a device as the host sees it: samples go in, host times come out.

use std::collections::VecDeque;

use timeloom_time::{Steady, Time};

use crate::bound_tracker::BoundTracker;
use crate::delay_envelope::{DelayEnvelope, Refinement};
use crate::device_time::DeviceTime;
use crate::error::Result;
use crate::estimator::{DeviceStatus, Estimator, Maturity, Outcome, Vetting};
use crate::event::{EventKind, Reason, SyncEvent};
use crate::hidden_move::HiddenMove;
use crate::limit_watch::LimitWatch;
use crate::limits::Limits;
use crate::mapped::{Health, Mapped};
use crate::order::Order;
use crate::sample::Sample;
use crate::suspicion::{Judgement, Origin, Suspicion};

mod conversion;
mod watching;

/// Offsets that jump by less are delays; by more, perhaps clocks.
const STEP: f64 = 100e6;
/// The largest number of events that wait; the oldest are dropped.
const MOST_EVENTS: usize = 256;

/// Counts of samples; every dropped sample is counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples that were used.
    pub samples: u64,
    /// Of these, samples that the estimator left out by its own rules.
    pub ignored: u64,
    /// Samples that contradicted all others and were left out.
    pub outliers: u64,
    /// Samples with the device stamp of the one before.
    pub duplicates: u64,
    /// Samples older than the newest of their kind.
    pub late: u64,
    /// Events that were dropped because they were not taken in time.
    pub events_lost: u64,
}

/// The state of a sensor clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagnostics {
    /// The newest device time, on the host's clock.
    pub newest: Mapped,
    /// Host minus device time, in nanoseconds.
    pub offset_ns: i64,
    /// The rate of the host's clock against the device's, in ppm above one.
    pub skew_ppm: f64,
    /// Counts of samples.
    pub counters: Counters,
}

/// Whether the clock that stamps samples may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HostStamps {
    /// It may be set: system time, or an unknown clock.
    #[default]
    MayStep,
    /// It is never set: a steady clock.
    Steady,
}

/// Whether the clock of the device may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceClock {
    /// It may be set, by a little or by hours.
    #[default]
    MayBeSet,
    /// It counts from the start of the device, and only a restart sets it.
    Counter,
}

/// The assessment of the newest sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It counts.
    None,
    /// It counts, but it is one of a row of late ones.
    Late,
    /// It does not count yet.
    Withheld,
}

/// Number of times that earlier samples were discarded within epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Breaks {
    /// Bounds of before were given up.
    pub(crate) given_up: u32,
    /// The rate changed at once.
    pub(crate) rates: u32,
}

/// The clock of a device as the host sees it.
///
/// It adds to an [`Estimator`] what every one needs: hard bounds, health, epochs and events, host times that never go
/// back within an epoch, and the difference between a bad stamp, a stall and a clock that jumped.
/// It reads no clock, starts no thread and its memory is bounded; the same samples give the same results.
/// All host times are steady; see [`ClockPair`](crate::ClockPair) for ROS and system time.
///
/// ```
/// use timeloom_sync::{DeviceTime, Health, PassiveSample, Sample, SensorClock};
/// use timeloom_time::Time;
///
/// // A device sends 100 packets per second; each takes at least 2 ms.
/// let mut clock = SensorClock::default();
/// for packet in 0..1_000 {
///     let event = DeviceTime::from_nanos(packet * 10_000_000);
///     let delay = 2_000_000 + packet % 7 * 50_000;
///     let arrival = Time::from_nanos(event.nanos() + delay);
///     clock.push(&Sample::Passive(PassiveSample::new(event, arrival)))?;
/// }
/// let mapped = clock.convert(DeviceTime::from_nanos(10_000_000_000)).expect("there are samples");
/// assert_eq!(mapped.health, Health::Locked);
/// // The event, plus the smallest delay, which packets alone cannot show.
/// assert!((mapped.host.nanos() - 10_002_000_000).abs() < 50_000);
/// # Ok::<(), timeloom_sync::Error>(())
/// ```
#[derive(Debug)]
pub struct SensorClock {
    estimator: Box<dyn Estimator>,
    watch: LimitWatch,
    host_stamps: HostStamps,
    device_clock: DeviceClock,
    bounds: BoundTracker,
    suspicion: Suspicion,
    epoch: u32,
    /// Newest stamps: of packets, of requests; of the host.
    newest_packet: Option<i64>,
    newest_request: Option<i64>,
    newest_host: Option<Time<Steady>>,
    /// The usual time between two samples, in seconds.
    cadence: Option<f64>,
    /// The conversions of this epoch.
    order: Order,
    events: VecDeque<SyncEvent>,
    counters: Counters,
    /// Distance of a withheld sample from the estimate, in nanoseconds.
    mismatch: f64,
    /// Whether the newest sample is later than usual: a stall, a longer path, or a clock that was just set.
    newest_is_late: bool,
    /// Whether the path is longer than it was, or a clock was set by as much: samples cannot show which.
    is_ambiguous: bool,
    /// Whether the path became longer in this epoch: it may change again.
    has_shifted: bool,
    /// The largest undetected movement of the clocks.
    hidden: HiddenMove,
    /// The device time of the newest sample that contradicted bounds of before.
    contradicted: Option<i64>,
    breaks: Breaks,
}

impl Default for SensorClock {
    /// The default estimator with the default limits.
    fn default() -> Self {
        let limits = Limits::default();
        let estimator = DelayEnvelope::new(&limits, Refinement::Curve);
        Self::new(Box::new(estimator), limits)
    }
}

impl SensorClock {
    /// A clock without samples.
    pub fn new(estimator: Box<dyn Estimator>, limits: Limits) -> Self {
        Self {
            estimator,
            bounds: BoundTracker::new(&limits),
            watch: LimitWatch::new(&limits),
            host_stamps: HostStamps::MayStep,
            device_clock: DeviceClock::MayBeSet,
            suspicion: Suspicion::default(),
            epoch: 0,
            newest_packet: None,
            newest_request: None,
            newest_host: None,
            cadence: None,
            order: Order::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            mismatch: 0.0,
            newest_is_late: false,
            is_ambiguous: false,
            has_shifted: false,
            hidden: HiddenMove::default(),
            contradicted: None,
            breaks: Breaks::default(),
        }
    }

    /// Sets whether the clock that stamps samples may be set.
    ///
    /// If neither this clock nor that of the device can be set, a longer path is never a step, and bounds are narrower.
    pub const fn set_host_stamps(&mut self, host_stamps: HostStamps) {
        self.host_stamps = host_stamps;
    }

    /// Sets whether the clock of the device may be set; see [`set_host_stamps`](Self::set_host_stamps).
    pub const fn set_device_clock(&mut self, device_clock: DeviceClock) {
        self.device_clock = device_clock;
    }

    /// Whether the clock of the device may be set.
    pub const fn device_clock(&self) -> DeviceClock {
        self.device_clock
    }

    /// Whether one of the two clocks may be set.
    fn may_step(&self) -> bool {
        self.host_stamps == HostStamps::MayStep || self.device_clock == DeviceClock::MayBeSet
    }

    /// Adds a sample; samples come in the order of arrival.
    ///
    /// # Errors
    ///
    /// [`Error::StampOutOfRange`](crate::Error::StampOutOfRange),
    /// [`Error::AnswerBeforeRequest`](crate::Error::AnswerBeforeRequest) or
    /// [`Error::SentBeforeEvent`](crate::Error::SentBeforeEvent) for invalid samples; nothing changes then.
    pub fn push(&mut self, sample: &Sample) -> Result<()> {
        sample.check()?;
        self.counters.samples += 1;
        self.note_gap(sample);
        let estimate = self.watch_stamp(sample);
        let look = self.look(sample, estimate);
        let (device, host) = (stamp(sample).nanos(), sample.host_rx().nanos());
        let origin = match sample {
            Sample::Passive(_) => Origin::Packet,
            Sample::Active(_) => Origin::Request,
        };
        let judgement = self.suspicion.judge(look, origin, (device, host), STEP);
        match (judgement, self.estimator.vetting()) {
            (Judgement::Withhold, Vetting::Full) => {
                self.counters.outliers += 1;
                self.bounds.see(sample);
            }
            (Judgement::Withhold, Vetting::None) => {
                self.estimate_with(sample);
                self.bounds.see(sample);
            }
            (Judgement::Use { outliers }, _) => {
                if outliers > 0 {
                    self.tell(EventKind::Outliers { count: outliers }, sample);
                }
                self.mismatch = 0.0;
                self.check_bounds(sample);
                self.feed(sample);
                self.watch_skew(sample);
            }
            (Judgement::Jumped(reason), vetting) => {
                self.bounds.restart();
                (self.newest_packet, self.newest_request) = (None, None);
                if vetting == Vetting::Full {
                    self.estimator.restart();
                    self.begin_epoch(reason, sample);
                }
                self.feed(sample);
            }
        }
        Ok(())
    }

    /// Adds the status of the device, before the sample that came with it.
    pub fn status(&mut self, status: DeviceStatus, sample: &Sample) {
        if let Outcome::Restarted(reason) = self.estimator.status(status) {
            self.begin_epoch(reason, sample);
        }
    }

    /// Forgets everything and begins a new epoch.
    pub fn restart(&mut self) {
        self.estimator.restart();
        self.bounds.restart();
        self.suspicion = Suspicion::default();
        (self.newest_packet, self.newest_request) = (None, None);
        self.forget_epoch();
        self.epoch = self.epoch.wrapping_add(1);
        self.keep(SyncEvent {
            kind: EventKind::NewEpoch {
                epoch: self.epoch,
                reason: Reason::Requested,
            },
            device: DeviceTime::default(),
            host_rx: self.newest_host.unwrap_or_default(),
        });
    }

    /// The quality of conversions of the newest device times.
    pub fn health(&self) -> Health {
        self.newest_device()
            .map_or(Health::Unsynced, |device| self.health_at(device))
    }

    /// The number of the current epoch, from zero.
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The limits in use: as configured, or raised by samples.
    pub const fn limits(&self) -> &Limits {
        self.watch.limits()
    }

    /// Number of times that earlier samples were discarded.
    pub(crate) const fn breaks(&self) -> Breaks {
        self.breaks
    }

    /// Whether the newest sample agrees with those before.
    pub(crate) fn is_consistent(&self) -> bool {
        let in_doubt = self.estimator.maturity() == Maturity::Doubtful;
        !(self.suspicion.is_open() || in_doubt || self.newest_is_late)
    }

    /// The estimator behind.
    pub fn estimator(&self) -> &dyn Estimator {
        &*self.estimator
    }

    /// The assessment of the newest sample.
    pub(crate) const fn doubt(&self) -> Doubt {
        self.suspicion.doubt()
    }

    /// Counts of samples.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The oldest event that was not taken yet.
    pub fn take_event(&mut self) -> Option<SyncEvent> {
        self.events.pop_front()
    }

    /// The state for a diagnostics message or a table; none before the first sample.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        let device = self.newest_device()?;
        let newest = self.peek(device)?;
        Some(Diagnostics {
            offset_ns: newest.host.nanos().saturating_sub(device.nanos()),
            newest,
            skew_ppm: self.estimator.skew_ppm().unwrap_or(0.0),
            counters: self.counters,
        })
    }

    /// An upper limit of the memory held now, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.estimator.memory()
            + self.bounds.memory()
            + self.events.capacity() * size_of::<SyncEvent>()
    }

    fn newest_device(&self) -> Option<DeviceTime> {
        let newest = self.newest_packet.max(self.newest_request)?;
        Some(DeviceTime::from_nanos(newest))
    }

    fn feed(&mut self, sample: &Sample) {
        self.bounds.take(sample);
        let device = stamp(sample).nanos();
        let newest = self.newest_of_kind(sample);
        *newest = Some(newest.map_or(device, |newest| newest.max(device)));
        self.estimate_with(sample);
    }

    fn estimate_with(&mut self, sample: &Sample) {
        let outcome = match sample {
            Sample::Passive(sample) => self.estimator.passive(sample),
            Sample::Active(sample) => self.estimator.active(sample),
        };
        if matches!(sample, Sample::Active(_)) && !matches!(outcome, Outcome::TooSlow(_)) {
            self.watch.quick_request();
        }
        match outcome {
            Outcome::Used => {}
            Outcome::Ignored => self.counters.ignored += 1,
            Outcome::Restarted(reason) => self.begin_epoch(reason, sample),
            Outcome::PathShift(extra) => self.shift_path(extra, sample),
            Outcome::RateChange => {
                self.watch.restart();
                self.give_up_bounds(sample);
                self.breaks.rates = self.breaks.rates.wrapping_add(1);
                self.tell(EventKind::RateChange, sample);
            }
            Outcome::DriftExceeded => {
                let reached = self.watch.drift();
                self.use_limits(reached, sample);
            }
            Outcome::TooSlow(took) => {
                self.counters.ignored += 1;
                let reached = self.watch.slow_request(took);
                self.use_limits(reached, sample);
            }
        }
        self.is_ambiguous &= !self.estimator.extra_delay().is_zero();
    }

    fn newest_of_kind(&mut self, sample: &Sample) -> &mut Option<i64> {
        match sample {
            Sample::Passive(_) => &mut self.newest_packet,
            Sample::Active(_) => &mut self.newest_request,
        }
    }

    fn forget_epoch(&mut self) {
        self.order = Order::default();
        self.mismatch = 0.0;
        self.is_ambiguous = false;
        self.has_shifted = false;
        self.contradicted = None;
        self.watch.restart();
    }

    fn begin_epoch(&mut self, reason: Reason, sample: &Sample) {
        self.epoch = self.epoch.wrapping_add(1);
        self.forget_epoch();
        let epoch = self.epoch;
        self.tell(EventKind::NewEpoch { epoch, reason }, sample);
    }

    fn tell(&mut self, kind: EventKind, sample: &Sample) {
        self.keep(SyncEvent {
            kind,
            device: sample.device(),
            host_rx: sample.host_rx(),
        });
    }

    fn keep(&mut self, event: SyncEvent) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
            self.counters.events_lost += 1;
        }
        self.events.push_back(event);
    }
}

/// The device stamp that an estimator pairs with the host's.
fn stamp(sample: &Sample) -> DeviceTime {
    match sample {
        Sample::Passive(sample) => sample.device_stamp(),
        Sample::Active(sample) => sample.device,
    }
}
