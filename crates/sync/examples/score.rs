//! Scores every estimator in every simulated family: `cargo run --release --example score -- [family] [first seed] [seeds]`.

use timeloom_sync::simulate::{Family, HostClock, Score, score, score_bare, score_smoothed};
use timeloom_sync::{Limits, Method};

fn worst(family: Family, method: Method, seeds: std::ops::Range<u64>) -> Vec<Score> {
    let scenario = family.scenario();
    let limits = Limits::default();
    let one = |seed| match method {
        // As the driver does it: on the system clock, without anything around.
        Method::Mean | Method::Regression => score_bare(
            &scenario,
            seed,
            method.estimator(&limits),
            HostClock::System,
        ),
        _ => score(&scenario, seed, method.clock(limits), HostClock::Steady),
    };
    seeds.map(one).collect()
}

#[expect(clippy::print_stdout, reason = "the table is what it is for")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().unwrap_or_default();
    let first: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let seeds: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(3);
    println!(
        "p99 of the error in microseconds, worst of {seeds} seeds; bound violations, backward steps, epochs"
    );
    for family in Family::ALL
        .iter()
        .filter(|family| family.name().starts_with(&wanted))
    {
        print!("{:26}", family.name());
        for method in Method::ALL {
            let scores = worst(*family, method, first..first + seeds);
            let most = |of: fn(&Score) -> f64| scores.iter().map(of).fold(0.0, f64::max);
            print!(" {method} {:8.1}", most(|score| score.p99_ns) / 1e3);
            if method == Method::Envelope {
                let sum = |of: fn(&Score) -> u64| scores.iter().map(of).sum::<u64>();
                print!(
                    " (max {:.0}, {:.1} sigma, settled {:.1} s, {} violations, {} back, {} epochs)",
                    most(|score| score.max_ns) / 1e3,
                    most(|score| score.p99_sigmas),
                    most(|score| score.settled_after_s),
                    sum(|score| score.bound_violations),
                    sum(|score| score.backwards),
                    most(|score| f64::from(score.epochs)),
                );
            }
        }
        let smoothed = (first..first + seeds)
            .filter_map(|seed| score_smoothed(&family.scenario(), seed, &Limits::default()).ok());
        let p99 = smoothed.map(|score| score.p99_ns).fold(0.0, f64::max);
        println!(" smoothed {:8.1}", p99 / 1e3);
    }
}
