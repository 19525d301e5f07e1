//! kill -9 at random moments: sealed messages are kept, and the account covers the rest.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use timeloom_time::{Clock, System};

use crate::Failure;
use crate::account::{Published, Seen, law, sort};
use crate::bag::{self, Stored};
use crate::claims::Claims;
use crate::dice::Dice;
use crate::ledger::{Ledger, Life, Line};
use crate::playback::{self, Played, Source};
use crate::process::{BOUND, Process, pause, until};
use crate::robot::{Robot, TOPICS, end, memory, millis, storage};
use crate::tally::Tally;
use crate::test_bed::{Host, TestBed};

type Done = Result<(), Failure>;

/// Recorders are killed one after the other while a robot continues to publish.
pub(crate) fn recorder(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    robot.go_at_once(dice, 3000)?;
    for number in 0..dice.between(6, 10) {
        let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
        let recorder = bed.start_recorder(place, &arguments)?;
        let life = killed(recorder, number % 4 == 3, dice, tally)?;
        recovered(bed, place, life, Checks::All, tally)?;
        if !tally.problems.is_empty() {
            return Ok(());
        }
        std::fs::remove_dir_all(place.join("bag")).unwrap_or_default();
    }
    Ok(())
}

/// A recorder that was stopped while best-effort messages arrived knows its losses for seconds; then it is killed.
pub(crate) fn lossy_recorder(
    bed: &mut TestBed,
    place: &Path,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    let begun_ns = now_ns();
    robot.go(dice, 20_000)?;
    pause(millis(dice, 300, 800));
    bed.wire(&json!({"loss": 0.2}))?;
    recorder.signal(Signal::STOP)?;
    pause(millis(dice, 500, 1500));
    recorder.signal(Signal::CONT)?;
    pause(millis(dice, 300, 800));
    bed.wire(&json!({}))?;
    pause(millis(dice, 2700, 4000));
    let life = kill(recorder, begun_ns, tally)?;
    robot.stop_at_once()?;
    recovered(bed, place, life, Checks::All, tally)
}

/// The system time in nanoseconds.
fn now_ns() -> u64 {
    u64::try_from(Clock::<System>::new().now().nanos()).unwrap_or(0)
}

/// Kills a recorder after it has started, or at any moment from its start on.
pub(crate) fn killed(
    mut recorder: Process,
    at_start: bool,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Result<Life, Failure> {
    let started_ns = now_ns();
    if at_start {
        pause(millis(dice, 0, 1500));
        return kill(recorder, started_ns, tally);
    }
    recorder.begins()?;
    let begun_ns = now_ns();
    // Some are killed early; others run long enough to save accounts.
    let longest = *dice.pick(&[1500, 3000, 6000, 8000]);
    pause(millis(dice, 300, longest));
    kill(recorder, begun_ns, tally)
}

fn kill(recorder: Process, begun_ns: u64, tally: &mut Tally) -> Result<Life, Failure> {
    let died_ns = now_ns();
    let mut ended = recorder.end(Signal::KILL)?;
    tally.injected += 1;
    tally.kills += 1;
    ended.signal = None;
    memory(&ended, tally);
    Ok(Life { begun_ns, died_ns })
}

/// Strictness of the check of a killed recorder's bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// Also checks the unknown messages: at most those published after the last saved account.
    All,
    /// Without times: Zenoh sends late what TCP held back, and a `recover` that was killed may have truncated a file.
    Untimed,
}

/// Checks `info`, `recover` and `cat` on the bag of a killed recorder.
pub(crate) fn recovered(
    bed: &mut TestBed,
    place: &Path,
    life: Life,
    checks: Checks,
    tally: &mut Tally,
) -> Done {
    if !place.join("bag").exists() {
        return Ok(());
    }
    let sealed = bed.oracle.ask(&json!({"bag": place.join("bag")}))?;
    let ledger = Ledger::read(place)?;
    let (code, info, words) = bag::ask(bed, place, "info bag")?;
    let (recovered, report, said) = bag::ask(bed, place, "recover bag")?;
    if recovered == 1 {
        // The recorder was killed before it wrote anything.
        let empty = sealed.as_array().is_none_or(Vec::is_empty);
        tally.check(empty && code == 1, || {
            format!("not recovered: {said}; info: {words}")
        });
        return Ok(());
    }
    tally.check(matches!((code, recovered), (0 | 3, 0 | 3)), || {
        format!("info ended with {code}: {words}; recover with {recovered}: {said}")
    });
    let stored = bag::read(bed, place, "bag")?;
    check_sealed(&sealed, &stored, tally);
    let recovered_count = report["message_count"].as_u64();
    tally.check(recovered_count == Some(stored.len() as u64), || {
        format!(
            "recover reports {recovered_count:?} messages, the bag has {}",
            stored.len()
        )
    });
    let before = info["message_count"].as_u64();
    tally.check(before <= recovered_count, || {
        format!("info saw {before:?} messages, recover {recovered_count:?}")
    });
    let claims = claims(bed, place, tally)?;
    let (again, _, words) = bag::ask(bed, place, "recover bag")?;
    tally.check(again == 0, || format!("recovered twice: {again}: {words}"));
    let after = self::claims(bed, place, tally)?;
    tally.check(claims == after, || {
        format!("the account was {claims:?}, after a second recover it is {after:?}")
    });
    conserve(&ledger, &stored, &claims, life, checks, tally);
    if checks == Checks::All {
        check_age(&ledger, &stored, life.died_ns, tally);
    }
    Ok(())
}

