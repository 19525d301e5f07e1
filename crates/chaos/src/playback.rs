//! What players publish, held against the bag that they play.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use timeloom_time::Duration;

use crate::Failure;
use crate::account::{Claims, Published, Seen, law};
use crate::bag;
use crate::dice::Dice;
use crate::process::{Ended, pause};
use crate::robot::{Robot, TOPICS, end, storage};
use crate::stage::Stage;
use crate::tally::Tally;

/// A bag to play, made by a recording of this campaign.
pub(crate) struct Source {
    pub(crate) bag: PathBuf,
    /// The place of each message in its topic, by topic and payload.
    places: BTreeMap<(String, Vec<u8>), u64>,
    /// Messages by topic.
    pub(crate) counts: BTreeMap<String, u64>,
    /// When it begins and ends, in seconds.
    pub(crate) span: (f64, f64),
    /// The CRC-32 of each of its files.
    files: BTreeMap<PathBuf, u32>,
}

impl Source {
    /// Records one, the first time.
    pub(crate) fn of(stage: &Stage, dice: &mut Dice) -> Result<Self, Failure> {
        let directory = stage.directory("source")?;
        if !directory.join("bag/metadata.yaml").exists() {
            let mut robot = Robot::start(stage, &directory, "")?;
            let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
            let recorder = stage.record(&directory, &arguments)?;
            robot.go(dice, 1500)?;
            pause(Duration::from_secs(4));
            robot.stop()?;
            let ended = end(recorder, dice, &mut Tally::default())?;
            if !matches!(ended.code, Some(0 | 3)) {
                return Err(format!("no bag to play: {}", ended.stderr).into());
            }
        }
        let (mut places, mut counts) = (BTreeMap::new(), BTreeMap::new());
        for message in bag::read(stage, &directory, "bag")? {
            let count: &mut u64 = counts.entry(message.topic.clone()).or_default();
            places.insert((message.topic, message.data), *count);
            *count += 1;
        }
        let (_, info, _) = bag::ask(stage, &directory, "info bag")?;
        let time = |key: &str| info[key].as_f64().unwrap_or(0.0) / 1e9;
        let bag = directory.join("bag");
        Ok(Self {
            files: sums(&bag)?,
            bag,
            places,
            counts,
            span: (time("start_time_ns"), time("end_time_ns")),
        })
    }

    /// A player reads and nothing else.
    pub(crate) fn check_untouched(&self, tally: &mut Tally) -> Result<(), Failure> {
        let now = sums(&self.bag)?;
        tally.check(now == self.files, || {
            "a player has changed its bag".to_owned()
        });
        Ok(())
    }
}

fn sums(bag: &Path) -> Result<BTreeMap<PathBuf, u32>, Failure> {
    let mut sums = BTreeMap::new();
    for entry in fs::read_dir(bag)? {
        let path = entry?.path();
        let sum = crc32fast::hash(&fs::read(&path)?);
        sums.insert(path, sum);
    }
    Ok(sums)
}

/// Holds a recording of a player against the bag that was played; `played` is what the player itself says.
pub(crate) fn judge(
    stage: &Stage,
    place: &Path,
    source: &Source,
    recorder: &Ended,
    played: Option<u64>,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, info, words) = bag::ask(stage, place, "info -v bag")?;
    tally.check(code == 0, || format!("info ended with {code}: {words}"));
    let mut seen = Seen::new();
    for message in bag::read(stage, place, "bag")? {
        if !source.counts.contains_key(&message.topic) {
            continue;
        }
        let name = message.topic.clone();
        let place = source.places.get(&(message.topic, message.data));
        let Some(place) = place else {
            tally.unexplained(1, || format!("{name}: not in the bag that was played"));
            continue;
        };
        let text = format!("{name}: message {place} is there twice");
        let first = seen.entry(name).or_default().insert(*place);
        tally.unexplained(u64::from(!first), || text);
    }
    let claims = Claims::read(&info, &recorder.stderr);
    let publishers = seen.iter().map(|(topic, numbers)| {
        let published = Published {
            topic: topic.clone(),
            usual: true,
            count: numbers.last().map_or(0, |last| last + 1),
        };
        (topic.clone(), published)
    });
    let before = tally.clone();
    law(&publishers.collect(), &seen, &claims, tally);
    let recorded = tally.recorded - before.recorded;
    let lost = tally.lost_in_transport - before.lost_in_transport;
    if let Some(played) = played {
        let known = recorded + lost + tally.lost_in_recorder - before.lost_in_recorder;
        let rest = played.abs_diff(known);
        let explained = claims.explains(played, known);
        tally.unexplained(if explained { 0 } else { rest }, || {
            format!("played {played}, recorded {recorded}, lost {lost}, {claims:?}")
        });
    }
    Ok(())
}
