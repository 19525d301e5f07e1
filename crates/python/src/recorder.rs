//! A recorder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use timeloom_bag::{BagOptions, CompressionMode, StorageId, StorageOptions, TopicStatistics};
use timeloom_msg::Distro;
use timeloom_msg::qos::parse_overrides;
use timeloom_node::host_clock::HostClockProbe;
use timeloom_node::recorder::{
    BagFactory, Control, DropPolicy, Limits, Moment, Note, Notifier, Options, Phase, Recorder,
    Report, Services, Stamp, Status, TopicStatus,
};
use timeloom_node::{RosNode, Severity, TypeFinder};

use crate::account;
use crate::arguments::{Nanos, arguments};
use crate::errors;
use crate::message_type::resolver;
use crate::network::NetworkOptions;
use crate::selection::Selection;
use crate::waiting::{optional_seconds, period, seconds, until};

arguments! {
    /// How a recorder records, as `timeloom.Recorder` passes it.
    pub(crate) struct RecorderOptions {
        output: PathBuf,
        selection: Selection,
        network: NetworkOptions,
        storage: String,
        preset: String,
        compression: String,
        max_file_size: u64,
        max_file_duration: f64,
        max_files: usize,
        max_duration: f64,
        max_size: u64,
        max_messages: u64,
        cache_size: usize,
        drop: String,
        throttle: BTreeMap<String, f64>,
        snapshot_mode: bool,
        start_paused: bool,
        qos_overrides: String,
        custom_data: Vec<(String, String)>,
        services: bool,
    }
}

/// The way in which files are compressed, by its name.
pub(crate) fn compression_mode(name: &str) -> PyResult<CompressionMode> {
    match name {
        "none" => Ok(CompressionMode::None),
        "message" => Ok(CompressionMode::Message),
        "file" => Ok(CompressionMode::File),
        other => Err(PyValueError::new_err(format!(
            "compression is one of none, message, file, not '{other}'"
        ))),
    }
}

/// The distribution of the environment, else the default.
pub(crate) fn distro() -> Distro {
    let set = std::env::var("ROS_DISTRO").unwrap_or_default();
    set.parse().unwrap_or_default()
}

impl RecorderOptions {
    /// Makes the options of each bag.
    fn bag(&self, py: Python<'_>) -> PyResult<BagFactory> {
        let failed = |error| errors::bag(py, &error);
        let storage = StorageId::from_name(&self.storage).map_err(failed)?;
        let storage = StorageOptions::preset(storage, &self.preset).map_err(failed)?;
        let compression = compression_mode(&self.compression)?;
        let max_file_duration_ns = seconds("max_file_duration", self.max_file_duration)?.nanos();
        let (max_file_size, max_files) = (self.max_file_size, self.max_files);
        let custom_data = self.custom_data.clone();
        Ok(Arc::new(move || BagOptions {
            storage: storage.clone(),
            compression,
            max_file_size,
            max_file_duration_ns,
            max_files,
            ros_distro: distro().as_str().to_owned(),
            custom_data: custom_data.clone(),
            ..BagOptions::default()
        }))
    }

    fn options(&self, py: Python<'_>, node: &RosNode) -> PyResult<Options> {
        let participant = Arc::clone(node.participant());
        let types = TypeFinder::new(participant, Arc::clone(node.wire()), resolver());
        let base = Options::new(
            &self.output,
            self.selection.for_recorder()?,
            Arc::new(types),
        );
        let probe = HostClockProbe::new(&node.participant().time_base());
        let throttle = self.throttle.iter().map(|(topic, hertz)| {
            let topic = format!("/{}", topic.trim_start_matches('/'));
            Ok((topic, period("throttle", *hertz)?))
        });
        let policy: DropPolicy = self
            .drop
            .parse()
            .map_err(|error| errors::node(py, &error))?;
        Ok(Options {
            bag: self.bag(py)?,
            qos_overrides: parse_overrides(&self.qos_overrides)
                .map_err(|error| errors::message(py, &error))?,
            max_cache_bytes: self.cache_size,
            snapshot_mode: self.snapshot_mode,
            start_paused: self.start_paused,
            drop_policy: policy,
            throttle: throttle.collect::<PyResult<_>>()?,
            limits: Limits {
                duration: seconds("max_duration", self.max_duration)?,
                bytes: self.max_size,
                messages: self.max_messages,
            },
            log_clock: self.network.use_sim_time().then(|| node.clock()),
            names: Some(node.names().clone()),
            host_clock: Some(Arc::new(move || probe.look())),
            ..base
        })
    }
}

/// Notes of the threads of a node until Python takes them.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(crate) fn add(&self, text: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(text);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what a node says of itself, from warnings on.
    pub(crate) fn listen_to(&self, node: &RosNode) {
        let notes = self.clone();
        node.set_reporter(move |severity, text| {
            if severity >= Severity::Warn {
                notes.add(text.to_owned());
            }
        });
    }
}

/// The recorder behind `timeloom.Recorder`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeRecorder {
    recorder: Recorder,
    notes: Notes,
    /// Services and events on topics; they end with the recorder.
    open: Mutex<Option<(Option<Services>, Notifier)>>,
    _node: RosNode,
}

impl NativeRecorder {
    fn control(&self, py: Python<'_>, control: &Control) -> PyResult<()> {
        py.detach(|| self.recorder.control(control))
            .map_err(|error| errors::node(py, &error))
    }
}

