//! Faults of time while a player follows `/clock` and a recorder stamps with it.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;
use timeloom_time::Duration;

use crate::Failure;
use crate::dice::Dice;
use crate::playback::{self, Played, Source};
use crate::process::{BOUND, Ended, Process, pause};
use crate::robot::{TOPICS, end, memory, millis, storage};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

/// A player that follows `/clock`, and a recorder beside it.
fn follow(
    bed: &TestBed,
    place: &Path,
    source: &Source,
    sim: &str,
    dice: &mut Dice,
) -> Result<(Process, Process), Failure> {
    let arguments = format!("--topics {TOPICS} -o bag {sim} {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    let arguments = format!(
        "play {} --use-sim-time --wait-for-subscribers 1 --disable-keyboard-controls",
        source.bag.display()
    );
    let mut command = bed.timeloom(Host::Robot, place, &arguments);
    Ok((recorder, Process::start(&mut command, place, "play")?))
}

/// Number of messages that a player reports as published.
fn played(player: &Ended, tally: &mut Tally) -> Option<u64> {
    tally.check(matches!(player.code, Some(0 | 3)), || {
        format!("the player ended with {:?}: {}", player.code, player.stderr)
    });
    let mut lines = player.stderr.lines();
    let count = lines.find_map(|line| line.strip_prefix("played "));
    count.map(|line| number(line.split(' ').next().unwrap_or_default()))
}

/// A second publisher of `/clock` appears, an hour away, and leaves; the player names it, ends, and counts correctly.
pub(crate) fn second_owner(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let source = Source::of(bed, dice)?;
    let (recorder, mut player) = follow(bed, place, &source, "", dice)?;
    let owner = |name: &str, begin: f64| {
        let arguments =
            format!("clock publish --start {begin:.3} --frequency 50 --node-name {name}");
        let mut command = bed.timeloom(Host::Robot, place, &arguments);
        Process::start(&mut command, place, name)
    };
    let first = owner("first_owner", source.span.0 - 0.5)?;
    pause(millis(dice, 800, 2000));
    let away = *dice.pick(&[-3600.0, -1.0, 3600.0]);
    let second = owner("second_owner", source.span.0 + away)?;
    let warned = player.says("second_owner", Duration::from_secs(15))?;
    tally.check(warned, || {
        "the player does not name the second owner of /clock".to_owned()
    });
    pause(millis(dice, 200, 1000));
    let killed = dice.between(0, 1) == 0;
    let second = second.end(if killed { Signal::KILL } else { Signal::INT })?;
    tally.kills += u64::from(killed);
    tally.check(killed || second.code == Some(0), || {
        format!("a clock ended with {:?}", second.code)
    });
    pause(millis(dice, 300, 1500));
    let player = player.end(Signal::INT)?;
    memory(&player, tally);
    tally.injected += 1;
    pause(Duration::from_millis(200));
    let ended = end(recorder, dice, tally)?;
    drop(first.end(Signal::INT)?);
    let count = played(&player, tally);
    playback::judge(
        bed,
        place,
        &source,
        &ended,
        Played::BackAndForth(count),
        tally,
    )
}

/// The only publisher steps forward and back; recorder and player follow it.
pub(crate) fn steps(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let source = Source::of(bed, dice)?;
    let sim = *dice.pick(&["", "--use-sim-time"]);
    let mut peer = bed.peer(Host::Robot, place)?;
    peer.ask(
        &json!({"do": "tick", "begin": source.span.0 - 1.0, "step": 0, "hertz": 50, "count": 1}),
    )?;
    let (recorder, player) = follow(bed, place, &source, sim, dice)?;
    // Time stands before the start of the bag until both are ready.
    peer.ask(&json!({"do": "tick", "begin": source.span.0 - 1.0, "step": 0.0001, "hertz": 50, "count": 75}))?;
    let mut now = source.span.0 - 0.2;
    for _ in 0..dice.between(3, 6) {
        let count = dice.between(10, 40);
        peer.ask(&json!({"do": "tick", "begin": now, "step": 0.02, "hertz": 50, "count": count}))?;
        let steps = [-20.0, -1.0, -0.3, 0.3, 1.0, 1.5];
        now += *dice.pick(&steps);
        tally.injected += 1;
    }
    let ended_by_itself = dice.between(0, 1) == 0;
    let player = if ended_by_itself {
        // To the end, and beyond it.
        peer.ask(
            &json!({"do": "tick", "begin": source.span.0, "step": 0.1, "hertz": 50, "count": 60}),
        )?;
        player.wait(BOUND)?
    } else {
        player.end(Signal::INT)?
    };
    memory(&player, tally);
    pause(Duration::from_millis(200));
    let ended = end(recorder, dice, tally)?;
    let count = played(&player, tally);
    playback::judge(
        bed,
        place,
        &source,
        &ended,
        Played::BackAndForth(count),
        tally,
    )
}

/// Parses a number with or without commas.
fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap_or(0)
}
