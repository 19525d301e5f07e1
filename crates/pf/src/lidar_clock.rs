use std::collections::VecDeque;

use timeloom_sync::{
    ActiveSample, ClockSpec, Counters, DeviceStatus, DeviceTime, EventKind, Health, Mapped,
    PassiveSample, Reason, Sample, SensorClock, SyncEvent, TickCounter,
};
use timeloom_time::{Duration, Steady, Time};

use crate::arrival::Arrival;
use crate::error::Result;
use crate::packet::Header;
use crate::scan::Scan;
use crate::ticks::ticks_of_nanos;
use crate::timesync::{TimesyncMethod, TimesyncSettings};

/// Delays that the jitter is computed from.
const DELAYS: usize = 256;
/// A first point that was measured so long after its packet arrived, or so long before, was not: the mapping is of
/// another epoch of the device's clock.
const TOO_EARLY: Duration = Duration::from_secs(10);
/// The same for points that were measured after their arrival; the time from point to point may be a little wrong.
const TOO_LATE: Duration = Duration::from_millis(100);
/// A larger step back of the device's clock is a restart.
const RESTART: Duration = Duration::from_millis(500);

/// The stamp of a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanStamp {
    /// Time of the first point on the host's steady clock.
    pub host: Time<Steady>,
    /// The estimate behind it; none if the stamp is the time of arrival.
    pub mapped: Option<Mapped>,
}

/// The state of the clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockReport {
    /// Host minus device time, in nanoseconds of the steady clock.
    pub offset_ns: i64,
    /// Growth of the offset, in ppm: positive if the device's clock is slow. The sign is that of
    /// [`Diagnostics::skew_ppm`](timeloom_sync::Diagnostics::skew_ppm).
    pub drift_ppm: f64,
    /// The deviation of the packets' delays over the last few hundred.
    pub jitter: Duration,
    /// The newest device time on the host's clock, with bounds and health.
    pub newest: Mapped,
    /// Counts of samples.
    pub counters: Counters,
}

/// The clock of a lidar as the host sees it: packets and requests in, stamps of scans out. Sans-IO.
#[derive(Debug)]
pub struct LidarClock {
    settings: TimesyncSettings,
    clock: SensorClock,
    ticks: TickCounter,
    /// The newest device time that a request or a packet has shown.
    newest: Option<DeviceTime>,
    /// Arrival minus mapped event of the last packets, in nanoseconds.
    delays: VecDeque<i64>,
    /// Whether the epoch of the device's current flags was reported.
    flags_reported: bool,
}

impl LidarClock {
    /// A clock that knows nothing yet.
    ///
    /// # Errors
    ///
    /// As [`TimesyncSettings::check`].
    pub fn new(settings: &TimesyncSettings) -> Result<Self> {
        Ok(Self {
            clock: settings.clock()?,
            settings: *settings,
            ticks: TickCounter::new(ClockSpec::NTP),
            newest: None,
            delays: VecDeque::with_capacity(DELAYS),
            flags_reported: false,
        })
    }

    /// Takes a packet; `point_period_ns` is the time from point to point.
    ///
    /// # Errors
    ///
    /// [`Error::Sync`](crate::Error::Sync) for invalid stamps; nothing changes then.
    pub fn packet(
        &mut self,
        header: &Header,
        point_period_ns: f64,
        arrival: Arrival,
    ) -> Result<()> {
        let points = f64::from(header.num_points_packet);
        let length = ticks_of_nanos(points * point_period_ns).cast_unsigned();
        let device_event = self
            .ticks
            .unwrap(header.timestamp_raw.wrapping_add(length))?;
        let iq = header
            .iq_stamps
            .filter(|iq| self.settings.send_stamps && iq.raw != 0);
        let device_tx = iq.map(|iq| self.ticks.unwrap(iq.raw)).transpose()?;
        let sample = Sample::Passive(PassiveSample {
            device_event,
            // A stamp before the last point is not of sending.
            device_tx: device_tx.filter(|tx| *tx >= device_event),
            host_rx: arrival.at,
            source: arrival.source,
        });
        if self.settings.method.uses_packets() {
            let status = header.status.device_status();
            self.flags_reported &= status == DeviceStatus::Unsettled;
            self.clock.status(status, &sample);
            self.clock.push(&sample)?;
        }
        self.note_newest(device_event);
        if let Some(mapped) = self.clock.peek(device_event) {
            if self.delays.len() == DELAYS {
                self.delays.pop_front();
            }
            self.delays.push_back((arrival.at - mapped.host).nanos());
        }
        Ok(())
    }

    /// Takes a request for the device's time and its answer.
    ///
    /// # Errors
    ///
    /// [`Error::Sync`](crate::Error::Sync) for invalid stamps; nothing changes then.
    pub fn request(&mut self, sent: Time<Steady>, raw: u64, arrival: Arrival) -> Result<()> {
        let device = self.ticks.unwrap(raw)?;
        if self.settings.method.uses_requests() {
            self.clock.push(&Sample::Active(ActiveSample {
                host_tx: sent,
                device,
                // The clocks of kernel and program are read apart: an answer is never before its question.
                host_rx: arrival.at.max(sent),
            }))?;
        }
        // One that is far behind may be wrong, or the first sign of a restart that is still to be noticed.
        if !self.is_restart(device) {
            self.note_newest(device);
        }
        Ok(())
    }

