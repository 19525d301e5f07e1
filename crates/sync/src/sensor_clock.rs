//! The clock of a device as the host sees it: samples go in, host times come out.

use std::collections::VecDeque;

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::bound_tracker::{BoundTracker, Trust};
use crate::delay_envelope::{DelayEnvelope, Refinement};
use crate::device_time::{DeviceTime, check_stamp};
use crate::error::Result;
use crate::estimator::{DeviceStatus, Estimator, Maturity, Outcome, Vetting};
use crate::event::{EventKind, Reason, SyncEvent};
use crate::limits::Limits;
use crate::line::{nanos_between, seconds_between};
use crate::mapped::{Health, Mapped};
use crate::sample::Sample;
use crate::suspicion::{Judgement, Look, Suspicion};

/// Offsets that jump by less are delays; by more, perhaps clocks.
const STEP: f64 = 100e6;
/// The same for an estimate that has settled, if samples come too early, which no delay explains.
const EARLY_STEP: f64 = 10e6;
/// The same if they are too late, all by the same.
const LATE_STEP: f64 = 20e6;
/// An estimate that is not sure is given so many of its deviations.
const UNSURE: f64 = 30.0;
/// The same before the estimate has settled: the first packet may have been in a stall.
const FIRST_STEP: f64 = 500e6;
/// A stamp may be older than the newest of its kind by so many seconds before the clock went back.
const LATE_PACKET: f64 = 0.2;
/// Seconds without a sample that are worth an event, unless samples are rare.
const GAP: f64 = 1.0;
/// Seconds of device time beyond the newest sample from which on it is holdover, unless samples are rare.
const HOLDOVER: f64 = 2.0;
/// So many times the usual time between two samples is a gap.
const USUAL_GAP: f64 = 3.5;
/// The weight of a sample in the usual time.
const CADENCE_GAIN: f64 = 0.1;
/// Events that nobody takes are dropped from here on, the oldest first.
const MOST_EVENTS: usize = 256;

/// How many samples did what; nothing is left out without being counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples that were taken in.
    pub samples: u64,
    /// Of these, samples that the estimator left out by its own rules.
    pub ignored: u64,
    /// Samples that contradicted all others and were left out.
    pub outliers: u64,
    /// Samples with the device stamp of the one before.
    pub duplicates: u64,
    /// Samples older than the newest of their kind.
    pub late: u64,
    /// Events that nobody took in time.
    pub events_lost: u64,
}

/// What there is to say about a sensor clock at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagnostics {
    /// The newest device time, on the host's clock.
    pub newest: Mapped,
    /// Host minus device time, in nanoseconds.
    pub offset_ns: i64,
    /// How fast the host's clock runs against the device's, in ppm above one.
    pub skew_ppm: f64,
    /// How many samples did what.
    pub counters: Counters,
}

/// What is thought of the newest sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It counts.
    None,
    /// It counts, but it is one of a row of late ones.
    Late,
    /// It does not count yet.
    Withheld,
}

/// The clock of a device as the host sees it.
///
/// It adds to an [`Estimator`] what every one needs: hard bounds, health, epochs and events, host times that never go
/// back within an epoch, and the difference between a bad stamp, a stall and a clock that jumped.
/// It reads no clock, starts no thread and its memory is bounded; the same samples give the same results.
/// All host times are steady; see [`ClockPair`](crate::ClockPair) for ROS and system time.
#[derive(Debug)]
pub struct SensorClock {
    estimator: Box<dyn Estimator>,
    limits: Limits,
    bounds: BoundTracker,
    suspicion: Suspicion,
    epoch: u32,
    /// Newest stamps: of packets, of requests; of the host.
    newest_packet: Option<i64>,
    newest_request: Option<i64>,
    newest_host: Option<Time<Steady>>,
    /// The usual time between two samples, in seconds.
    cadence: Option<f64>,
    /// The last conversion of this epoch.
    converted: Option<(DeviceTime, Time<Steady>)>,
    events: VecDeque<SyncEvent>,
    counters: Counters,
    /// How far a withheld sample was off, in nanoseconds.
    mismatch: f64,
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
    /// A clock that knows nothing yet.
    pub fn new(estimator: Box<dyn Estimator>, limits: Limits) -> Self {
        Self {
            estimator,
            bounds: BoundTracker::new(&limits),
            limits,
            suspicion: Suspicion::default(),
            epoch: 0,
            newest_packet: None,
            newest_request: None,
            newest_host: None,
            cadence: None,
            converted: None,
            events: VecDeque::new(),
            counters: Counters::default(),
            mismatch: 0.0,
        }
    }

