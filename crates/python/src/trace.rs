//! Lineage: the paths of messages, their latencies and losses.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use timeloom_trace::{
    BagFeed, BagObserver, Engine, EngineOptions, FlowRecord, LinkSearch, Plan, RecordKind, Sink,
};

use crate::arguments::arguments;
use crate::bag::NativeBag;
use crate::errors;
use crate::message_type::resolver;
use crate::numpy::numbers;
use crate::waiting::seconds;

/// Publications between two looks for signals.
const LOOK: u32 = 4096;

arguments! {
    /// The topics to analyse and how, as `timeloom.trace` passes them.
    pub(crate) struct TraceOptions {
        targets: Vec<String>,
        sources: Vec<String>,
        ignore: Vec<String>,
        links: String,
        plan: String,
        keep: f64,
        flows: bool,
        start: Option<i64>,
        end: Option<i64>,
    }
}

/// The engine, and the flows that it found.
struct Collect {
    engine: Engine,
    flows: Vec<FlowRecord>,
    publications: u32,
    /// Ctrl-C, or another signal that raises.
    interrupted: Option<PyErr>,
}

impl Sink for Collect {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn taken(&mut self) {
        self.flows.append(&mut self.engine.take_flows());
        self.publications = self.publications.wrapping_add(1);
        if self.publications.is_multiple_of(LOOK) {
            self.interrupted = Python::attach(|py| py.check_signals().err());
        }
    }

    fn is_done(&self) -> bool {
        self.interrupted.is_some()
    }
}

/// What of the bag could not be read.
#[derive(Default)]
struct Damage(Vec<String>);

impl BagObserver for Damage {
    fn damage(&mut self, error: &timeloom_bag::Error) {
        self.0.push(error.to_string());
    }
}

/// The report as JSON, flows as columns, and what could not be read.
type Traced<'py> = (String, Bound<'py, PyDict>, Vec<String>);

/// The lineage of a bag.
#[pyfunction]
pub(crate) fn trace<'py>(
    py: Python<'py>,
    bag: &NativeBag,
    options: TraceOptions,
) -> PyResult<Traced<'py>> {
    let failed = |error| errors::trace(py, &error);
    let plan = match options.plan.as_str() {
        "" => Plan::default(),
        text => Plan::parse(text).map_err(failed)?,
    };
    let feed = BagFeed {
        links: links(&options.links)?,
        model: plan.model.clone(),
        start_ns: options.start,
        end_ns: options.end.map(|end| end.saturating_sub(1)),
        types: resolver(),
    };
    let mut engine = EngineOptions {
        targets: options.targets,
        sources: options.sources,
        ignored: options.ignore,
        keep: seconds("keep", options.keep)?,
        records: if options.flows {
            RecordKind::Flows
        } else {
            RecordKind::None
        },
        ..EngineOptions::default()
    };
    plan.apply(&mut engine);
    let mut sink = Collect {
        engine: Engine::new(engine),
        flows: Vec::new(),
        publications: 0,
        interrupted: None,
    };
    let mut reader = bag.reader(py)?;
    let mut damage = Damage(bag.lost());
    let intake = py.detach(|| feed.run(&mut reader, &mut sink, &mut damage));
    if let Some(interrupted) = sink.interrupted.take() {
        return Err(interrupted);
    }
    let intake = intake.map_err(failed)?;
    feed.add_accounts(&reader, &mut sink.engine);
    let mut report = py.detach(|| sink.engine.report());
    // Flows that wait for late tags.
    sink.engine.finish();
    sink.flows.append(&mut sink.engine.take_flows());
    report.notes.splice(0..0, intake.notes());
    let json = serde_json::to_string(&report);
    let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
    if intake.broken > 0 {
        let text = format!("{} messages could not be decoded", intake.broken);
        damage.0.push(text);
    }
    Ok((json, columns(py, &sink.flows)?, damage.0))
}

fn links(name: &str) -> PyResult<LinkSearch> {
    match name {
        "auto" => Ok(LinkSearch::Auto),
        "tags" => Ok(LinkSearch::Tags),
        "stamp" => Ok(LinkSearch::Stamp),
        "model" => Ok(LinkSearch::Model),
        "graph" => Ok(LinkSearch::Graph),
        other => Err(PyValueError::new_err(format!(
            "links is one of auto, tags, stamp, model, graph, not '{other}'"
        ))),
    }
}

/// The flows; `paths` are the distinct paths, `path` is the number of each.
fn columns<'py>(py: Python<'py>, flows: &[FlowRecord]) -> PyResult<Bound<'py, PyDict>> {
    /// What numpy takes for "no time".
    const NONE: i64 = i64::MIN;
    let dict = PyDict::new(py);
    let mut paths: Vec<&[String]> = Vec::new();
    let mut numbers_of: HashMap<&[String], i64> = HashMap::new();
    let mut path = Vec::with_capacity(flows.len());
    for flow in flows {
        let topics = flow.topics.as_slice();
        let number = *numbers_of.entry(topics).or_insert_with(|| {
            paths.push(topics);
            i64::try_from(paths.len() - 1).unwrap_or(i64::MAX)
        });
        path.push(number);
    }
    let add = |name: &str, dtype: &str, values: Vec<i64>| {
        dict.set_item(name, numbers(py, &[values], dtype, i64::to_le_bytes)?)
    };
    let of = |value: &dyn Fn(&FlowRecord) -> i64| flows.iter().map(value).collect::<Vec<_>>();
    let known = |nanos: i64| if nanos == 0 { NONE } else { nanos };
    add("path", "<i8", path)?;
    add(
        "published",
        "<M8[ns]",
        of(&|flow| known(flow.published.ros.nanos())),
    )?;
    let stamp = |stamp: Option<i64>| stamp.unwrap_or(NONE);
    add(
        "source_stamp",
        "<M8[ns]",
        of(&|flow| stamp(flow.source_stamp_ns)),
    )?;
    add(
        "target_stamp",
        "<M8[ns]",
        of(&|flow| stamp(flow.target_stamp_ns)),
    )?;
    let latency = |flow: &FlowRecord| i64::try_from(flow.latency_ns).unwrap_or(i64::MAX);
    add("latency", "<m8[ns]", of(&latency))?;
    add("is_first", "<i8", of(&|flow| flow.is_first.into()))?;
    add(
        "from_reception",
        "<i8",
        of(&|flow| flow.from_reception.into()),
    )?;
    dict.set_item("paths", paths)?;
    Ok(dict)
}
