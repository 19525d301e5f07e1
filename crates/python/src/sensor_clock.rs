//! The clock of a sensor on the clock of the host, live.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use timeloom_sync::{
    ActiveSample, ClockPair, ClockSpec, DeviceTime, HostStamps, Limits, Mapped, Method,
    PassiveSample, Sample, SensorClock, TickCounter,
};
use timeloom_time::{Clock, Duration, Reading, Steady, System, Time};

use crate::arguments::{Nanos, Ticks, arguments};
use crate::errors;

arguments! {
    /// Counter and limits of a device, as `timeloom.SensorClock` passes them.
    pub(crate) struct SensorClockOptions {
        ticks_per_second: u64,
        counter_bits: u32,
        estimator: String,
        max_skew_ppm: f64,
        max_drift_ppm_per_minute: f64,
        stamp_grain_ns: i64,
        least_delay_ns: i64,
    }
}

/// Limits of clocks that make sense.
pub(crate) fn limits(max_skew_ppm: f64, max_drift_ppm_per_minute: f64) -> PyResult<Limits> {
    for (name, value) in [
        ("max_skew_ppm", max_skew_ppm),
        ("max_drift_ppm_per_minute", max_drift_ppm_per_minute),
    ] {
        if !value.is_finite() || value <= 0.0 {
            let text = format!("{name} is {value}, and must be above 0");
            return Err(PyValueError::new_err(text));
        }
    }
    Ok(Limits {
        skew_ppm: max_skew_ppm,
        drift_ppm_per_minute: max_drift_ppm_per_minute,
        ..Limits::default()
    })
}

/// Host time, sigma, bounds, health and epoch: the fields of `timeloom.SensorTime`.
pub(crate) type Fields = (i64, i64, Option<i64>, Option<i64>, &'static str, u32);

pub(crate) fn fields(mapped: &Mapped) -> Fields {
    let nanos = |time: Option<Time<Steady>>| time.map(Time::nanos);
    (
        mapped.host.nanos(),
        mapped.sigma.nanos(),
        nanos(mapped.bounds.lower),
        nanos(mapped.bounds.upper),
        mapped.health.name(),
        mapped.epoch,
    )
}

/// Newest time, offset, drift, and the counts of samples.
type Report = (Fields, i64, f64, u64, u64, u64, u64);

struct State {
    ticks: TickCounter,
    clock: SensorClock,
}

/// The clock behind `timeloom.SensorClock`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeSensorClock {
    spec: ClockSpec,
    state: Mutex<State>,
}

impl NativeSensorClock {
    /// The lock is not waited for with the interpreter held: another thread may hold it and want the interpreter.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        let state = self.state.lock_py_attached(py);
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(
        &mut self,
        py: Python<'_>,
        ticks: u64,
        sample: impl FnOnce(DeviceTime) -> Sample,
    ) -> PyResult<()> {
        let failed = |error| errors::sync(py, &error);
        let device = self.ticks.unwrap(ticks).map_err(failed)?;
        self.clock.push(&sample(device)).map_err(failed)
    }
}

#[pymethods]
impl NativeSensorClock {
    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments that are made from Python objects are owned"
    )]
    fn new(py: Python<'_>, options: SensorClockOptions) -> PyResult<Self> {
        let failed = |error| errors::sync(py, &error);
        let spec = ClockSpec::new(options.ticks_per_second, 1, options.counter_bits);
        let spec = spec.map_err(failed)?;
        let usual = limits(options.max_skew_ppm, options.max_drift_ppm_per_minute)?;
        if options.stamp_grain_ns < 0 || options.least_delay_ns < 0 {
            let text = "stamp_grain_ns and least_delay_ns must not be negative";
            return Err(PyValueError::new_err(text));
        }
        let grain = match options.stamp_grain_ns {
            0 => spec.tick_nanos().max(usual.stamp_grain.nanos()),
            given => given,
        };
        let limits = Limits {
            stamp_grain: Duration::from_nanos(grain),
            least_delay: Duration::from_nanos(options.least_delay_ns),
            ..usual
        };
        let method: Method = options.estimator.parse().map_err(failed)?;
        let mut clock = method.clock(limits);
        clock.set_host_stamps(HostStamps::Steady);
        Ok(Self {
            spec,
            state: Mutex::new(State {
                ticks: TickCounter::new(spec),
                clock,
            }),
        })
    }

    fn push(&self, py: Python<'_>, ticks: Ticks, arrived_ns: Nanos) -> PyResult<()> {
        self.state(py).push(py, ticks.0, |device| {
            Sample::Passive(PassiveSample::new(device, Time::from_nanos(arrived_ns.0)))
        })
    }

    fn push_request(
        &self,
        py: Python<'_>,
        sent_ns: Nanos,
        ticks: Ticks,
        arrived_ns: Nanos,
    ) -> PyResult<()> {
        self.state(py).push(py, ticks.0, |device| {
            Sample::Active(ActiveSample {
                host_tx: Time::from_nanos(sent_ns.0),
                device,
                host_rx: Time::from_nanos(arrived_ns.0),
            })
        })
    }

    /// The host time of a counter value; `None` before the first sample.
    fn convert(&self, py: Python<'_>, ticks: Ticks) -> PyResult<Option<Fields>> {
        let mut state = self.state(py);
        let device = state.ticks.unwrap(ticks.0);
        let device = device.map_err(|error| errors::sync(py, &error))?;
        Ok(state.clock.convert(device).map(|mapped| fields(&mapped)))
    }

    /// Offset, drift, health and counters; `None` before the first sample.
    fn report(&self, py: Python<'_>) -> Option<Report> {
        let told = self.state(py).clock.diagnostics()?;
        let counters = told.counters;
        Some((
            fields(&told.newest),
            told.offset_ns,
            told.skew_ppm,
            counters.samples,
            counters.outliers,
            counters.duplicates,
            counters.late,
        ))
    }

    fn restart(&self, py: Python<'_>) {
        let mut state = self.state(py);
        state.clock.restart();
        state.ticks = TickCounter::new(self.spec);
    }
}

/// Now, in nanoseconds of the steady clock: what samples are stamped with.
#[pyfunction]
pub(crate) fn steady_now() -> i64 {
    Clock::<Steady>::new().now().nanos()
}

/// A steady time on the system clock as it is set now, in nanoseconds since the epoch.
#[pyfunction]
pub(crate) fn system_from_steady(steady_ns: Nanos) -> i64 {
    let reading = Reading::take(&Clock::<Steady>::new(), &Clock::<System>::new());
    let pair = ClockPair::new(reading.after(), reading.other());
    pair.from_steady(Time::from_nanos(steady_ns.0)).nanos()
}
