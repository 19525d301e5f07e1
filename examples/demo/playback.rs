//! Playback: step, double speed, pause, seek, four times the speed; watched by a subscriber over DDS.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::BagReader;
use timeloom_msg::{Definitions, QosProfile, Schema};
use timeloom_node::player::{
    Answer, Control, Options, PlayRange, Player, PlayerHandle, Reporter, Selection,
};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, PlaybackRate, Ros, Steady, Time};
use timeloom_wire::{NodeName, Receiver, Sample, TopicSpec};

use crate::Failure;
use crate::bag_file::log_times;
use crate::claim::{Chapter, Claim, Table, quantile, span};
use crate::domain::Domain;
use crate::truth::{TOPICS, stamp_of};

const STEPS: u64 = 3;
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest median lateness of messages; the machine may be busy.
const LATE: i64 = 5_000_000;

/// One message as the subscriber got it.
#[derive(Clone, Copy)]
struct Got {
    stamp_ns: i64,
    /// The player's time when it came.
    at: Time<Ros>,
    /// Whether the player's time went on.
    playing: bool,
}

/// Notes when messages come, by the player's clock.
struct Watcher {
    player: PlayerHandle,
    schema: Schema,
    got: std::sync::Mutex<Vec<Got>>,
}

impl Receiver for Watcher {
    fn sample(&self, sample: Sample) {
        let (at, playing) = (self.player.clock().now(), !self.player.is_paused());
        let stamp = self
            .schema
            .decode(&sample.payload)
            .ok()
            .as_ref()
            .and_then(stamp_of);
        if let (Some(stamp_ns), Ok(mut got)) = (stamp, self.got.lock()) {
            got.push(Got {
                stamp_ns,
                at,
                playing,
            });
        }
    }
}

impl Watcher {
    fn count(&self) -> usize {
        self.got.lock().map_or(0, |got| got.len())
    }
}

pub(crate) fn check(bag: &Path, domain: Domain) -> Result<Chapter, Failure> {
    let (topic, type_name) = TOPICS[2];
    let times = log_times(bag, topic, type_name)?;
    let node = RosNode::new(domain.join(0)?, NodeOptions::new("player"))?;
    let options = Options {
        selection: Selection::new(move |info| info.name == topic),
        start_paused: true,
        rate: PlaybackRate::new(2.0)?,
        wait_for_subscribers: 1,
        ..Options::default()
    };
    let player = Player::open(&node, BagReader::open(bag)?, options, Reporter::new(|_| {}))?;
    let handle = player.handle();
    let watcher = Arc::new(Watcher {
        player: handle.clone(),
        schema: Definitions::builtin().schema(type_name)?,
        got: std::sync::Mutex::default(),
    });
    let listener = domain.join(0)?.node(NodeName::new("/", "listener")?)?;
    let spec = TopicSpec {
        name: topic.to_owned(),
        type_name: type_name.parse()?,
        type_hash: None,
        qos: QosProfile {
            depth: 10_000,
            ..QosProfile::SENSOR_DATA
        },
    };
    let subscription = listener.subscribe(&spec, Arc::clone(&watcher) as _)?;
    let clock = Clock::<Steady>::new();
    let end = clock.now() + PATIENCE;
    while subscription.matched() == 0 {
        if clock.now() > end {
            return Err("the listener does not find the player".into());
        }
        let _woke = clock.sleep_for(Duration::from_millis(20));
    }
    let claims = perform(handle, &watcher, &times)?;
    let got = watcher
        .got
        .lock()
        .map_err(|error| error.to_string())?
        .clone();
    Ok(chapter(&got, &times, claims))
}

/// Step, play, pause, seek, play to the end.
fn perform(
    player: &PlayerHandle,
    watcher: &Watcher,
    times: &BTreeMap<i64, i64>,
) -> Result<Vec<Claim>, Failure> {
    let clock = Clock::<Steady>::new();
    let rest = |millis| {
        let _woke = clock.sleep_for(Duration::from_millis(millis));
    };
    player.control(Control::Play(PlayRange::default()))?;
    let mut stepped = 0;
    for _ in 0..STEPS {
        if let Answer::Played(count) = player.control(Control::PlayNext)? {
            stepped += count;
        }
    }
    rest(300);
    let steps = (stepped, watcher.count() as u64);

    player.control(Control::Resume)?;
    rest(1_500);
    player.control(Control::Pause)?;
    rest(150);
    let before = watcher.count();
    rest(500);
    let silent = watcher.count() - before;

    let target = *times
        .values()
        .nth(times.len() * 2 / 3)
        .ok_or("nothing to seek to")?
        - 1;
    player.control(Control::Seek(Time::from_nanos(target)))?;
    player.control(Control::SetRate(4.0))?;
    player.control(Control::Resume)?;
    if !player.wait_for(PATIENCE) {
        return Err("the player does not come to its end".into());
    }
    rest(300);
    let got = watcher.got.lock().map_err(|error| error.to_string())?;
    let first = got
        .get(before + silent)
        .and_then(|got| times.get(&got.stamp_ns))
        .copied();
    let expected = times.values().copied().find(|time| *time >= target);
    Ok(vec![
        Claim::new(
            steps == (STEPS, STEPS),
            format!("{STEPS} steps published {} messages, one each", steps.1),
        ),
        Claim::new(before > 10 && silent == 0, "paused: not one message came"),
        Claim::new(
            first.is_some() && first == expected,
            "after the seek the first message is the first one at or after that time",
        ),
    ])
}

fn chapter(got: &[Got], times: &BTreeMap<i64, i64>, mut claims: Vec<Claim>) -> Chapter {
    let late = |got: &Got| {
        let due = times.get(&got.stamp_ns)?;
        Some(got.at.nanos() - due)
    };
    let mut lateness: Vec<i64> = got
        .iter()
        .filter(|got| got.playing)
        .filter_map(late)
        .collect();
    let row = |name: &str, share: f64, lateness: &mut [i64]| {
        vec![name.to_owned(), span(quantile(lateness, share))]
    };
    let table = Table {
        head: vec!["a message comes after its time by", "in the bag's time"],
        rows: vec![
            row("p50", 0.5, &mut lateness),
            row("p90", 0.9, &mut lateness),
            row("p99", 0.99, &mut lateness),
        ],
    };
    let half = quantile(&mut lateness, 0.5);
    claims.push(Claim::new(
        lateness.len() > 100 && half < LATE,
        format!(
            "{} messages played at 2× and 4×, half of them within {}",
            lateness.len(),
            span(half)
        ),
    ));
    Chapter {
        title: "Playback: step, 2×, pause, seek, 4×, heard by a subscriber over DDS",
        table,
        claims,
    }
}
