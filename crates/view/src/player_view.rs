//! A bag that is played, for browsers and for clients of the Foxglove protocol.

mod bag_contents;
mod bag_links;
mod bag_marks;
mod density;
mod steer;
mod tapped_topics;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use timeloom_bag::BagReader;
use timeloom_msg::TypeResolver;
use timeloom_node::TypeFinder;
use timeloom_node::player::{Control, PlayerHandle, State, Status, TopicStatus};
use timeloom_time::{Duration, JumpHandle, JumpHandler, JumpThreshold};
use timeloom_trace::HopReport;
use timeloom_wire::{NodeName, Participant};

pub use self::bag_contents::BagContents;
use self::bag_contents::BagTopic;
use self::bag_links::BagLinks;
pub use self::bag_marks::{BagMark, BagMarks};
use self::density::Density;
use self::tapped_topics::TappedTopics;
use crate::channel::{Channel, Retention};
use crate::error::{Error, Result};
use crate::graph_services::GraphServices;
use crate::protocol::{Level, PlaybackStatus};
use crate::snapshot::{Fact, Snapshot, SnapshotKind, Timeline, TopicRow, seconds_since};
use crate::source::{Ability, Description, Playback, Source};
use crate::source_output::SourceOutput;
use crate::tap::TappedParticipant;

/// A step forward of at least this much is shown as a seek; smaller ones are single steps.
const LEAP: Duration = Duration::from_secs(1);

/// Taps the messages of a player: create the player's node on [`participant`](Self::participant).
#[derive(Clone, Default)]
pub struct PlayerTap(Arc<TappedTopics>);

impl PlayerTap {
    /// A participant whose publishers are also shown to clients.
    pub fn participant(&self, inner: Arc<dyn Participant>) -> Arc<dyn Participant> {
        let topics = Arc::clone(&self.0);
        let listeners = Arc::new(move |topic: &str| Some(topics.listener(topic)));
        Arc::new(TappedParticipant::new(inner, listeners))
    }
}

/// A player behind a server: its messages as it publishes them, its time, its controls, its services.
///
/// Each message is passed on by the thread that publishes it, with its time in the bag; none is lost in between.
pub struct PlayerView {
    player: PlayerHandle,
    bag: BagContents,
    tap: PlayerTap,
    density: Density,
    links: BagLinks,
    marks: BagMarks,
    seeks: Arc<AtomicU64>,
    _jumps: JumpHandle,
    /// The participant that calls services.
    viewer: Arc<dyn Participant>,
    services: OnceLock<GraphServices>,
}

impl PlayerView {
    /// Shows a player that was opened on a participant of the tap. `viewer` calls its services; on a loopback it must
    /// be another participant than the player's.
    pub fn new(
        player: PlayerHandle,
        bag: BagContents,
        tap: PlayerTap,
        viewer: Arc<dyn Participant>,
    ) -> Self {
        let seeks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&seeks);
        let handler = JumpHandler::new("view", threshold()).after(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let jumps = player.clock().add_jump_handler(handler);
        tap.0.follow(&player);
        Self {
            density: Density::default(),
            links: BagLinks::default(),
            marks: BagMarks::default(),
            player,
            bag,
            tap,
            seeks,
            _jumps: jumps,
            viewer,
            services: OnceLock::new(),
        }
    }

    /// Counts the messages of the bag over time in the background, for the timeline; `reader` is another reader of the
    /// same bag.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn count_messages(&self, reader: BagReader) -> Result<()> {
        self.density.count(&self.viewer.time_base(), reader)
    }

    /// Finds the links of a bag without tags in the background, as `timeloom trace report` does; `reader` is another
    /// reader of the same bag, and `types` resolves types that it does not define.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn find_links(&self, reader: BagReader, types: TypeResolver) -> Result<()> {
        self.links.find(&self.viewer.time_base(), reader, types)
    }

    /// The marks on the timeline; they may be set at any time, from any thread.
    pub fn marks(&self) -> BagMarks {
        self.marks.clone()
    }

    /// The playback time in the bag. While paused it is the clock's time, independent of the next message.
    fn time_ns_of(&self, status: &Status) -> i64 {
        let time = if status.state == State::Paused {
            self.player.clock().now()
        } else {
            status.time
        };
        let (start, end) = self.range(status);
        time.nanos().clamp(start, end.max(start))
    }

    /// The playable time range.
    fn range(&self, status: &Status) -> (i64, i64) {
        let range = status
            .range
            .map(|(start, end)| (start.nanos(), end.nanos()));
        range.unwrap_or(self.bag.range_ns)
    }

    fn channel(&self, topic: &TopicStatus) -> Result<Channel, String> {
        let found = self.bag.topic(topic);
        let definition = found.map_or_else(
            || Err("it is not in the bag".to_owned()),
            |found| found.definition.clone(),
        )?;
        Ok(Channel {
            topic: topic.name.clone(),
            type_name: topic.type_name.clone(),
            definition,
            retention: found.map_or(Retention::None, |found| found.retention),
        })
    }

    fn open_services(&self, output: &SourceOutput) -> timeloom_wire::Result<GraphServices> {
        let name = NodeName::new("/", &format!("_timeloom_view_{}", std::process::id()))?;
        let node = self.viewer.node(name)?;
        let viewer = Arc::clone(&self.viewer);
        let finder = TypeFinder::new(viewer, Arc::clone(&node), TypeResolver::default());
        Ok(GraphServices::open(&*self.viewer, &node, &finder, output))
    }
}