#[pymethods]
impl NativeRecorder {
    /// Joins the domain and starts to record.
    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments that are made from Python objects are owned"
    )]
    fn new(py: Python<'_>, options: RecorderOptions) -> PyResult<Self> {
        let failed = |error| errors::node(py, &error);
        let participant = options.network.join(py)?;
        let node = options.network.node(py, &participant)?;
        let notes = Notes::default();
        notes.listen_to(&node);
        let mut recorder_options = options.options(py, &node)?;
        let reported = notes.clone();
        recorder_options.reporter =
            Some(Arc::new(move |note: &Note| reported.add(note.text.clone())));
        let started = py.detach(|| {
            let wire = Arc::clone(node.wire());
            let recorder = Recorder::start(participant, wire, recorder_options)?;
            let services = options
                .services
                .then(|| Services::start(&node, &recorder, distro()))
                .transpose()?;
            let notifier = Notifier::start(&node, &recorder, 1.0, distro())?;
            Ok((recorder, services, notifier))
        });
        let (recorder, services, notifier) = started.map_err(failed)?;
        Ok(Self {
            recorder,
            notes,
            open: Mutex::new(Some((services, notifier))),
            _node: node,
        })
    }

    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, &Control::Pause)
    }

    fn resume(&self, py: Python<'_>, at: Option<MomentOptions>) -> PyResult<()> {
        let control = at.map_or(Ok(Control::Resume), |at| moment(at).map(Control::ResumeAt));
        self.control(py, &control?)
    }

    fn toggle_paused(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, &Control::TogglePaused)
    }

    fn split(&self, py: Python<'_>, at: Option<MomentOptions>) -> PyResult<()> {
        let control = at.map_or(Ok(Control::Split), |at| moment(at).map(Control::SplitAt));
        self.control(py, &control?)
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, &Control::Snapshot)
    }

    fn set_discovery(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        let control = if on {
            Control::StartDiscovery
        } else {
            Control::StopDiscovery
        };
        self.control(py, &control)
    }

    /// Closes the bag; the node stays.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, &Control::Stop)
    }

    /// Starts a new bag after a stop.
    fn record(&self, py: Python<'_>, output: Option<PathBuf>) -> PyResult<()> {
        self.control(py, &Control::Record { output })
    }

    /// What happened since the last call, in words.
    fn notes(&self) -> Vec<String> {
        self.notes.take()
    }

    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = py.detach(|| self.recorder.status());
        let ended = self.recorder.ended().map(|reason| reason.to_string());
        status_dict(py, &status, ended)
    }

    /// Blocks until the recording ends by itself; false when the time is over.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let timeout = optional_seconds("timeout", timeout)?;
        until(py, timeout, |slice| {
            let over = || {
                self.recorder.ended().is_some() || self.recorder.status().phase == Phase::Stopped
            };
            if over() {
                return true;
            }
            self.recorder.news().wait_for(slice);
            self.recorder.news().clear();
            over()
        })
    }

    /// Closes the bag and leaves the domain; the reports of all bags that were not returned yet.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let finished = py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let notifier = open.take().map(|(services, notifier)| {
                drop(services);
                notifier
            });
            let finished = self.recorder.finish();
            // It publishes losses that are counted at the end.
            drop(notifier);
            finished
        });
        let reports = finished.map_err(|error| errors::node(py, &error))?;
        let list = PyList::empty(py);
        for report in &reports {
            list.append(report_dict(py, report)?)?;
        }
        Ok(list)
    }
}

/// A time, the clock that it is of, and a topic.
type MomentOptions = (Nanos, String, Option<String>);

fn moment((Nanos(time_ns), clock, topic): MomentOptions) -> PyResult<Moment> {
    let stamp = match clock.as_str() {
        "node" => Stamp::Node,
        "publish_time" => Stamp::Publish,
        "log_time" => Stamp::Receive,
        other => {
            let text = format!("by is one of node, publish_time, log_time, not '{other}'");
            return Err(PyValueError::new_err(text));
        }
    };
    Ok(Moment {
        time_ns,
        stamp,
        topic,
    })
}

fn status_dict<'py>(
    py: Python<'py>,
    status: &Status,
    ended: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let phase = match status.phase {
        Phase::Recording => "recording",
        Phase::Paused => "paused",
        Phase::Stopped => "stopped",
    };
    dict.set_item("state", phase)?;
    dict.set_item("ended", ended)?;
    dict.set_item("directory", &status.directory)?;
    dict.set_item("files", status.files)?;
    dict.set_item("elapsed", status.elapsed.as_secs_f64())?;
    dict.set_item("queue_bytes", status.queue_bytes)?;
    dict.set_item("queue_limit", status.queue_limit)?;
    dict.set_item("discovery", status.discovery)?;
    add_topics(&dict, &status.topics, &status.total())?;
    Ok(dict)
}

fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("directory", &report.directory)?;
    dict.set_item("reason", report.reason.to_string())?;
    dict.set_item("elapsed", report.elapsed.as_secs_f64())?;
    dict.set_item("files", &report.metadata.relative_file_paths)?;
    dict.set_item("deleted_files", report.deleted_files)?;
    dict.set_item("deleted_messages", report.deleted_messages)?;
    dict.set_item("absent", &report.absent)?;
    let error = report.error.as_ref().map(ToString::to_string);
    dict.set_item("error", error)?;
    add_topics(&dict, &report.topics, &report.total())?;
    Ok(dict)
}

fn add_topics(
    dict: &Bound<'_, PyDict>,
    topics: &[TopicStatus],
    total: &TopicStatistics,
) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("total", account::counts(py, total)?)?;
    let list = PyList::empty(py);
    for topic in topics {
        let entry = PyDict::new(py);
        entry.set_item("name", &topic.name)?;
        entry.set_item("type", &topic.type_name)?;
        entry.set_item("account", account::counts(py, &topic.statistics)?)?;
        entry.set_item("repeated", topic.repeated)?;
        entry.set_item("in_flight", topic.in_flight)?;
        list.append(entry)?;
    }
    dict.set_item("topics", list)
}
