//! The clock of a sensor, from the messages of a bag.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::Schema;
use timeloom_restamp::{FieldOptions, SampleFields};
use timeloom_sync::{ColumnCheck, Mapped, Method, Sample, causal, smooth_with};

use crate::arguments::arguments;
use crate::bag::NativeBag;
use crate::errors;
use crate::numpy::numbers;
use crate::sensor_clock::limits;

/// Messages that are read in one go without the lock of the interpreter.
const MESSAGES: usize = 4096;

arguments! {
    /// The fields with the times and how to estimate, as `timeloom.sync_fit` passes them.
    pub(crate) struct FitOptions {
        topic: usize,
        name: String,
        field: Option<String>,
        host_field: Option<String>,
        ticks_per_second: Option<u64>,
        counter_bits: Option<u32>,
        estimator: String,
        causal: bool,
        max_skew_ppm: f64,
        max_drift_ppm_per_minute: f64,
        start: Option<i64>,
        end: Option<i64>,
    }
}

/// Columns, what could not be read, and how many messages have no times, why.
type Fit<'py> = (Bound<'py, PyDict>, Vec<String>, u64, String);

/// The samples of a topic.
#[derive(Default)]
struct TopicTimes {
    samples: Vec<Sample>,
    columns: ColumnCheck,
    unread: Vec<String>,
    left_out: (u64, String),
}

impl TopicTimes {
    /// Takes up to so many messages; false at the end.
    fn read(
        &mut self,
        reader: &mut BagReader,
        schema: &Schema,
        fields: &mut SampleFields,
    ) -> timeloom_bag::Result<bool> {
        for _ in 0..MESSAGES {
            match reader.next_message() {
                Ok(Some(message)) => {
                    let sample = schema
                        .decode(message.data)
                        .map_err(|error| error.to_string())
                        .and_then(|value| {
                            let sample = fields.sample(&value, message.log_time_ns);
                            sample.map_err(|error| error.to_string())
                        })
                        .map(Sample::Passive)
                        .and_then(|sample| {
                            let checked = sample.check();
                            checked.map(|()| sample).map_err(|error| error.to_string())
                        });
                    self.take(sample);
                }
                Ok(None) => return Ok(false),
                Err(error) if error.is_damage() => self.unread.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn take(&mut self, sample: Result<Sample, String>) {
        match sample {
            Ok(sample) => {
                self.columns.add(&sample);
                self.samples.push(sample);
            }
            Err(reason) => {
                self.left_out.0 += 1;
                if self.left_out.1.is_empty() {
                    self.left_out.1 = reason;
                }
            }
        }
    }
}

/// Estimates the host time of every message of a topic.
#[pyfunction]
pub(crate) fn sync_fit<'py>(
    py: Python<'py>,
    bag: &NativeBag,
    options: FitOptions,
) -> PyResult<Fit<'py>> {
    let failed = |error| errors::sync(py, &error);
    let limits = limits(options.max_skew_ppm, options.max_drift_ppm_per_minute)?;
    let method: Method = options.estimator.parse().map_err(failed)?;
    let schema = bag.schema(options.topic);
    let schema = schema.map_err(|text| errors::payload(py, &text))?;
    let fields = FieldOptions {
        device_field: options.field,
        ticks_per_second: options.ticks_per_second,
        counter_bits: options.counter_bits,
        host_field: options.host_field,
    };
    let fields = SampleFields::new(fields, &schema, &options.name);
    let mut fields = fields.map_err(|error| errors::restamp(py, &error))?;
    let mut reader = bag.started(py, Some(vec![options.topic]), options.start, options.end)?;
    let mut read = TopicTimes {
        unread: bag.lost(),
        ..TopicTimes::default()
    };
    while py
        .detach(|| read.read(&mut reader, &schema, &mut fields))
        .map_err(|error| errors::bag(py, &error))?
    {
        py.check_signals()?;
    }
    let units = read.columns.units(limits.skew_ppm);
    units.map_err(failed)?;
    let smooths = !options.causal && method == Method::Envelope;
    let rows = py.detach(|| {
        let mut clock = method.clock(limits);
        if smooths {
            smooth_with(&read.samples, clock).map(|(rows, _)| rows)
        } else {
            causal(&read.samples, &mut clock)
        }
    });
    let columns = columns(py, &read.samples, &rows.map_err(failed)?)?;
    Ok((columns, read.unread, read.left_out.0, read.left_out.1))
}

fn columns<'py>(
    py: Python<'py>,
    samples: &[Sample],
    rows: &[Mapped],
) -> PyResult<Bound<'py, PyDict>> {
    /// What numpy takes for "no time".
    const NONE: i64 = i64::MIN;
    let dict = PyDict::new(py);
    let add = |name: &str, dtype: &str, values: Vec<i64>| {
        dict.set_item(name, numbers(py, &[values], dtype, i64::to_le_bytes)?)
    };
    let time = |time: timeloom_time::Time<timeloom_time::Steady>| time.nanos();
    let of = |value: &dyn Fn(&Mapped) -> i64| rows.iter().map(value).collect::<Vec<_>>();
    let sample = |value: &dyn Fn(&Sample) -> i64| samples.iter().map(value).collect::<Vec<_>>();
    add("device_ns", "<i8", sample(&|one| one.device().nanos()))?;
    add("arrived", "<M8[ns]", sample(&|one| one.host_rx().nanos()))?;
    add("time", "<M8[ns]", of(&|row| row.host.nanos()))?;
    add("sigma", "<m8[ns]", of(&|row| row.sigma.nanos()))?;
    add(
        "lower",
        "<M8[ns]",
        of(&|row| row.bounds.lower.map_or(NONE, time)),
    )?;
    add(
        "upper",
        "<M8[ns]",
        of(&|row| row.bounds.upper.map_or(NONE, time)),
    )?;
    add("epoch", "<i8", of(&|row| row.epoch.into()))?;
    let health = PyList::new(py, rows.iter().map(|row| row.health.name()))?;
    dict.set_item("health", health)?;
    Ok(dict)
}
