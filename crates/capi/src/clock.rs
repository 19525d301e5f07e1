use timeloom_sync::{
    ActiveSample, ClockSpec, DeviceTime, PassiveSample, Sample, SensorClock, TickCounter,
};
use timeloom_time::Time;

use crate::options::TimeloomOptions;
use crate::report::TimeloomReport;
use crate::status::TimeloomStatus;
use crate::time::TimeloomTime;

/// The clock of a device as the host sees it. Used by one thread at a time.
#[derive(Debug)]
pub struct TimeloomClock {
    ticks: TickCounter,
    spec: ClockSpec,
    clock: SensorClock,
}

impl TimeloomClock {
    fn unwrap(&mut self, ticks: u64) -> Result<DeviceTime, TimeloomStatus> {
        let device = self.ticks.unwrap(ticks);
        device.map_err(|error| TimeloomStatus::from(&error))
    }

    fn push(&mut self, sample: &Sample) -> TimeloomStatus {
        match self.clock.push(sample) {
            Ok(()) => TimeloomStatus::Ok,
            Err(error) => TimeloomStatus::from(&error),
        }
    }
}

/// Makes a clock that knows nothing yet; null if there is no such counter or the limits are not positive. Give it back
/// with `timeloom_clock_free`.
///
/// # Safety
///
/// `options` is null or points to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_new(options: *const TimeloomOptions) -> *mut TimeloomClock {
    // SAFETY: the caller says that it is null or points to options.
    let options = unsafe { options.as_ref() };
    let made = options.and_then(|options| {
        let spec = options.spec()?;
        Some(TimeloomClock {
            ticks: TickCounter::new(spec),
            spec,
            clock: options.clock(spec)?,
        })
    });
    made.map_or(std::ptr::null_mut(), |clock| Box::into_raw(Box::new(clock)))
}

/// Gives a clock back; null is fine.
///
/// # Safety
///
/// `clock` is null or came from `timeloom_clock_new` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_free(clock: *mut TimeloomClock) {
    if !clock.is_null() {
        // SAFETY: it came from `Box::into_raw` in `timeloom_clock_new`, and the caller no longer uses it.
        drop(unsafe { Box::from_raw(clock) });
    }
}

/// Takes a packet that the device sent by itself: the counter value of the event and when the packet arrived, in
/// nanoseconds of the steady clock. Samples come in the order of their arrival.
///
/// # Safety
///
/// `clock` is null or a clock that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_push(
    clock: *mut TimeloomClock,
    ticks: u64,
    arrived_ns: i64,
) -> TimeloomStatus {
    // SAFETY: the caller says that it is null or a clock that is ours now.
    let Some(clock) = (unsafe { clock.as_mut() }) else {
        return TimeloomStatus::NullPointer;
    };
    match clock.unwrap(ticks) {
        Ok(device) => {
            let sample = PassiveSample::new(device, Time::from_nanos(arrived_ns));
            clock.push(&Sample::Passive(sample))
        }
        Err(status) => status,
    }
}

/// Takes a request for the device's time and its answer: when it was sent, the counter value, and when the answer
/// arrived. Only requests bound times from below.
///
/// # Safety
///
/// `clock` is null or a clock that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_push_request(
    clock: *mut TimeloomClock,
    sent_ns: i64,
    ticks: u64,
    arrived_ns: i64,
) -> TimeloomStatus {
    // SAFETY: the caller says that it is null or a clock that is ours now.
    let Some(clock) = (unsafe { clock.as_mut() }) else {
        return TimeloomStatus::NullPointer;
    };
    match clock.unwrap(ticks) {
        Ok(device) => clock.push(&Sample::Active(ActiveSample {
            host_tx: Time::from_nanos(sent_ns),
            device,
            host_rx: Time::from_nanos(arrived_ns),
        })),
        Err(status) => status,
    }
}

/// The host time of a counter value near the newest one. Within an epoch, a later value never gives an earlier time.
///
/// # Safety
///
/// `clock` is null or a clock that no other thread uses now; `time` is null or points to room for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_convert(
    clock: *mut TimeloomClock,
    ticks: u64,
    time: *mut TimeloomTime,
) -> TimeloomStatus {
    // SAFETY: the caller says that both are null or valid.
    let (Some(clock), Some(time)) = (unsafe { (clock.as_mut(), time.as_mut()) }) else {
        return TimeloomStatus::NullPointer;
    };
    let device = match clock.unwrap(ticks) {
        Ok(device) => device,
        Err(status) => return status,
    };
    match clock.clock.convert(device) {
        Some(mapped) => {
            *time = mapped.into();
            TimeloomStatus::Ok
        }
        None => TimeloomStatus::Unsynced,
    }
}

/// Offset, drift, health and counters.
///
/// # Safety
///
/// `clock` is null or a clock that no other thread uses now; `report` is null or points to room for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_report(
    clock: *const TimeloomClock,
    report: *mut TimeloomReport,
) -> TimeloomStatus {
    // SAFETY: the caller says that both are null or valid.
    let (Some(clock), Some(report)) = (unsafe { (clock.as_ref(), report.as_mut()) }) else {
        return TimeloomStatus::NullPointer;
    };
    match clock.clock.diagnostics() {
        Some(diagnostics) => {
            *report = diagnostics.into();
            TimeloomStatus::Ok
        }
        None => TimeloomStatus::Unsynced,
    }
}

/// Forgets everything and begins a new epoch: the device was restarted. A restart that is not reported is found in the
/// samples, a little later.
///
/// # Safety
///
/// `clock` is null or a clock that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timeloom_clock_restart(clock: *mut TimeloomClock) -> TimeloomStatus {
    // SAFETY: the caller says that it is null or a clock that is ours now.
    let Some(clock) = (unsafe { clock.as_mut() }) else {
        return TimeloomStatus::NullPointer;
    };
    clock.clock.restart();
    clock.ticks = TickCounter::new(clock.spec);
    TimeloomStatus::Ok
}
