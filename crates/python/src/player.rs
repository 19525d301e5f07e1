//! A player.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use timeloom_bag::BagReader;
use timeloom_msg::qos::parse_overrides;
use timeloom_node::RosNode;
use timeloom_node::player::{
    AckWait, Answer, ClockMode, ClockPublishing, ClockSteps, ClockTrigger, Control, MessageOrder,
    Options, Pace, PlayRange, PlayStart, Player, PlayerHandle, Refusal, Repeat, Reporter,
    Selection as PlaySelection, Services, SettleWait, State, Status,
};
use timeloom_time::{Duration, Event, PlaybackRate, Ros, Time};

use crate::arguments::arguments;
use crate::bag::place;
use crate::errors;
use crate::message_type::resolver;
use crate::network::NetworkOptions;
use crate::recorder::{Notes, distro};
use crate::selection::Selection;
use crate::waiting::{optional_seconds, period, seconds, until};

/// How long a player may take to stop; one that is stuck in the middleware is left behind.
const PATIENCE: Duration = Duration::from_secs(3);

arguments! {
    /// How a player plays, as `timeloom.Player` passes it.
    pub(crate) struct PlayerOptions {
        paths: Vec<PathBuf>,
        selection: Selection,
        network: NetworkOptions,
        rate: f64,
        start: Option<i64>,
        /// Not part of the range.
        end: Option<i64>,
        repeat: String,
        loop_range: Option<(i64, i64)>,
        start_paused: bool,
        delay: f64,
        clock: Option<f64>,
        clock_topics: Option<Vec<String>>,
        order: String,
        pace: String,
        pace_tolerance: f64,
        wait_for_subscribers: usize,
        wait_for_acks: Option<f64>,
        max_clock_step: Option<f64>,
        read_ahead: u64,
        qos_overrides: String,
        services: bool,
    }
}

fn wrong(name: &str, value: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is one of {known}, not '{value}'"))
}

fn pair((from, to): (i64, i64)) -> (Time<Ros>, Time<Ros>) {
    (Time::from_nanos(from), Time::from_nanos(to))
}

impl PlayerOptions {
    fn options(&self, py: Python<'_>) -> PyResult<Options> {
        let selection = self.selection.for_player()?;
        let waited_for = self.selection.named_for_player()?;
        let rate = PlaybackRate::new(self.rate)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut options = Options {
            peers: Some(distro()),
            settle: Some(SettleWait::NETWORK),
            named_topics: selection.topics.clone(),
            waited_for: PlaySelection::new(move |topic| waited_for.takes(topic)),
            selection: PlaySelection::new(move |topic| selection.takes(topic)),
            qos_overrides: parse_overrides(&self.qos_overrides)
                .map_err(|error| errors::message(py, &error))?,
            rate,
            start_paused: self.start_paused,
            range: PlayRange {
                start: self.start.map(|at| PlayStart::At(Time::from_nanos(at))),
                until: self.end.map(|end| Time::from_nanos(end.saturating_sub(1))),
                duration: None,
            },
            repeat: self.repeat()?,
            loop_range: self.loop_range.map(pair),
            delay: seconds("delay", self.delay)?,
            order: match self.order.as_str() {
                "log_time" => MessageOrder::Received,
                "publish_time" => MessageOrder::Sent,
                other => return Err(wrong("order", other, "log_time, publish_time")),
            },
            pace: self.pace()?,
            wait_for_subscribers: self.wait_for_subscribers,
            wait_for_acks: match self.wait_for_acks {
                None => AckWait::Briefly,
                Some(f64::INFINITY) => AckWait::Forever,
                Some(given) => AckWait::For(seconds("wait_for_acks", given)?),
            },
            clock: self.clock()?,
            types: resolver(),
            ..Options::default()
        };
        options.read_ahead.bytes = self.read_ahead;
        let largest_step = optional_seconds("max_clock_step", self.max_clock_step)?;
        if self.network.use_sim_time() {
            options.time = ClockMode::External { extrapolate: false };
            if let Some(step) = largest_step {
                options.clock_steps = ClockSteps::SkipBeyond(step);
            }
        }
        Ok(options)
    }