    /// Takes the device's time at the start of a connection; a new epoch begins if it was restarted meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Sync`](crate::Error::Sync) for an invalid count.
    pub fn connected(&mut self, sent: Time<Steady>, raw: u64, arrival: Arrival) -> Result<bool> {
        let device = self.ticks.unwrap(raw)?;
        let restarted = self.is_restart(device);
        if restarted {
            self.restart();
        }
        self.request(sent, raw, arrival)?;
        Ok(restarted)
    }

    /// Whether a device time is too far behind the newest one for anything but a restart.
    fn is_restart(&self, device: DeviceTime) -> bool {
        self.newest
            .is_some_and(|newest| newest.since(device) > RESTART)
    }

    fn note_newest(&mut self, device: DeviceTime) {
        // After a restart that only packets have shown, the old time must not stay the newest one.
        let newest = if self.is_restart(device) {
            None
        } else {
            self.newest
        };
        self.newest = newest.max(Some(device));
    }

    /// Works with other settings. An offset holds for the next stamp; another method begins a new epoch.
    ///
    /// # Errors
    ///
    /// As [`TimesyncSettings::check`]; nothing changes then.
    pub fn reconfigure(&mut self, settings: &TimesyncSettings) -> Result<()> {
        settings.check()?;
        let same_clock = TimesyncSettings {
            offset: self.settings.offset,
            interval: self.settings.interval,
            ..*settings
        } == self.settings;
        if !same_clock {
            let mut clock = settings.clock()?;
            // Epochs are counted on, so that stamps of two methods are not taken for one row.
            while clock.epoch() <= self.clock.epoch() {
                while clock.take_event().is_some() {}
                clock.restart();
            }
            self.clock = clock;
            self.delays.clear();
        }
        self.settings = *settings;
        Ok(())
    }

    /// Forgets everything and begins a new epoch: the device was restarted.
    pub fn restart(&mut self) {
        self.clock.restart();
        self.ticks = TickCounter::new(ClockSpec::NTP);
        self.newest = None;
        self.delays.clear();
    }

    /// The stamp of a scan: the time of its first point. Without an estimate, it is as with
    /// [`TimesyncMethod::Simple`].
    pub fn stamp(&mut self, scan: &Scan) -> ScanStamp {
        let arrival = scan.first_arrival.at.saturating_add(self.settings.offset);
        let simple = arrival.saturating_sub(scan.first_packet_time());
        let plain = |host| ScanStamp { host, mapped: None };
        match self.settings.method {
            TimesyncMethod::Off => return plain(arrival),
            TimesyncMethod::Simple => return plain(simple),
            _ => {}
        }
        match self.convert(scan.first_stamp) {
            Ok(Some(mapped)) if is_possible(&mapped, scan) => ScanStamp {
                host: mapped.host.saturating_add(self.settings.offset),
                mapped: Some(mapped),
            },
            // An invalid stamp was reported with its packet.
            Ok(_) | Err(_) => plain(simple),
        }
    }

    /// The host time of a device time; none before the first sample.
    ///
    /// # Errors
    ///
    /// [`Error::Sync`](crate::Error::Sync) for an invalid stamp.
    pub fn convert(&mut self, raw: u64) -> Result<Option<Mapped>> {
        let device = self.ticks.unwrap(raw)?;
        Ok(self.clock.convert(device))
    }

    /// The health of the estimate.
    pub fn health(&self) -> Health {
        self.clock.health()
    }

    /// The oldest event that was not taken yet.
    ///
    /// The vendor's averages restart with every packet while certain flags are set; one event is reported for all.
    pub fn take_event(&mut self) -> Option<SyncEvent> {
        loop {
            let event = self.clock.take_event()?;
            let by_flags = matches!(
                event.kind,
                EventKind::NewEpoch {
                    reason: Reason::DeviceStatus,
                    ..
                }
            );
            if !by_flags || !std::mem::replace(&mut self.flags_reported, true) {
                return Some(event);
            }
        }
    }

    /// The state of the clocks; none before the first sample.
    pub fn report(&self) -> Option<ClockReport> {
        let diagnostics = self.clock.diagnostics()?;
        Some(ClockReport {
            offset_ns: diagnostics.offset_ns,
            drift_ppm: diagnostics.skew_ppm,
            jitter: deviation(&self.delays),
            newest: diagnostics.newest,
            counters: diagnostics.counters,
        })
    }

    /// The settings that it was made with.
    pub const fn settings(&self) -> &TimesyncSettings {
        &self.settings
    }
}

/// Whether the first point of a scan can have been measured then, by the arrival of its packet. It cannot for a moment
/// after the device's clock has jumped, until the estimate has followed.
fn is_possible(mapped: &Mapped, scan: &Scan) -> bool {
    let latest = scan
        .first_arrival
        .at
        .saturating_sub(scan.first_packet_time());
    let delay = latest - mapped.host;
    -TOO_LATE <= delay && delay <= TOO_EARLY
}

fn deviation(delays: &VecDeque<i64>) -> Duration {
    let count = delays.len().max(1) as f64;
    let mean = delays.iter().map(|delay| *delay as f64).sum::<f64>() / count;
    let square = |delay: &i64| (*delay as f64 - mean).powi(2);
    let variance = delays.iter().map(square).sum::<f64>() / count;
    Duration::try_from_secs_f64(variance.sqrt() / 1e9).unwrap_or_default()
}
