//! Faults of the link between robot and desk while a recording runs; it recovers before the end.

use std::path::Path;

use serde_json::{Value, json};

use crate::Failure;
use crate::account;
use crate::dice::Dice;
use crate::process::pause;
use crate::robot::{Robot, TOPICS, end, millis, storage};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

/// A fraction such as 0.07.
fn share(dice: &mut Dice, low: u64, high: u64) -> f64 {
    f64::from(u32::try_from(dice.between(low, high)).unwrap_or(0)) / 100.0
}

/// Milliseconds as seconds.
fn seconds(dice: &mut Dice, low: u64, high: u64) -> f64 {
    f64::from(u32::try_from(dice.between(low, high)).unwrap_or(0)) / 1000.0
}

pub(crate) fn loss(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = json!({"loss": share(dice, 2, 30)});
    bad_wire(bed, place, dice, tally, &how)
}

pub(crate) fn delay(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = json!({"delay": seconds(dice, 2, 60)});
    bad_wire(bed, place, dice, tally, &how)
}

pub(crate) fn reorder(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = json!({"reorder": share(dice, 5, 40), "jitter": seconds(dice, 0, 5)});
    bad_wire(bed, place, dice, tally, &how)
}

pub(crate) fn duplicates(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let how = json!({"duplicate": share(dice, 10, 80)});
    bad_wire(bed, place, dice, tally, &how)
}

pub(crate) fn storm(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = json!({
        "loss": share(dice, 2, 15), "duplicate": share(dice, 2, 15), "reorder": share(dice, 2, 15),
        "delay": seconds(dice, 0, 10), "jitter": seconds(dice, 0, 20),
    });
    bad_wire(bed, place, dice, tally, &how)
}

/// Shorter and longer than the lease of two seconds: afterwards both still know each other, or discover each other
/// again.
pub(crate) fn partition(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    bad_wire(bed, place, dice, tally, &json!({"cut": true}))
}

fn bad_wire(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
    how: &Value,
) -> Done {
    recording(bed, place, dice, tally, |bed, dice| {
        bed.wire(how)?;
        pause(millis(dice, 300, 3500));
        bed.wire(&json!({})).map(drop)
    })
}

/// The cable is pulled.
pub(crate) fn down(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    recording(bed, place, dice, tally, |bed, dice| {
        bed.plug(Host::Robot, "down")?;
        pause(millis(dice, 200, 3500));
        bed.plug(Host::Robot, "up")
    })
}

/// A recording with a fault in the middle; the law holds afterwards.
fn recording(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
    fault: impl Fn(&mut TestBed, &mut Dice) -> Done,
) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    robot.go(dice, 3000)?;
    let faults = dice.between(1, 2);
    for _ in 0..faults {
        pause(millis(dice, 100, 500));
        fault(bed, dice)?;
        tally.injected += 1;
    }
    // Long enough for rediscovery.
    pause(millis(dice, 2500, 4000));
    robot.stop()?;
    pause(millis(dice, 100, 300));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}