/// The account of the bag.
fn claims(bed: &TestBed, place: &Path, tally: &mut Tally) -> Result<Claims, Failure> {
    let (code, info, words) = bag::ask(bed, place, "info -v bag")?;
    tally.check(code == 0, || format!("info ended with {code}: {words}"));
    Ok(Claims::read(&info))
}

/// Everything that other libraries could read before is still there.
fn check_sealed(sealed: &Value, stored: &[Stored], tally: &mut Tally) {
    let mut there: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for message in stored {
        *there
            .entry((message.topic.clone(), crc32fast::hash(&message.data)))
            .or_default() += 1;
    }
    for message in sealed.as_array().into_iter().flatten() {
        let topic = message[0].as_str().unwrap_or_default().to_owned();
        let crc = message[1].as_u64().and_then(|crc| u32::try_from(crc).ok());
        let count = there.get_mut(&(topic, crc.unwrap_or(0)));
        let found = count.map(|count| std::mem::replace(count, count.saturating_sub(1)));
        tally.unexplained(u64::from(found.unwrap_or(0) == 0), || {
            format!("sealed and not recovered: {message}")
        });
    }
}

/// The law for a recorder that could not write its last account: messages after the previous one are unknown, and the
/// bag reports that; messages missing long before the kill are counted.
fn conserve(
    ledger: &Ledger,
    stored: &[Stored],
    claims: &Claims,
    life: Life,
    checks: Checks,
    tally: &mut Tally,
) {
    let seen = sort(ledger, stored, tally);
    let lived = ledger.within(life, &seen);
    let (mut published, numbered) = in_life(ledger, &lived, &seen);
    tally.check(claims.interrupted, || {
        "the bag does not say that its recorder was killed".to_owned()
    });
    // A topic that the recorder had not discovered yet is in no bag.
    published.retain(|_, published| claims.topics.contains_key(&published.topic));
    law(&published, &numbered, claims, tally);
    if checks == Checks::All {
        check_unheard(ledger, &seen, claims, life, tally);
    }
    for (topic, counts) in &claims.topics {
        let peers = topic.starts_with("/chaos");
        tally.check(counts.interrupted || !peers, || {
            format!("{topic}: the bag does not say that its recorder was killed: {counts:?}")
        });
        if checks == Checks::All {
            let (heads, holes) = old_gaps(ledger, &seen, topic, life);
            let said = counts.missing() + counts.before;
            tally.unexplained(holes.saturating_sub(counts.missing()), || {
                format!("{topic}: {holes} were missing long before the kill, and {counts:?}")
            });
            tally.unexplained((heads + holes).saturating_sub(said), || {
                format!("{topic}: {heads} came before the first ones, and {counts:?}")
            });
        }
    }
}

/// The messages published while the recorder ran, numbered from there, and those of them in the bag.
fn in_life(
    ledger: &Ledger,
    lived: &BTreeMap<String, (u64, u64)>,
    seen: &Seen,
) -> (BTreeMap<String, Published>, Seen) {
    let (mut published, mut numbered) = (BTreeMap::new(), Seen::new());
    for (name, writer) in &ledger.writers {
        let (begin, end) = lived.get(name).copied().unwrap_or_default();
        let of_writer = Published {
            topic: writer.topic.clone(),
            count: end - begin,
        };
        published.insert(name.clone(), of_writer);
        if let Some(numbers) = seen.get(name) {
            let from_begin = numbers.iter().map(|number| number - begin);
            numbered.insert(name.clone(), from_begin.collect());
        }
    }
    (published, numbered)
}

/// A publisher without any recorded message may be undiscovered: that explains messages sent during discovery and after
/// the last save. For messages between these, the bag must have a count or report the end of the publisher as unknown.
fn check_unheard(ledger: &Ledger, seen: &Seen, claims: &Claims, life: Life, tally: &mut Tally) {
    let found_ns = life.begun_ns + FOUND_AFTER_NS;
    for (name, writer) in &ledger.writers {
        let counts = claims.topics.get(&writer.topic).copied();
        let said = counts.is_some_and(|counts| counts.open > 0 || counts.missing() > 0);
        if seen.contains_key(name) || said {
            continue;
        }
        let is_due =
            |line: &&Line| line.time_ns > found_ns && line.time_ns + KEPT_AFTER_NS < life.died_ns;
        let due = writer.messages.iter().filter(is_due).count();
        tally.unexplained(due as u64, || {
            format!("{name}: {due} were sent long after the recorder began and before the kill, and {counts:?}")
        });
    }
}

