//! The same over Zenoh: TCP between the hosts, and no publisher announces its last sequence number.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::Failure;
use crate::account;
use crate::dice::Dice;
use crate::faults::kill::{self, Checks};
use crate::process::{Process, pause};
use crate::robot::{end, millis, storage};
use crate::script::{self, Script};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

const ENDPOINT: &str = "tcp/10.9.0.1:7447";

/// A peer with a reliable and a best-effort publisher.
struct Robot {
    peer: Script,
    names: [String; 2],
}

impl Robot {
    fn start(bed: &TestBed, place: &Path, prefix: &str) -> Result<Self, Failure> {
        let mut command = bed.command(Host::Robot, &bed.options.python);
        command
            .arg(script::path("zenoh_peer.py"))
            .arg("0")
            .arg(place.join("ledger"))
            .arg(ENDPOINT)
            .stderr(std::fs::File::create(place.join("peer.err"))?);
        let mut peer = Script::start(&mut command)?;
        let names = ["strong", "weak"].map(|name| format!("{prefix}{name}"));
        for (name, reliable) in names.iter().zip([true, false]) {
            let topic = if reliable {
                "/chaos/strong"
            } else {
                "/chaos/weak"
            };
            peer.ask(&json!({"do": "writer", "name": name, "topic": topic, "reliable": reliable}))?;
        }
        Ok(Self { peer, names })
    }

    fn go(&mut self, dice: &mut Dice) -> Done {
        if !self
            .peer
            .can(&json!({"do": "matched", "names": self.names}))?
        {
            return Err("no subscription".into());
        }
        self.go_at_once(dice)
    }

    fn go_at_once(&mut self, dice: &mut Dice) -> Done {
        for name in &self.names {
            let sizes: Vec<u64> = (0..7).map(|_| dice.between(24, 3000)).collect();
            let rate = dice.between(50, 300);
            self.peer
                .ask(&json!({"do": "start", "name": name, "rate": rate, "sizes": sizes}))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> Done {
        if self.peer.can(&json!({"do": "stop", "names": self.names}))? {
            Ok(())
        } else {
            Err(Failure::Hung("hung: a publisher waits".to_owned()))
        }
    }
}

/// Configures discovery of the robot only.
fn over_zenoh(command: &mut Command) -> &mut Command {
    let places =
        format!("connect/endpoints=[\"{ENDPOINT}\"];listen/endpoints=[\"tcp/127.0.0.1:0\"]");
    command
        .env("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")
        .env("ZENOH_ROUTER_CHECK_ATTEMPTS", "0")
        .env("ZENOH_CONFIG_OVERRIDE", places)
}

fn record(bed: &TestBed, place: &Path, dice: &mut Dice) -> Result<Process, Failure> {
    let mut recorder = start_recorder(bed, place, dice)?;
    recorder.begins()?;
    Ok(recorder)
}

fn start_recorder(bed: &TestBed, place: &Path, dice: &mut Dice) -> Result<Process, Failure> {
    let arguments = format!(
        "record --disable-keyboard-controls --format json --topics /chaos/strong /chaos/weak -o bag {}",
        storage(dice)
    );
    let mut command = bed.timeloom(Host::Desk, place, &arguments);
    Process::start(over_zenoh(&mut command), place, "record")
}

/// Loss, delay and short interruptions of the link; TCP repairs most of it.
pub(crate) fn link(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    let recorder = record(bed, place, dice)?;
    robot.go(dice)?;
    let hows = [
        json!({"loss": 0.03}),
        json!({"delay": 0.02, "jitter": 0.02}),
        json!({"reorder": 0.1, "duplicate": 0.1}),
        json!({"cut": true}),
    ];
    for _ in 0..2 {
        pause(millis(dice, 100, 400));
        let how = dice.pick(&hows).clone();
        bed.wire(&how)?;
        pause(millis(dice, 200, 1200));
        bed.wire(&json!({}))?;
        tally.injected += 1;
    }
    pause(millis(dice, 300, 600));
    robot.stop()?;
    // TCP retransmits with growing delays.
    pause(millis(dice, 2000, 2000));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// Robots are killed one after the other.
pub(crate) fn peer(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let recorder = record(bed, place, dice)?;
    for life in 0..dice.between(2, 4) {
        let mut robot = Robot::start(bed, place, &format!("life{life}_"))?;
        robot.go(dice)?;
        pause(millis(dice, 50, 900));
        robot.peer.kill()?;
        tally.injected += 1;
        tally.kills += 1;
    }
    pause(millis(dice, 100, 300));
    let ended = end(recorder, dice, tally)?;
    account::judge(bed, place, &ended, tally)
}

/// Recorders are killed one after the other.
pub(crate) fn recorder(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    robot.go_at_once(dice)?;
    for number in 0..dice.between(4, 7) {
        let recorder = start_recorder(bed, place, dice)?;
        let life = kill::killed(recorder, number % 4 == 3, dice, tally)?;
        kill::recovered(bed, place, life, Checks::Untimed, tally)?;
        if !tally.problems.is_empty() {
            return Ok(());
        }
        std::fs::remove_dir_all(place.join("bag")).unwrap_or_default();
    }
    Ok(())
}