    fn repeat(&self) -> PyResult<Repeat> {
        match self.repeat.as_str() {
            "once" if self.loop_range.is_none() => Ok(Repeat::Once),
            "once" | "jump" => Ok(Repeat::JumpBack),
            "monotonic" => Ok(Repeat::Monotonic),
            other => Err(wrong("loop", other, "False, True, monotonic")),
        }
    }

    fn pace(&self) -> PyResult<Pace> {
        let tolerance = seconds("pace_tolerance", self.pace_tolerance)?;
        match self.pace.as_str() {
            "catch-up" => Ok(Pace::CatchUp),
            "keep-order" => Ok(Pace::KeepOrder),
            "drop" => Ok(Pace::Drop { tolerance }),
            "wait-acked" => Ok(Pace::WaitAcked),
            other => {
                let known = "catch-up, keep-order, drop, wait-acked";
                Err(wrong("pace", other, known))
            }
        }
    }

    fn clock(&self) -> PyResult<ClockPublishing> {
        let hertz = self.clock.map(|hertz| period("clock", hertz)).transpose()?;
        Ok(ClockPublishing {
            period: hertz,
            before: match &self.clock_topics {
                None => ClockTrigger::None,
                Some(topics) if topics.is_empty() => ClockTrigger::All,
                Some(topics) => ClockTrigger::Topics(topics.clone()),
            },
        })
    }
}

/// The player behind `timeloom.Player`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativePlayer {
    handle: PlayerHandle,
    notes: Notes,
    /// `None` after `close`.
    open: Mutex<Option<Open>>,
}

/// The node and its threads.
struct Open {
    player: Player,
    services: Option<Services>,
    node: RosNode,
}

impl NativePlayer {
    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a control; Ctrl-C ends the wait for its result.
    fn control(&self, py: Python<'_>, control: Control) -> PyResult<Answer> {
        let base = self.handle.clock().base().clone();
        let done = Event::new(&base);
        let answer = Arc::new(Mutex::new(Err(Refusal::Ended)));
        let (tell, slot) = (done.clone(), Arc::clone(&answer));
        self.handle.control_then(control, move |answer| {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = answer;
            tell.set();
        });
        until(py, None, |slice| done.wait_for(slice))?;
        let answer = *answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.map_err(|refusal| errors::refused(py, &refusal))
    }
}

/// The number of messages that a control has published.
fn played(answer: Answer) -> u64 {
    match answer {
        Answer::Played(count) => count,
        _ => 0,
    }
}

