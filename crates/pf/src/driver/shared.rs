use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_time::{CancelToken, Clock, Event, Steady, Time, TimeBase};

use super::event::LidarEvent;
use super::sink::LidarSink;
use super::status::LidarStatus;
use super::trouble_log::TroubleLog;
use crate::error::{Error, Result};
use crate::lidar_clock::LidarClock;
use crate::scan_assembler::ScanAssembler;
use crate::settings::LidarSettings;

/// What is worked with under one lock.
pub(super) struct Work {
    pub(super) assembler: ScanAssembler,
    pub(super) clock: LidarClock,
    pub(super) status: LidarStatus,
    pub(super) troubles: TroubleLog,
}

/// What the threads of a driver share.
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

    /// How to work with the device, from now on.
    pub(super) fn settings(&self) -> Arc<LidarSettings> {
        let settings = self.settings.lock();
        Arc::clone(&settings.unwrap_or_else(PoisonError::into_inner))
    }

    /// Works in another way; the control thread looks at it at once.
    pub(super) fn set_settings(&self, settings: LidarSettings) {
        let mut place = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(settings);
        drop(place);
        self.wake.set();
    }

    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn event(&self, event: &LidarEvent) {
        self.sink.event(event);
    }

    /// Tells what happened to the relation of the clocks since the last time.
    pub(super) fn tell_sync_events(&self) {
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

    /// The packets' way broke.
    pub(super) fn data_failed(&self, error: Error) {
        let mut place = self
            .data_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Some(error);
        drop(place);
        self.wake.set();
    }

    pub(super) fn take_data_error(&self) -> Option<Error> {
        let mut place = self
            .data_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        place.take()
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
