//! Compares the messages that players publish with the bag that they play.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use timeloom_time::Duration;

use crate::Failure;
use crate::account::{Published, Seen, law};
use crate::bag;
use crate::claims::Claims;
use crate::dice::Dice;
use crate::process::{Ended, pause};
use crate::robot::{Robot, TOPICS, end, storage};
use crate::tally::Tally;
use crate::test_bed::TestBed;

/// A bag to play, recorded by this campaign.
pub(crate) struct Source {
    pub(crate) bag: PathBuf,
    /// The position of each message in its topic, by topic and payload.
    places: BTreeMap<(String, Vec<u8>), u64>,
    /// Messages by topic.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Start and end in seconds.
    pub(crate) span: (f64, f64),
    /// The CRC-32 of each of its files.
    files: BTreeMap<PathBuf, u32>,
}

impl Source {
    /// Records a bag on the first call.
    pub(crate) fn of(bed: &TestBed, dice: &mut Dice) -> Result<Self, Failure> {
        let directory = bed.directory("source")?;
        if !directory.join("bag/metadata.yaml").exists() {
            let mut robot = Robot::start(bed, &directory, "")?;
            let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
            let recorder = bed.record(&directory, &arguments)?;
            robot.go(dice, 1500)?;
            pause(Duration::from_secs(4));
            robot.stop()?;
            let ended = end(recorder, dice, &mut Tally::default())?;
            if !matches!(ended.code, Some(0 | 3)) {
                return Err(format!("no bag to play: {}", ended.stderr).into());
            }
        }
        let (mut places, mut counts) = (BTreeMap::new(), BTreeMap::new());
        for message in bag::read(bed, &directory, "bag")? {
            let count: &mut u64 = counts.entry(message.topic.clone()).or_default();
            places.insert((message.topic, message.data), *count);
            *count += 1;
        }
        let (_, info, _) = bag::ask(bed, &directory, "info bag")?;
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

    /// Checks that the player did not change the bag.
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

/// Settings of a playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Played {
    /// In order, up to an unknown moment: the player was killed.
    UpToSomewhere,
    /// Under a clock that jumped, so that some messages repeat; the player reports the number of published messages.
    BackAndForth(Option<u64>),
}

/// Compares a recording of a player with the bag that was played.
pub(crate) fn judge(
    bed: &TestBed,
    place: &Path,
    source: &Source,
    recorder: &Ended,
    played: Played,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, info, words) = bag::ask(bed, place, "info -v bag")?;
    tally.check(code == 0, || format!("info ended with {code}: {words}"));
    let (mut seen, mut again) = (Seen::new(), 0);
    for message in bag::read(bed, place, "bag")? {
        if !source.counts.contains_key(&message.topic) {
            continue;
        }
        let name = message.topic.clone();
        let place = source.places.get(&(message.topic, message.data));
        let Some(place) = place else {
            tally.unexplained(1, || format!("{name}: not in the bag that was played"));
            continue;
        };
        let first = seen.entry(name).or_default().insert(*place);
        again += u64::from(!first);
    }
    let claims = Claims::read(&info);
    let printed = Claims::printed(&recorder.stdout)?;
    tally.check(printed == claims, || {
        format!("the recorder says {printed:?}, the bag says {claims:?}")
    });
    let Played::BackAndForth(said) = played else {
        tally.unexplained(again, || format!("{again} messages came twice"));
        law(&until_last(&seen), &seen, &claims, tally);
        return Ok(());
    };
    let there = again
        + seen
            .values()
            .map(|numbers| numbers.len() as u64)
            .sum::<u64>();
    let published = said.ok_or("the player does not say how much it played")?;
    claims.settle_all(published, there, tally);
    Ok(())
}

/// A player that was killed has published the received messages, and all before them.
fn until_last(seen: &Seen) -> BTreeMap<String, Published> {
    let of = |(topic, numbers): (&String, &std::collections::BTreeSet<u64>)| {
        let published = Published {
            topic: topic.clone(),
            count: numbers.last().map_or(0, |last| last + 1),
        };
        (topic.clone(), published)
    };
    seen.iter().map(of).collect()
}
