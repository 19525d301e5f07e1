//! What `make demo` shows: a clock under control, a clock that follows a coarse simulator and the clock of a lidar,
//! drawn in the terminal, each checked against what it should show. Exits with 1 if any check fails.
#![expect(clippy::print_stdout, reason = "a demo shows what it does")]

mod demo_lidar;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use timeloom_time::{
    Clock, ControlledClock, Duration, ExternalClock, JumpHandler, JumpThreshold, PlaybackRate,
    PlayerClock, Rate, SourceId, Steady, Time, TimeBase, TimeHub, TimeHubOptions,
};

type Outcome = Result<bool, Box<dyn std::error::Error>>;

/// One act of the play: what is done, what it is called, and how fast time goes meanwhile.
struct Act {
    title: &'static str,
    begin: fn(&ControlledClock) -> Result<(), Box<dyn std::error::Error>>,
    rate: f64,
}

const ACTS: [Act; 6] = [
    Act {
        title: "play",
        begin: |clock| Ok(clock.resume()?),
        rate: 1.0,
    },
    Act {
        title: "rate ×3",
        begin: |clock| Ok(clock.set_rate(PlaybackRate::new(3.0)?)?),
        rate: 3.0,
    },
    Act {
        title: "pause",
        begin: |clock| Ok(clock.pause()?),
        rate: 0.0,
    },
    Act {
        title: "resume ×½",
        begin: |clock| {
            clock.set_rate(PlaybackRate::new(0.5)?)?;
            Ok(clock.resume()?)
        },
        rate: 0.5,
    },
    Act {
        title: "seek to 1 s",
        begin: |clock| Ok(clock.jump(Time::from_nanos(1_000_000_000))?),
        rate: 0.5,
    },
    Act {
        title: "rate ×4",
        begin: |clock| Ok(clock.set_rate(PlaybackRate::new(4.0)?)?),
        rate: 4.0,
    },
];

const FRAME: Duration = Duration::from_millis(40);
const FRAMES_PER_ACT: usize = 25;

fn main() -> ExitCode {
    println!("Timeloom: time for ROS 2, in Rust\n");
    match controlled().and_then(|first| Ok(first & external()? & demo_lidar::lidar()?)) {
        Ok(true) => {
            println!("\nEvery check held. Next: `make test`, and README.md.");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            println!("\nA check FAILED.");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}

fn controlled() -> Outcome {
    println!("1. A clock under control (player time from 0 to 8 s)\n");
    let clock = ControlledClock::new(&TimeBase::machine(), Time::ZERO);
    let announcer =
        JumpHandler::new("demo", JumpThreshold::DISRUPTIVE).after(|jump| println!("   ◀ {jump}"));
    let _announcer = clock.add_jump_handler(announcer);
    let mut frames = Rate::new(&Clock::<Steady>::new(), FRAME)?;
    let mut all_hold = true;
    for act in &ACTS {
        (act.begin)(&clock)?;
        let (begin, reference) = (clock.now(), clock.reference());
        for frame in 0..FRAMES_PER_ACT {
            let _tick = frames.sleep();
            draw(act.title, clock.now(), frame + 1 == FRAMES_PER_ACT);
        }
        // The equation of the design: R = (S - S_ref) * rate + R_ref, between two readings of steady time.
        let steady = Clock::<Steady>::new();
        let (before, shown, after) = (steady.now(), clock.now(), steady.now());
        let expected = |at: Time<Steady>| {
            reference.ros.as_secs_f64() + (at - reference.steady).as_secs_f64() * act.rate
        };
        let holds = shown >= begin
            && shown.as_secs_f64() >= expected(before) - 1e-6
            && shown.as_secs_f64() <= expected(after) + 1e-6;
        println!("   {} at the rate set, to the microsecond", verdict(holds));
        all_hold &= holds;
    }
    Ok(all_hold)
}

/// Draws player time as a bar that grows in place on a terminal, and once per act elsewhere.
fn draw(title: &str, now: Time<timeloom_time::Ros>, last: bool) {
    let terminal = std::io::stdout().is_terminal();
    if terminal || last {
        let seconds = now.as_secs_f64();
        let filled = ((seconds / 8.0) * 48.0).clamp(0.0, 48.0).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=48"
        )]
        let filled = filled as usize;
        let bar = "█".repeat(filled) + &"·".repeat(48 - filled);
        let begin = if terminal { "\r" } else { "" };
        print!(
            "{begin}   {title:<12} {bar} {seconds:6.3} s {}",
            if last { "\n" } else { "" }
        );
        // A broken pipe shows at the next line.
        let _flushed = std::io::stdout().flush();
    }
}

fn external() -> Outcome {
    println!("\n2. Time from a simulator: 10 samples a second, at 0.7 of real time\n");
    let plain = TimeHub::new(&TimeBase::machine());
    let options = TimeHubOptions {
        extrapolate: true,
        ..TimeHubOptions::default()
    };
    let smooth = TimeHub::with_options(&TimeBase::machine(), options);
    let clocks = [ExternalClock::new(&plain), ExternalClock::new(&smooth)];
    let sinks = [&plain, &smooth].map(|hub| hub.sink(SourceId::named("simulator")));

    let steady = Clock::<Steady>::new();
    let begin = steady.now();
    let truth = |at: Time<Steady>| 1_000.0 + (at - begin).as_secs_f64() * 0.7;
    let mut worst = [0.0f64; 2];
    let mut backwards = 0;
    let mut last = [Time::ZERO; 2];
    let mut reads = Rate::from_hertz(&steady, 1_000.0)?;
    for read in 0..1_500u32 {
        let at = reads.sleep().map_err(|woke| woke.to_string())?.actual;
        if read % 100 == 0 {
            let sample = Time::try_from_secs_f64(truth(at)).unwrap_or_default();
            for sink in &sinks {
                sink.tick(sample);
            }
        }
        // Three samples make a rate; errors count from then on.
        for (n, clock) in clocks.iter().enumerate().filter(|_| read > 300) {
            let now = clock.now();
            worst[n] = worst[n].max((truth(steady.now()) - now.as_secs_f64()).abs());
            backwards += u32::from(now < last[n]);
            last[n] = now;
        }
    }
    println!(
        "   as ROS does it   off by up to {:8.3} ms between samples",
        worst[0] * 1e3
    );
    println!("   extrapolated     off by up to {:8.3} ms", worst[1] * 1e3);
    let holds = worst[1] < worst[0] && worst[1] < 0.07 && backwards == 0;
    println!(
        "   {} within one sample period, and never backwards",
        verdict(holds)
    );
    Ok(holds)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "✔ holds:" } else { "✘ FAILS:" }
}
