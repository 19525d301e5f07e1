//! Messages that the recorder leaves out on purpose or drops by backpressure: each is counted in the bag.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::Failure;
use crate::account;
use crate::dice::Dice;
use crate::process::{Process, pause, run};
use crate::robot::{CACHE, Robot, TOPICS, end, millis};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

/// Calls a service of the recorder.
fn call(bed: &TestBed, place: &Path, service: &str, type_name: &str) -> Done {
    let arguments =
        format!("service call /rosbag2_recorder/{service} rosbag2_interfaces/srv/{type_name}");
    let mut command = bed.timeloom(Host::Desk, place, &arguments);
    let ended = run(&mut command, place, "call")?;
    match ended.code {
        Some(0) => Ok(()),
        code => Err(format!("{service} ended with {code:?}: {}", ended.stderr).into()),
    }
}

fn recording(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
    arguments: &str,
    fault: impl FnOnce(&mut TestBed, &mut Process, &mut Dice) -> Done,
) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    let arguments = format!("--topics {TOPICS} -o bag {arguments}");
    let mut recorder = bed.record(place, &arguments)?;
    robot.go(dice, 3000)?;
    pause(millis(dice, 200, 600));
    fault(bed, &mut recorder, dice)?;
    tally.injected += 1;
    pause(millis(dice, 200, 600));
    robot.stop()?;
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// Paused and resumed, on a bad link and with a recorder that is stopped for a while.
pub(crate) fn paused(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let arguments = format!("--max-cache-size {CACHE}");
    recording(
        bed,
        place,
        dice,
        tally,
        &arguments,
        |bed, recorder, dice| {
            call(bed, place, "pause", "Pause")?;
            bed.wire(&json!({"loss": 0.2}))?;
            recorder.signal(Signal::STOP)?;
            pause(millis(dice, 100, 900));
            recorder.signal(Signal::CONT)?;
            pause(millis(dice, 200, 900));
            bed.wire(&json!({}))?;
            if dice.between(0, 2) > 0 {
                call(bed, place, "resume", "Resume")?;
            }
            Ok(())
        },
    )
}

/// Throttled, in old files that are deleted, or in a ring buffer that is written on demand.
pub(crate) fn thinned(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = *dice.pick(&[
        "--topic-throttle-frequency /chaos/weak=20 /chaos/strong=7",
        "-d 1 --max-bag-files 2",
        "-b 100000 --max-bag-files 3",
        "-s sqlite3 -d 1 --max-bag-files 2",
        "--snapshot-mode --max-cache-duration 1",
    ]);
    let arguments = format!("--max-cache-size {CACHE} {how}");
    recording(bed, place, dice, tally, &arguments, |bed, _, dice| {
        pause(millis(dice, 1500, 4000));
        if how.contains("snapshot") {
            call(bed, place, "snapshot", "Snapshot")?;
            pause(millis(dice, 100, 1500));
        }
        Ok(())
    })
}

/// With backpressure, messages dropped during a write count as lost in the recorder.
pub(crate) fn blocked(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let how = *dice.pick(&[
        "--max-cache-size 0",
        "--max-cache-size 20000 --drop-policy block",
    ]);
    recording(bed, place, dice, tally, how, |_, _, dice| {
        pause(millis(dice, 500, 2500));
        Ok(())
    })
}