#[pymethods]
impl NativePlayer {
    /// Joins the domain and creates the publishers; nothing is played yet.
    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments that are made from Python objects are owned"
    )]
    fn new(py: Python<'_>, options: PlayerOptions) -> PyResult<Self> {
        let reader = py
            .detach(|| BagReader::open_in(place(), &options.paths))
            .map_err(|error| errors::bag(py, &error))?;
        let player_options = options.options(py)?;
        let participant = options.network.join(py)?;
        let node = options.network.node(py, &participant)?;
        let notes = Notes::default();
        notes.listen_to(&node);
        let said = notes.clone();
        let reporter = Reporter::new(move |notice| said.add(notice.to_string()));
        let opened = py.detach(|| {
            let player = Player::open(&node, reader, player_options, reporter)?;
            let services = options
                .services
                .then(|| Services::start(&node, player.handle().clone(), distro()))
                .transpose()?;
            Ok(Open {
                player,
                services,
                node,
            })
        });
        let opened = opened.map_err(|error| errors::node(py, &error))?;
        Ok(Self {
            handle: opened.player.handle().clone(),
            notes,
            open: Mutex::new(Some(opened)),
        })
    }

    fn play(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, Control::Play(PlayRange::default()))
            .map(drop)
    }

    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, Control::Pause).map(drop)
    }

    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, Control::Resume).map(drop)
    }

    fn toggle_paused(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, Control::TogglePaused).map(drop)
    }

    fn set_rate(&self, py: Python<'_>, rate: f64) -> PyResult<()> {
        self.control(py, Control::SetRate(rate)).map(drop)
    }

    fn seek(&self, py: Python<'_>, time: i64) -> PyResult<()> {
        self.control(py, Control::Seek(Time::from_nanos(time)))
            .map(drop)
    }

    fn seek_by(&self, py: Python<'_>, nanoseconds: i64) -> PyResult<()> {
        let by = Duration::from_nanos(nanoseconds);
        self.control(py, Control::SeekBy(by)).map(drop)
    }

    fn play_next(&self, py: Python<'_>) -> PyResult<u64> {
        self.control(py, Control::PlayNext).map(played)
    }

    fn step_back(&self, py: Python<'_>) -> PyResult<u64> {
        self.control(py, Control::StepBack).map(played)
    }

    fn burst(&self, py: Python<'_>, messages: u64) -> PyResult<u64> {
        self.control(py, Control::Burst(messages)).map(played)
    }

    fn set_loop(&self, py: Python<'_>, range: Option<(i64, i64)>) -> PyResult<()> {
        self.control(py, Control::SetLoop(range.map(pair)))
            .map(drop)
    }

    fn set_clock_frequency(&self, py: Python<'_>, hertz: f64) -> PyResult<()> {
        self.control(py, Control::SetClockFrequency(hertz))
            .map(drop)
    }

    /// Ends playing as after the last message, with the wait for acknowledgements.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, Control::Finish).map(drop)
    }

    /// Blocks until playing is over; false when the time is over first.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let timeout = optional_seconds("timeout", timeout)?;
        until(py, timeout, |slice| self.handle.wait_for(slice))
    }

    /// What happened since the last call, in words.
    fn notes(&self) -> Vec<String> {
        self.notes.take()
    }

    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = py.detach(|| self.handle.status());
        status_dict(py, &status)
    }

    /// Stops and leaves the domain.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let Some(open) = self.open().take() else {
                return;
            };
            drop(open.services);
            self.handle.control_then(Control::Stop, drop);
            if self.handle.wait_for(PATIENCE) {
                drop(open.player);
            } else {
                // Stuck in the middleware, behind a subscription that takes nothing: the program goes on.
                std::mem::forget(open.player);
            }
            drop(open.node);
        });
    }
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Idle => "idle",
        State::WaitingForSubscribers => "waiting_for_subscribers",
        State::WaitingForStart => "waiting_for_start",
        State::WaitingForClock => "waiting_for_clock",
        State::Playing => "playing",
        State::Paused => "paused",
        State::Finishing => "finishing",
        State::Ended => "ended",
        State::Stopped => "stopped",
        _ => "unknown",
    }
}

fn status_dict<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyDict>> {
    let nanos = |(from, to): (Time<Ros>, Time<Ros>)| (from.nanos(), to.nanos());
    let dict = PyDict::new(py);
    dict.set_item("state", state_name(status.state))?;
    dict.set_item("time", status.time.nanos())?;
    dict.set_item("range", status.range.map(nanos))?;
    dict.set_item("loop_range", status.loop_range.map(nanos))?;
    dict.set_item("rate", status.rate)?;
    dict.set_item("achieved_rate", status.achieved_rate)?;
    dict.set_item("laps", status.laps)?;
    dict.set_item("read_ahead_messages", status.read_ahead_messages)?;
    dict.set_item("read_ahead_bytes", status.read_ahead_bytes)?;
    dict.set_item("starved", status.starved)?;
    dict.set_item("latest", status.latest.as_secs_f64())?;
    dict.set_item("played", status.played())?;
    dict.set_item("lost", status.lost())?;
    dict.set_item("damage", &status.damage)?;
    let topics = PyList::empty(py);
    for topic in &status.topics {
        let entry = PyDict::new(py);
        entry.set_item("name", &topic.name)?;
        entry.set_item("type", &topic.type_name)?;
        entry.set_item("played", topic.played)?;
        entry.set_item("bytes", topic.bytes)?;
        entry.set_item("failed", topic.failed)?;
        entry.set_item("dropped", topic.dropped)?;
        entry.set_item("stepped_over", topic.stepped_over)?;
        topics.append(entry)?;
    }
    dict.set_item("topics", topics)?;
    let skipped = PyList::empty(py);
    for topic in &status.skipped {
        let entry = PyDict::new(py);
        entry.set_item("name", &topic.name)?;
        entry.set_item("type", &topic.type_name)?;
        entry.set_item("messages", topic.messages)?;
        entry.set_item("reason", &topic.reason)?;
        skipped.append(entry)?;
    }
    dict.set_item("skipped", skipped)?;
    Ok(dict)
}