    /// Takes a sample, in the order of arrival.
    ///
    /// # Errors
    ///
    /// [`Error::StampOutOfRange`](crate::Error::StampOutOfRange),
    /// [`Error::AnswerBeforeRequest`](crate::Error::AnswerBeforeRequest) or
    /// [`Error::SentBeforeEvent`](crate::Error::SentBeforeEvent) for what cannot be; nothing changes then.
    pub fn push(&mut self, sample: &Sample) -> Result<()> {
        sample.check()?;
        self.counters.samples += 1;
        self.note_gap(sample);
        let look = self.look(sample);
        let (device, host) = (stamp(sample).nanos(), sample.host_rx().nanos());
        let judgement = self.suspicion.judge(look, device, host, STEP);
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
                self.feed(sample);
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

    /// Takes what the device says about itself, before the sample that came with it.
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
        self.converted = None;
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

    /// The host time of a device time; none before the first sample of an epoch.
    ///
    /// Within an epoch, a later device time never gives an earlier host time than the conversion before.
    pub fn convert(&mut self, device: DeviceTime) -> Option<Mapped> {
        let mut mapped = self.peek(device)?;
        if let Some((last_device, last_host)) = self.converted {
            mapped.host = if device >= last_device {
                mapped.host.max(last_host)
            } else {
                mapped.host.min(last_host)
            };
        }
        if self.estimator.vetting() == Vetting::Full {
            // Not going back comes first; the bounds still hold, and hold the result.
            mapped.bounds = mapped.bounds.widened_to(mapped.host);
        }
        self.converted = Some((device, mapped.host));
        Some(mapped)
    }

    /// The same as [`convert`](Self::convert), but it neither regards nor remembers the conversion before.
    pub fn peek(&self, device: DeviceTime) -> Option<Mapped> {
        check_stamp("device", device.nanos()).ok()?;
        let estimate = self.estimator.estimate(device)?;
        let trust = if self.suspicion.is_open() {
            Trust::Newest
        } else {
            Trust::All
        };
        let bounds = self.bounds.bounds(device, trust);
        let mut host = estimate.host;
        if trust == Trust::All && self.estimator.vetting() == Vetting::Full {
            host = bounds.upper.map_or(host, |upper| host.min(upper));
            host = bounds.lower.map_or(host, |lower| host.max(lower));
        }
        let sigma = estimate.sigma.nanos().max(whole_nanos(self.mismatch));
        Some(Mapped {
            host,
            sigma: Duration::from_nanos(sigma),
            bounds: match self.estimator.vetting() {
                Vetting::Full => bounds.widened_to(host),
                Vetting::None => bounds,
            },
            health: self.health_at(device),
            epoch: self.epoch,
        })
    }

    /// How far conversions of the newest device times can be trusted.
    pub fn health(&self) -> Health {
        self.newest_device()
            .map_or(Health::Unsynced, |device| self.health_at(device))
    }

    /// The number of the current epoch, from zero.
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What both clocks are believed to keep to.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The estimator behind.
    pub fn estimator(&self) -> &dyn Estimator {
        &*self.estimator
    }

    /// What is thought of the newest sample.
    pub(crate) const fn doubt(&self) -> Doubt {
        self.suspicion.doubt()
    }

    /// How many samples did what.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The oldest event that was not taken yet.
    pub fn take_event(&mut self) -> Option<SyncEvent> {
        self.events.pop_front()
    }

    /// Everything for a diagnostics message or a table; none before the first sample.
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
        match outcome {
            Outcome::Used => {}
            Outcome::Ignored => self.counters.ignored += 1,
            Outcome::Restarted(reason) => self.begin_epoch(reason, sample),
            Outcome::PathShift(extra) => self.tell(EventKind::PathShift { extra }, sample),
        }
    }

