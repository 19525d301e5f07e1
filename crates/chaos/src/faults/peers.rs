//! Publishers are killed, return, and return with other QoS or another type.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::Failure;
use crate::account;
use crate::dice::Dice;
use crate::process::pause;
use crate::robot::{Robot, TOPICS, end, millis, storage};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

/// Publishers are killed one after the other while they publish.
pub(crate) fn kill(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    lives(bed, place, dice, tally, |robot, tally| {
        tally.kills += 1;
        robot.peer.kill()
    })
}

/// Publishers end normally one after the other, and the next one takes over.
pub(crate) fn restart(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    lives(bed, place, dice, tally, |mut robot, _| robot.stop())
}

fn lives(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
    end_of: impl Fn(Robot, &mut Tally) -> Done,
) -> Done {
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    for life in 0..dice.between(3, 6) {
        let mut robot = Robot::start(bed, place, &format!("life{life}_"))?;
        robot.go(dice, 2000)?;
        pause(millis(dice, 50, 900));
        end_of(robot, tally)?;
        tally.injected += 1;
    }
    pause(millis(dice, 100, 300));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// The process of a publisher is killed before its lease ends, and packets were lost: its last sequence number is
/// unknown.
pub(crate) fn vanish(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    let mut robot = Robot::start(bed, place, "")?;
    robot.go(dice, 2000)?;
    pause(millis(dice, 100, 400));
    bed.wire(&json!({"loss": 0.2}))?;
    pause(millis(dice, 200, 900));
    robot.peer.kill()?;
    tally.injected += 1;
    tally.kills += 1;
    pause(millis(dice, 50, 600));
    let ended = end(recorder, dice, tally)?;
    bed.wire(&json!({}))?;
    account::judge(bed, place, &ended, tally)
}

/// Publishers that start, send a few messages and end at once, before or after discovery.
pub(crate) fn short(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut peer = bed.peer(Host::Robot, place)?;
    let arguments = format!("--topics /chaos/short -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    pause(millis(dice, 300, 1500));
    for number in 0..dice.between(4, 10) {
        let reliable = dice.between(0, 3) > 0;
        let count = dice.between(1, 20);
        peer.ask(&json!({
            "do": "burst", "name": format!("short{number}"), "topic": "/chaos/short",
            "count": count, "reliable": reliable,
        }))?;
        tally.injected += 1;
        pause(millis(dice, 0, 60));
    }
    pause(millis(dice, 100, 2000));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// The same topic with different QoS, again and again.
pub(crate) fn qos(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut peer = bed.peer(Host::Robot, place)?;
    let arguments = format!("--topics /chaos/moody -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    for mood in 0..dice.between(3, 6) {
        let name = format!("mood{mood}");
        let latched = dice.between(0, 2) == 0;
        let reliable = latched || dice.between(0, 1) == 0;
        let depth = *dice.pick(&[1, 10, 100]);
        peer.ask(&json!({
            "do": "writer", "name": name, "topic": "/chaos/moody",
            "reliable": reliable, "latched": latched, "depth": depth,
        }))?;
        if !peer.can(&json!({"do": "matched", "names": [name]}))? {
            return Err("no subscription".into());
        }
        let rate = dice.between(50, 300);
        peer.ask(&json!({"do": "start", "name": name, "rate": rate, "sizes": [40, 900]}))?;
        pause(millis(dice, 200, 800));
        peer.ask(&json!({"do": "stop", "names": [name]}))?;
        if reliable {
            peer.ask(&json!({"do": "acked", "names": [name], "seconds": 20}))?;
        }
        peer.ask(&json!({"do": "close", "name": name}))?;
        tally.injected += 1;
    }
    pause(millis(dice, 100, 300));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// Two types from the beginning: nothing is recorded, and everything is counted.
pub(crate) fn kinds(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut peer = bed.peer(Host::Robot, place)?;
    let topic = "/chaos/twofold";
    let names = ["text", "number"];
    for (name, kind) in names.iter().zip(["String", "Number"]) {
        peer.ask(&json!({"do": "writer", "name": name, "topic": topic, "kind": kind}))?;
    }
    pause(millis(dice, 300, 600));
    let arguments = format!("--topics {topic} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    if !peer.can(&json!({"do": "matched", "names": names}))? {
        return Err("no subscription".into());
    }
    for name in names {
        peer.ask(&json!({"do": "start", "name": name, "rate": 150, "sizes": [50]}))?;
    }
    pause(millis(dice, 300, 900));
    peer.ask(&json!({"do": "stop", "names": names}))?;
    peer.ask(&json!({"do": "acked", "names": names, "seconds": 20}))?;
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// The same topic with another type: one of them is recorded, the messages of the other are counted.
pub(crate) fn kind(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut peer = bed.peer(Host::Robot, place)?;
    let text = json!({"do": "writer", "name": "text", "topic": "/chaos/twofold"});
    peer.ask(&text)?;
    let arguments = format!("--topics /chaos/twofold -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    if !peer.can(&json!({"do": "matched", "names": ["text"]}))? {
        return Err("no subscription".into());
    }
    let start = json!({"do": "start", "name": "text", "rate": 200, "sizes": [50, 500]});
    peer.ask(&start)?;
    pause(millis(dice, 200, 600));
    let both = dice.between(0, 1) == 0;
    if !both {
        peer.ask(&json!({"do": "stop", "names": ["text"]}))?;
        peer.ask(&json!({"do": "acked", "names": ["text"], "seconds": 20}))?;
        peer.ask(&json!({"do": "close", "name": "text"}))?;
    }
    let number =
        json!({"do": "writer", "name": "number", "topic": "/chaos/twofold", "kind": "Number"});
    peer.ask(&number)?;
    peer.ask(&json!({"do": "start", "name": "number", "rate": 100, "sizes": [8]}))?;
    pause(millis(dice, 600, 1200));
    peer.ask(&json!({"do": "stop", "names": ["number"]}))?;
    if both {
        peer.ask(&json!({"do": "stop", "names": ["text"]}))?;
        peer.ask(&json!({"do": "acked", "names": ["text"], "seconds": 20}))?;
    }
    tally.injected += 1;
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// The peer is stopped for a while with its sockets open.
pub(crate) fn stalled(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    robot.go(dice, 2000)?;
    let pid = i32::try_from(robot.peer.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or("no peer")?;
    for _ in 0..2 {
        pause(millis(dice, 100, 500));
        kill_process(pid, Signal::STOP)?;
        pause(millis(dice, 200, 3500));
        kill_process(pid, Signal::CONT)?;
        tally.injected += 1;
    }
    pause(millis(dice, 1500, 2500));
    robot.stop()?;
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}
