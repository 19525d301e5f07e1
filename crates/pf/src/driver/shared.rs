use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{CancelToken, Clock, Event, Steady, Time, TimeBase};

use super::event::LidarEvent;
use super::sink::LidarSink;
use super::status::LidarStatus;
use super::trouble_log::TroubleLog;
use crate::error::{Error, Result};
use crate::lidar_clock::LidarClock;
use crate::scan_assembler::ScanAssembler;
use crate::settings::LidarSettings;

/// State behind one lock.
pub(super) struct Work {
    pub(super) assembler: ScanAssembler,
    pub(super) clock: LidarClock,
    pub(super) status: LidarStatus,
    pub(super) troubles: TroubleLog,
}

/// State shared by the threads of a driver.
pub(super) struct Shared {
    settings: Mutex<Arc<LidarSettings>>,
    pub(super) base: TimeBase,
    pub(super) clock: Clock<Steady>,
    pub(super) cancel: CancelToken,
    /// Set when the control thread has something to look at.
    pub(super) wake: Event,
    pub(super) sink: Arc<dyn LidarSink>,
    work: Mutex<Work>,
    last_packet: AtomicI64,
    data_error: Mutex<Option<Error>>,
}

impl Shared {
    pub(super) fn new(
        settings: LidarSettings,
        base: &TimeBase,
        sink: Arc<dyn LidarSink>,
    ) -> Result<Self> {
        let work = Work {
            assembler: ScanAssembler::new(settings.skip_scans),
            clock: LidarClock::new(&settings.timesync)?,
            status: LidarStatus::default(),
            troubles: TroubleLog::default(),
        };
        Ok(Self {
            settings: Mutex::new(Arc::new(settings)),
            base: base.clone(),
            clock: Clock::on(base),
            cancel: CancelToken::new(),
            wake: Event::new(base),
            sink,
            work: Mutex::new(work),
            last_packet: AtomicI64::new(0),
            data_error: Mutex::default(),
        })
    }

    /// The current settings.
    pub(super) fn settings(&self) -> Arc<LidarSettings> {
        Arc::clone(&lock(&self.settings))
    }

    /// Changes the settings and wakes the control thread.
    pub(super) fn set_settings(&self, settings: LidarSettings) {
        *lock(&self.settings) = Arc::new(settings);
        self.wake.set();
    }

    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        lock(&self.work)
    }

    pub(super) fn event(&self, event: &LidarEvent) {
        self.sink.event(event);
    }

    /// Emits the events of the clock estimate since the last call.
    pub(super) fn report_sync_events(&self) {
        loop {
            let event = self.work().clock.take_event();
            match event {
                Some(event) => self.event(&LidarEvent::Sync(event)),
                None => return,
            }
        }
    }

    pub(super) fn note_packet(&self, at: Time<Steady>) {
        self.last_packet.store(at.nanos(), Ordering::Relaxed);
    }

    pub(super) fn last_packet(&self) -> Option<Time<Steady>> {
        let nanos = self.last_packet.load(Ordering::Relaxed);
        (nanos != 0).then(|| Time::from_nanos(nanos))
    }

    /// The packet connection failed.
    pub(super) fn data_failed(&self, error: Error) {
        *lock(&self.data_error) = Some(error);
        self.wake.set();
    }

    pub(super) fn take_data_error(&self) -> Option<Error> {
        lock(&self.data_error).take()
    }

    pub(super) fn status(&self) -> LidarStatus {
        let work = self.work();
        LidarStatus {
            scans: *work.assembler.counters(),
            clock: work.clock.report(),
            ..work.status.clone()
        }
    }
}