/// Missing messages of a topic before the first and between recorded ones, published long before a kill.
fn old_gaps(ledger: &Ledger, seen: &Seen, topic: &str, life: Life) -> (u64, u64) {
    let is_old = |line: &Line| line.time_ns + KEPT_AFTER_NS < life.died_ns;
    let writers = ledger.writers.iter();
    let writers = writers.filter(|(_, writer)| writer.topic == topic);
    let gaps = writers.filter_map(|(name, writer)| {
        let numbers = seen.get(name)?;
        let first = *numbers.first()?;
        let line = writer.messages.get(usize::try_from(first).ok()?)?;
        let missing = |(number, line): &(u64, &Line)| {
            *number > first && is_old(line) && !numbers.contains(number)
        };
        let holes = (0..).zip(&writer.messages).filter(missing).count() as u64;
        Some((if is_old(line) { first } else { 0 }, holes))
    });
    gaps.fold((0, 0), |sum, gap| (sum.0 + gap.0, sum.1 + gap.1))
}

/// The longest time until a message is in the file, or its loss in the account.
const KEPT_AFTER_NS: u64 = 2_500_000_000;

/// The longest time that discovery takes after a recorder started.
const FOUND_AFTER_NS: u64 = 3_000_000_000;

/// Messages are written after half a second; a kill loses no more than that, plus time for a busy machine.
fn check_age(ledger: &Ledger, stored: &[Stored], died: u64, tally: &mut Tally) {
    for (name, numbers) in sort(ledger, stored, &mut Tally::default()) {
        let Some(writer) = ledger.writers.get(&name) else {
            continue;
        };
        let last = numbers.last().and_then(|last| usize::try_from(*last).ok());
        let after = writer.messages.get(last.unwrap_or(0) + 1..);
        let is_old = |line: &&Line| line.time_ns + KEPT_AFTER_NS < died;
        let old = after.unwrap_or_default().iter().filter(is_old).count();
        tally.unexplained(old as u64, || {
            format!("{name}: {old} at the end came long before the kill")
        });
    }
}

/// `recover` itself is killed, again and again; in the end it succeeds.
pub(crate) fn recover(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let mut robot = Robot::start(bed, place, "")?;
    robot.go_at_once(dice, 20_000)?;
    let arguments = format!("--topics {TOPICS} -o bag {}", storage(dice));
    let recorder = bed.record(place, &arguments)?;
    let begun_ns = now_ns();
    pause(millis(dice, 1500, 3000));
    let died_ns = now_ns();
    drop(recorder.end(Signal::KILL)?);
    drop(robot);
    tally.kills += 1;
    for _ in 0..dice.between(3, 8) {
        let mut command = bed.timeloom(Host::Desk, place, "recover bag");
        let process = Process::start(&mut command, place, "killed")?;
        pause(millis(dice, 1, 40));
        drop(process.end(Signal::KILL)?);
        tally.injected += 1;
        tally.kills += 1;
    }
    let life = Life { begun_ns, died_ns };
    recovered(bed, place, life, Checks::Untimed, tally)
}

/// Players are killed; their bags stay unchanged, and a recording of their messages has no gap.
pub(crate) fn player(bed: &mut TestBed, place: &Path, dice: &mut Dice, tally: &mut Tally) -> Done {
    let source = Source::of(bed, dice)?;
    for number in 0..dice.between(2, 4) {
        let place = place.join(format!("play{number}"));
        std::fs::create_dir_all(&place)?;
        let recorder = bed.record(
            &place,
            &format!("--topics {TOPICS} -o bag {}", storage(dice)),
        )?;
        let rate = dice.between(1, 2);
        let arguments = format!(
            "play {} -r {rate} --disable-keyboard-controls",
            source.bag.display()
        );
        let mut command = bed.timeloom(Host::Robot, &place, &arguments);
        let mut player = Process::start(&mut command, &place, "play")?;
        // The first player is killed while it plays, others also during discovery.
        if number == 0 || dice.between(0, 2) > 0 {
            until(BOUND, || {
                let (_, info, _) = bag::ask(bed, &place, "info bag")?;
                Ok(info["message_count"].as_u64() > Some(0) || !player.runs()?)
            })?;
            pause(millis(dice, 0, 1000));
        } else {
            pause(millis(dice, 200, 1500));
        }
        drop(player.end(Signal::KILL)?);
        tally.injected += 1;
        tally.kills += 1;
        pause(millis(dice, 50, 200));
        let ended = end(recorder, dice, tally)?;
        source.check_untouched(tally)?;
        playback::judge(bed, &place, &source, &ended, Played::UpToSomewhere, tally)?;
    }
    Ok(())
}
