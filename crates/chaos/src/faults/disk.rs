//! Faults of the disk, and a recorder that is stopped for a while.

use std::path::Path;

use rustix::process::Signal;

use crate::Failure;
use crate::account;
use crate::claims::Claims;
use crate::dice::Dice;
use crate::ledger::Ledger;
use crate::process::{BOUND, Process, pause};
use crate::robot::{CACHE, Robot, TOPICS, end, millis, storage};
use crate::tally::Tally;
use crate::test_bed::{TestBed, shell};

type Done = Result<(), Failure>;

/// Publishes into a recording while `fault` happens; returns the recorder, which still runs.
fn recording(
    bed: &TestBed,
    place: &Path,
    dice: &mut Dice,
    arguments: &str,
    largest: u64,
    fault: impl FnOnce(&mut Process, &mut Dice) -> Done,
) -> Result<Process, Failure> {
    let mut robot = Robot::start(bed, place, "")?;
    let mut recorder = bed.record(place, &format!("--topics {TOPICS} {arguments}"))?;
    robot.go(dice, largest)?;
    pause(millis(dice, 200, 700));
    if !recorder.runs()? {
        return Err("the recorder ended before anything happened".into());
    }
    fault(&mut recorder, dice)?;
    pause(millis(dice, 200, 700));
    robot.stop()?;
    Ok(recorder)
}

/// Mounts a file system in memory at `disk`.
fn mount(place: &Path, options: &str) -> Done {
    let place_text = place.display();
    let line =
        format!("mkdir {place_text}/disk && mount -t tmpfs -o {options} tmpfs {place_text}/disk");
    shell(&line, place)
}

/// Copies the bag from the disk, and unmounts it.
fn unmount(place: &Path) -> Done {
    let place_text = place.display();
    let line = format!("cp -r {place_text}/disk/bag {place_text}/bag && umount {place_text}/disk");
    shell(&line, place)
}

/// The disk is full after some megabytes. Messages written before stay, the rest is counted.
pub(crate) fn full(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let size = dice.between(2, 6);
    mount(place, &format!("size={size}m"))?;
    let arguments = format!("-o disk/bag {}", storage(dice));
    let recorder = recording(bed, place, dice, &arguments, 30_000, |_, dice| {
        pause(millis(dice, 800, 2500));
        Ok(())
    })?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    unmount(place)?;
    account::judge_without_ends(bed, place, &ended, tally)
}

/// A disk that blocks for a while: a file system on a loop device, frozen.
pub(crate) fn stalled(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let disk = place.join("disk");
    let made = format!(
        "mkdir {0} && truncate -s 64M {0}.image && mkfs.ext4 -q {0}.image && mount -o loop {0}.image {0}",
        disk.display()
    );
    if let Err(why) = shell(&made, place) {
        // Without loop devices, stop the recorder instead.
        std::fs::write(place.join("disk.note"), why.to_string())?;
        return stopped(bed, place, dice, tally);
    }
    let arguments = format!(
        "-o disk/bag --max-cache-size {}",
        CACHE >> dice.between(0, 6)
    );
    let recorder = recording(bed, place, dice, &arguments, 4000, |_, dice| {
        bed.freeze(&disk, dice.between(3, 25))
    })?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    unmount(place)?;
    std::fs::remove_file(place.join("disk.image"))?;
    account::judge(bed, place, &ended, tally)
}

/// The bag cannot be created: refused at once, with a message.
pub(crate) fn read_only(bed: &mut TestBed, place: &Path, _: &mut Dice, tally: &mut Tally) -> Done {
    mount(place, "ro")?;
    let recorder = bed.record(place, &format!("--topics {TOPICS} -o disk/bag"))?;
    let ended = recorder.wait(BOUND)?;
    tally.injected += 1;
    tally.check(ended.code == Some(1), || {
        format!("it ended with {:?}", ended.code)
    });
    let named = ended.stderr.contains("disk/bag") && ended.stderr.contains("Read-only file system");
    tally.check(named, || format!("it says: {}", ended.stderr));
    shell(&format!("umount {}/disk", place.display()), place)
}

/// The directory becomes read-only: the next file of the bag cannot be created.
pub(crate) fn sealed(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    mount(place, "size=64m")?;
    let split = *dice.pick(&["-b 200000", "-d 1"]);
    let arguments = format!("-o disk/bag --max-cache-size {CACHE} {split}");
    let recorder = recording(bed, place, dice, &arguments, 4000, |_, dice| {
        shell(&format!("chattr +i {}/disk/bag", place.display()), place)?;
        pause(millis(dice, 1000, 2000));
        shell(&format!("chattr -i {}/disk/bag", place.display()), place)?;
        pause(millis(dice, 500, 1500));
        Ok(())
    })?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    unmount(place)?;
    account::judge(bed, place, &ended, tally)
}

/// The bag is deleted while it is written: the recorder reports it and ends, and nothing counts as recorded.
pub(crate) fn vanished(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let arguments = format!("-o bag {}", storage(dice));
    let mut until_then = Ledger::default();
    let recorder = recording(bed, place, dice, &arguments, 2000, |_, dice| {
        until_then = Ledger::read(place)?;
        std::fs::remove_dir_all(place.join("bag"))?;
        pause(millis(dice, 200, 2000));
        Ok(())
    })?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    tally.check(ended.code == Some(3), || {
        format!("it ended with {:?} and said: {}", ended.code, ended.stderr)
    });
    let claims = Claims::printed(&ended.stdout)?;
    let sum = |ledger: &Ledger| {
        ledger
            .writers
            .values()
            .map(|writer| writer.done)
            .sum::<u64>()
    };
    claims.all_lost(sum(&until_then), sum(&Ledger::read(place)?), tally);
    Ok(())
}

/// The recorder is stopped for a while, as on a machine that swaps.
pub(crate) fn stopped(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let arguments = format!("-o bag {}", storage(dice));
    let recorder = recording(bed, place, dice, &arguments, 3000, |recorder, dice| {
        recorder.signal(Signal::STOP)?;
        pause(millis(dice, 200, 3500));
        recorder.signal(Signal::CONT)?;
        pause(millis(dice, 2500, 4000));
        Ok(())
    })?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}
