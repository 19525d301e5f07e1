use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use timeloom_time::Duration;

use crate::Failure;
use crate::dice::Dice;
use crate::process::{Ended, Process};
use crate::script::Script;
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

/// A peer that publishes on three topics: reliable with full history, reliable with short history, best effort.
pub(crate) struct Robot {
    pub(crate) peer: Script,
    names: Vec<String>,
}

/// Memory of a recorder beyond its cache: the program, its threads, buffers of the middleware.
const MEMORY_BESIDE_CACHE: u64 = 64 << 20;
pub(crate) const CACHE: u64 = 8 << 20;
pub(crate) const TOPICS: &str = "/chaos/strong /chaos/shallow /chaos/weak";

impl Robot {
    /// Starts on the robot's host; `prefix` makes the names of its writers unique.
    pub(crate) fn start(bed: &TestBed, directory: &Path, prefix: &str) -> Result<Self, Failure> {
        let mut peer = bed.peer(Host::Robot, directory)?;
        let mut names = Vec::new();
        for (topic, more) in [
            ("strong", json!({})),
            ("shallow", json!({"depth": 5})),
            ("weak", json!({"reliable": false})),
        ] {
            let name = format!("{prefix}{topic}");
            let topic = format!("/chaos/{topic}");
            peer.ask(&with(
                json!({"do": "writer", "name": name, "topic": topic}),
                more,
            ))?;
            names.push(name);
        }
        Ok(Self { peer, names })
    }

    /// Publishes continuously once there is a subscriber.
    pub(crate) fn go(&mut self, dice: &mut Dice, largest: u64) -> Result<(), Failure> {
        let matched = self
            .peer
            .can(&json!({"do": "matched", "names": self.names}))?;
        if !matched {
            return Err("no subscription".into());
        }
        self.go_at_once(dice, largest)
    }

    /// Publishes continuously, with or without subscribers.
    pub(crate) fn go_at_once(&mut self, dice: &mut Dice, largest: u64) -> Result<(), Failure> {
        for name in &self.names {
            let sizes: Vec<u64> = (0..7).map(|_| dice.between(24, largest)).collect();
            let rate = dice.between(50, 400);
            self.peer
                .ask(&json!({"do": "start", "name": name, "rate": rate, "sizes": sizes}))?;
        }
        Ok(())
    }

    /// Stops publishing without waiting for acknowledgements.
    pub(crate) fn stop_at_once(&mut self) -> Result<(), Failure> {
        self.peer.ask(&json!({"do": "stop", "names": self.names}))?;
        Ok(())
    }

    /// Stops publishing and waits until reliable readers have everything.
    pub(crate) fn stop(&mut self) -> Result<(), Failure> {
        if !self.peer.can(&json!({"do": "stop", "names": self.names}))? {
            return Err(Failure::Hung(
                "hung: a publisher waits for the recorder".to_owned(),
            ));
        }
        let reliable = self.names.get(..2).unwrap_or_default();
        let acked = json!({"do": "acked", "names": reliable, "seconds": 20});
        if !self.peer.can(&acked)? {
            return Err(Failure::Hung(
                "hung: the recorder does not acknowledge".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Merges the fields of two objects.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// Random storage options of a recorder.
pub(crate) fn storage(dice: &mut Dice) -> String {
    let how = *dice.pick(&[
        "",
        "",
        "-s sqlite3",
        "--storage-preset-profile zstd_fast",
        "--compression-mode message --compression-format zstd",
        "-b 1000000",
        "-d 1",
    ]);
    format!("--max-cache-size {CACHE} {how}")
}

/// Ends a recorder as Ctrl-C or `docker stop` does, and checks its memory.
pub(crate) fn end(recorder: Process, dice: &mut Dice, tally: &mut Tally) -> Result<Ended, Failure> {
    let signal = *dice.pick(&[Signal::INT, Signal::TERM]);
    let ended = recorder.end(signal)?;
    memory(&ended, tally);
    Ok(ended)
}

/// Checks that memory stays below the cache plus a constant.
pub(crate) fn memory(ended: &Ended, tally: &mut Tally) {
    let peak = ended.peak_bytes;
    tally.peak_bytes = tally.peak_bytes.max(peak);
    tally.check(peak <= CACHE + MEMORY_BESIDE_CACHE, || {
        format!("it took {peak} bytes of memory")
    });
    tally.check(
        ended.signal.is_none() && !ended.stderr.contains("panicked"),
        || format!("it crashed ({:?}): {}", ended.signal, ended.stderr),
    );
}

/// A number of milliseconds.
pub(crate) fn millis(dice: &mut Dice, low: u64, high: u64) -> Duration {
    Duration::from_millis(i64::try_from(dice.between(low, high)).unwrap_or(0))
}