impl Source for PlayerView {
    fn description(&self) -> Description {
        Description {
            name: self.bag.title.clone(),
            range_ns: Some(self.range(&self.player.status())),
            time: Ability::Yes,
            services: Ability::Yes,
            publish: Ability::No,
            graph: Ability::No,
        }
    }

    fn attach(&self, output: SourceOutput) -> Result<()> {
        for topic in &self.player.status().topics {
            match self.channel(topic) {
                Ok(channel) => {
                    if let Some(&id) = output.advertise(vec![channel]).first() {
                        self.tap.0.show(&topic.name, &output, id);
                    }
                }
                Err(reason) => {
                    let text = format!("{} is not shown to clients: {reason}", topic.name);
                    output.notice(&format!("unknown {}", topic.name), Level::Warning, &text);
                }
            }
        }
        let services = self
            .open_services(&output)
            .map_err(|error| Error::Refused(error.to_string()))?;
        // A source is attached once.
        drop(self.services.set(services));
        Ok(())
    }

    fn time_ns(&self) -> Option<i64> {
        Some(self.time_ns_of(&self.player.status()))
    }

    fn playback(&self) -> Option<Playback> {
        let status = self.player.status();
        Some(Playback {
            status: playback_status(status.state),
            time_ns: self.time_ns_of(&status),
            rate: status.rate.unwrap_or(1.0),
            seeks: self.seeks.load(Ordering::SeqCst),
        })
    }

    fn control(&self, control: Control) -> Result<()> {
        if matches!(control, Control::Seek(_)) {
            self.seeks.fetch_add(1, Ordering::SeqCst);
        }
        steer::steer(&self.player, control).map_err(|refusal| Error::Refused(refusal.to_string()))
    }

    fn snapshot(&self) -> Snapshot {
        let status = self.player.status();
        let (start, end) = self.range(&status);
        let since = |time_ns: i64| seconds_since(start, time_ns);
        let mark = |time: timeloom_time::Time<timeloom_time::Ros>| since(time.nanos());
        Snapshot {
            title: self.bag.title.clone(),
            kind: SnapshotKind::Player,
            state: state_text(status.state).to_owned(),
            timeline: Some(Timeline {
                start_ns: start,
                duration: since(end),
                now: since(self.time_ns_of(&status)),
                rate: status.rate.unwrap_or(1.0),
                real_rate: status.achieved_rate,
                read_ahead: self.player.read_to().map(mark),
                mark_a: status.loop_range.map(|part| mark(part.0)),
                mark_b: status.loop_range.map(|part| mark(part.1)),
                density: self.density.parts((start, end)),
                losses: self.bag.losses(since),
                marks: self.marks.shown(since),
            }),
            facts: facts(&status, self.seeks.load(Ordering::SeqCst)),
            topics: status
                .topics
                .iter()
                .map(|topic| row(topic, self.bag.topic(topic)))
                .collect(),
        }
    }

    fn hops(&self) -> Option<Vec<HopReport>> {
        self.links.hops()
    }

    fn call(&self, service: &str, request: Bytes) -> Result<Bytes> {
        let services = self.services.get().ok_or_else(|| Error::Unsupported {
            what: format!("calling {service}"),
        })?;
        services.call(service, request)
    }
}

fn threshold() -> JumpThreshold {
    // Neither is negative.
    JumpThreshold::new()
        .forward(LEAP)
        .and_then(|threshold| threshold.backward(Duration::from_nanos(-1)))
        .unwrap_or(JumpThreshold::ANY)
}

fn playback_status(state: State) -> PlaybackStatus {
    match state {
        State::Playing | State::Finishing => PlaybackStatus::Playing,
        State::Ended | State::Stopped => PlaybackStatus::Ended,
        State::WaitingForSubscribers | State::WaitingForStart | State::WaitingForClock => {
            PlaybackStatus::Buffering
        }
        _ => PlaybackStatus::Paused,
    }
}

fn state_text(state: State) -> &'static str {
    match state {
        State::Playing | State::Finishing => "playing",
        State::Ended => "ended",
        State::Stopped => "stopped",
        State::WaitingForSubscribers => "waiting for subscribers",
        State::WaitingForStart => "waiting for the start",
        State::WaitingForClock => "waiting for /clock",
        _ => "paused",
    }
}

fn row(topic: &TopicStatus, found: Option<&BagTopic>) -> TopicRow {
    TopicRow {
        name: topic.name.clone(),
        type_name: topic.type_name.clone(),
        count: topic.played,
        bytes: topic.bytes,
        hz: None,
        recorded: found.map(|found| found.recorded),
        lost_wire: found.and_then(|found| found.lost_wire),
        lost_recorder: found.and_then(|found| found.lost_recorder),
    }
}

/// Facts besides time and topics.
fn facts(status: &Status, seeks: u64) -> Vec<Fact> {
    let mut facts = vec![Fact::new("messages", status.played())];
    if status.lost() > 0 {
        facts.push(Fact::warning("not played", status.lost()));
    }
    if status.laps > 0 {
        facts.push(Fact::new("lap", status.laps + 1));
    }
    if status.latest > Duration::from_millis(100) {
        let late = format!("{:.2} s", status.latest.as_secs_f64());
        facts.push(Fact::warning("latest by", late));
    }
    // Right after a jump nothing is read yet, which is not a fault of the disk.
    let starved = status.starved.saturating_sub(1 + seeks + status.laps);
    if starved > 0 {
        facts.push(Fact::warning("read-ahead empty", starved));
    }
    if !status.damage.is_empty() {
        facts.push(Fact::warning("damaged places", status.damage.len()));
    }
    facts
}