    fn newest_of_kind(&mut self, sample: &Sample) -> &mut Option<i64> {
        match sample {
            Sample::Passive(_) => &mut self.newest_packet,
            Sample::Active(_) => &mut self.newest_request,
        }
    }

    /// How a sample looks beside what is known.
    fn look(&mut self, sample: &Sample) -> Look {
        let device = stamp(sample);
        let newest = *self.newest_of_kind(sample);
        let ahead = newest.map_or(f64::INFINITY, |newest| {
            seconds_between(newest, device.nanos())
        });
        let Some(estimate) = self.estimator.estimate(device) else {
            return Look::Usual;
        };
        let unsure = UNSURE * estimate.sigma.nanos() as f64;
        let (early_step, late_step) = match self.estimator.maturity() {
            Maturity::Settled if self.estimator.vetting() == Vetting::Full => (
                EARLY_STEP.max(unsure).min(STEP),
                LATE_STEP.max(unsure).min(STEP),
            ),
            Maturity::Settled | Maturity::Doubtful => (STEP, STEP),
            _ => (FIRST_STEP, FIRST_STEP),
        };
        // After a silence the clocks may have drifted apart.
        let newest = self.newest_device().unwrap_or(device);
        let unknown = device.since(newest).as_secs_f64().max(0.0) * self.limits.skew_ppm * 1e3;
        let (tx, rx) = match sample {
            Sample::Passive(sample) => (sample.host_rx, sample.host_rx),
            Sample::Active(sample) => (sample.host_tx, sample.host_rx),
        };
        let early = nanos_between(rx.nanos(), estimate.host.nanos()) - unknown;
        let late = nanos_between(estimate.host.nanos(), tx.nanos()) - unknown;
        if ahead < -LATE_PACKET && late > late_step.max(STEP) {
            self.mismatch = late;
            return Look::Backwards;
        }
        self.counters.duplicates += u64::from(ahead == 0.0);
        self.counters.late += u64::from(ahead < 0.0);
        if early > early_step || self.bounds.contradicts(sample) {
            self.mismatch = early.abs().max(late.abs());
            Look::Impossible
        } else if late > late_step {
            Look::Late(whole_nanos(late))
        } else {
            Look::Usual
        }
    }

    fn note_gap(&mut self, sample: &Sample) {
        let host = sample.host_rx();
        if let Some(newest) = self.newest_host {
            let silence = host - newest;
            let seconds = silence.as_secs_f64().max(0.0);
            if self.cadence.is_some() && seconds > GAP.max(self.rare()) {
                self.tell(EventKind::Gap { silence }, sample);
            }
            let usual = self.cadence.unwrap_or(seconds);
            // A gap is no new cadence, but many of them are.
            let change = seconds.min(4.0 * usual + 1e-3) - usual;
            self.cadence = Some(usual + CADENCE_GAIN * change);
        }
        self.newest_host = Some(self.newest_host.map_or(host, |newest| newest.max(host)));
    }

    /// Seconds that are much longer than the usual time between two samples.
    fn rare(&self) -> f64 {
        USUAL_GAP * self.cadence.unwrap_or(0.0)
    }

    fn health_at(&self, device: DeviceTime) -> Health {
        let newest = self.newest_device().unwrap_or_default();
        match self.estimator.maturity() {
            Maturity::Empty => Health::Unsynced,
            _ if self.suspicion.is_serious() => Health::Degraded,
            Maturity::Settling => Health::Converging,
            Maturity::Doubtful => Health::Degraded,
            Maturity::Settled => {
                let ahead = device.since(newest).as_secs_f64();
                if ahead > HOLDOVER.max(self.rare()) {
                    Health::Holdover
                } else {
                    Health::Locked
                }
            }
        }
    }

    fn begin_epoch(&mut self, reason: Reason, sample: &Sample) {
        self.epoch = self.epoch.wrapping_add(1);
        self.converted = None;
        self.mismatch = 0.0;
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
