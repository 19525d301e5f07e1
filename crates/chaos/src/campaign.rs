use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use timeloom_time::sync::lock;
use timeloom_time::{Clock, Duration, Steady, Time};

use crate::Failure;
use crate::dice::Dice;
use crate::fault::{FAULTS, Fault};
use crate::options::Options;
use crate::tally::Tally;
use crate::test_bed::TestBed;

/// The cases in order, and their results.
pub(crate) struct Campaign {
    options: Options,
    clock: Clock<Steady>,
    started: Time<Steady>,
    next: Mutex<Next>,
    results: Mutex<BTreeMap<&'static str, Tally>>,
}

struct Next {
    dice: Dice,
    deck: Vec<Fault>,
    number: u64,
}

impl Campaign {
    pub(crate) fn new(options: &Options) -> Self {
        let clock = Clock::new();
        Self {
            options: options.clone(),
            started: clock.now(),
            clock,
            next: Mutex::new(Next {
                dice: Dice::new(options.seed, 0),
                deck: Vec::new(),
                number: 0,
            }),
            results: Mutex::default(),
        }
    }

    /// Runs until the time is over; returns the results by kind of fault.
    pub(crate) fn run(self, root: &Path) -> (BTreeMap<&'static str, Tally>, Duration) {
        std::thread::scope(|scope| {
            for worker in 0..self.options.workers {
                let campaign = &self;
                let root = root.join(format!("worker{worker}"));
                scope.spawn(move || {
                    if let Err(failure) = campaign.work(worker, &root) {
                        let tally = Tally {
                            problems: vec![failure.to_string()],
                            ..Tally::default()
                        };
                        campaign.add("(bed)", &tally);
                    }
                });
            }
        });
        let elapsed = self.clock.now() - self.started;
        let results = self.results.into_inner();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        for fault in FAULTS {
            if let Some(tally) = results.get_mut(fault.name) {
                let known = tally.problems.len();
                fault.check_proof(tally);
                tally.problems.iter().skip(known).for_each(|text| say(text));
            }
        }
        (results, elapsed)
    }

    fn work(&self, worker: u64, root: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(root)?;
        let mut bed = TestBed::new(&self.options, worker, root)?;
        while let Some((fault, number)) = self.draw() {
            self.try_out(&mut bed, fault, number)?;
        }
        Ok(())
    }

    /// The next case, while there is time.
    fn draw(&self) -> Option<(Fault, u64)> {
        let mut next = lock(&self.next);
        let minutes = (self.clock.now() - self.started).as_secs_f64() / 60.0;
        if minutes >= self.options.minutes || next.number >= self.options.cases {
            return None;
        }
        if next.deck.is_empty() {
            for fault in FAULTS {
                let share = self.options.share(fault);
                next.deck.extend((0..share).map(|_| *fault));
            }
            let mut deck = std::mem::take(&mut next.deck);
            next.dice.shuffle(&mut deck);
            next.deck = deck;
        }
        next.number += 1;
        Some((next.deck.pop()?, next.number))
    }

    fn try_out(&self, bed: &mut TestBed, fault: Fault, number: u64) -> Result<(), Failure> {
        let place = bed.directory(&format!("{number:04}"))?;
        let mut dice = Dice::new(self.options.seed, number);
        let mut tally = Tally::default();
        match (fault.act)(bed, &place, &mut dice, &mut tally) {
            Ok(()) => {}
            Err(failure) => {
                tally.hung += u64::from(matches!(failure, Failure::Hung(_)));
                tally.problems.push(failure.to_string());
            }
        }
        bed.heal()?;
        tally.survived = if tally.is_good() { tally.injected } else { 0 };
        if tally.is_good() {
            std::fs::remove_dir_all(&place).unwrap_or_default();
        } else {
            let kept = self
                .options
                .keep
                .join(format!("seed{}-{number:04}", self.options.seed));
            keep(&place, &kept);
            say(&format!(
                "case {number} ({}) failed, kept in {}",
                fault.name,
                kept.display()
            ));
            for problem in tally.problems.iter().take(3) {
                say(&format!("  {problem}"));
            }
            if let Some(more @ 1..) = tally.problems.len().checked_sub(3) {
                say(&format!("  and {more} more"));
            }
        }
        self.add(fault.name, &tally);
        Ok(())
    }

    fn add(&self, name: &'static str, tally: &Tally) {
        let mut results = lock(&self.results);
        results.entry(name).or_default().add(tally);
    }
}

/// Copies the files of a case to a directory that outlives the campaign.
fn keep(place: &Path, kept: &Path) {
    std::fs::remove_dir_all(kept).unwrap_or_default();
    let made = std::fs::create_dir_all(kept.parent().unwrap_or(kept));
    let copied = made.and_then(|()| {
        let mut copy = std::process::Command::new("cp");
        copy.arg("-r").arg(place).arg(kept).status().map(drop)
    });
    if let Err(error) = copied {
        say(&format!("  not kept: {error}"));
    }
}

#[expect(clippy::print_stderr, reason = "a program for people")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
