//! Scores every estimator in every simulated family, as a table in Markdown:
//! `cargo run --release -p timeloom-sync --example score -- [family] [first seed] [seeds] [worst|mean]`.
//! A figure is that of the worst seed, or the mean of all seeds. `[ours]` behind it leaves the other estimators out.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod kalman;

use kalman::Kalman;
use timeloom_sync::simulate::{Family, HostClock, Scenario, Score, score, score_bare};
use timeloom_sync::{Estimator, Limits, Method};

const SEEDS: u64 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().unwrap_or_default();
    let mut number = |usual: u64| -> u64 {
        let text = arguments.next();
        text.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let first = number(1);
    let seeds: Vec<u64> = (first..first + number(SEEDS)).collect();
    let over = match arguments.next().as_deref() {
        Some("mean") => Over::Mean,
        _ => Over::Worst,
    };
    println!(
        "| scenario | p50 | p99 | hull | Kalman | mean | regression | bias | p99 with bias | 2σ | bounds | width | locked | locked and wrong | backwards | negative | epochs |"
    );
    println!(
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let others: &[&str] = match arguments.next().as_deref() {
        Some("ours") => &[],
        _ => &["hull", "kalman", "mean", "regression"],
    };
    let families = Family::ALL
        .iter()
        .filter(|family| family.name().starts_with(&wanted));
    for family in families.clone() {
        println!("{}", row(*family, &seeds, over, others));
    }
    println!();
    println!("| both kinds, p99 with bias | together | packets alone | requests alone |");
    println!("|---|---:|---:|---:|");
    let is_both = |family: &&Family| {
        let scenario = family.scenario();
        scenario.rate_hz.is_some() && scenario.requests.is_some()
    };
    for family in families.filter(is_both) {
        println!("{}", sides(*family, &seeds, over));
    }
}

fn ours(scenario: &Scenario, seeds: &[u64], clock: HostClock) -> Vec<Score> {
    let one = |seed: &u64| {
        score(
            scenario,
            *seed,
            Method::Envelope.clock(Limits::default()),
            clock,
        )
    };
    seeds.iter().map(one).collect()
}

/// What a figure is over all seeds.
#[derive(Debug, Clone, Copy)]
enum Over {
    /// That of the worst seed.
    Worst,
    /// The mean.
    Mean,
}

impl Over {
    fn all(self, scores: &[Score], of: fn(&Score) -> f64) -> f64 {
        let figures = scores.iter().map(of);
        match self {
            Self::Worst => figures.fold(0.0, f64::max),
            Self::Mean => figures.sum::<f64>() / scores.len().max(1) as f64,
        }
    }
}

fn micros(nanos: f64) -> String {
    match nanos * 1e-3 {
        micros if !micros.is_finite() => "–".into(),
        micros if micros.abs() < 100.0 => format!("{micros:.1}"),
        micros => format!("{micros:.0}"),
    }
}

/// One family: ours against others.
fn row(family: Family, seeds: &[u64], over: Over, others: &[&str]) -> String {
    let scenario = family.scenario();
    let clock = family.host_clock();
    let scores = ours(&scenario, seeds, clock);
    let others: Vec<String> = others
        .iter()
        .map(|name| other(&scenario, seeds, (clock, over), name))
        .collect();
    let sum = |of: fn(&Score) -> u64| scores.iter().map(of).sum::<u64>();
    let all = sum(|score| score.evaluations).max(1) as f64;
    let percent = |share: f64| format!("{:.1} %", (share * 1_000.0).floor() / 10.0);
    let within = scores
        .iter()
        .map(|score| score.within_2_sigma)
        .fold(1.0, f64::min);
    let bias = scores.iter().map(|score| score.bias_ns).sum::<f64>() / scores.len().max(1) as f64;
    format!(
        "| {family} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        micros(over.all(&scores, |score| score.p50_ns)),
        micros(over.all(&scores, |score| score.p99_ns)),
        others.join(" | "),
        micros(bias),
        micros(over.all(&scores, |score| score.raw_p99_ns)),
        percent(within),
        percent(1.0 - sum(|score| score.bound_violations) as f64 / all),
        micros(over.all(&scores, |score| score.width_ns)),
        percent(sum(|score| score.locked) as f64 / all),
        sum(|score| score.locked_and_wrong),
        sum(|score| score.backwards),
        sum(|score| score.negative),
        over.all(&scores, |score| f64::from(score.epochs)),
    )
}

/// p99 of another estimator, used as its driver uses it: without anything around.
fn other(
    scenario: &Scenario,
    seeds: &[u64],
    (clock, over): (HostClock, Over),
    name: &str,
) -> String {
    let make = || -> Box<dyn Estimator> {
        match name.parse::<Method>() {
            Ok(method) => method.estimator(&Limits::default()),
            Err(_) => Box::new(Kalman::default()),
        }
    };
    // The drivers use the system clock, where it is stepped; hull and Kalman are as they would be on the steady one.
    let clock = match name {
        "mean" | "regression" => HostClock::System,
        _ => clock,
    };
    let scores: Vec<Score> = seeds
        .iter()
        .map(|seed| score_bare(scenario, *seed, make(), clock))
        .collect();
    micros(over.all(&scores, |score| score.p99_ns))
}

/// What each kind of samples does by itself.
fn sides(family: Family, seeds: &[u64], over: Over) -> String {
    let scenario = family.scenario();
    let clock = family.host_clock();
    let packets = Scenario {
        requests: None,
        ..scenario
    };
    let requests = Scenario {
        rate_hz: None,
        ..scenario
    };
    let [together, packets, requests] = [scenario, packets, requests]
        .map(|scenario| micros(over.all(&ours(&scenario, seeds, clock), |score| score.raw_p99_ns)));
    format!("| {family} | {together} | {packets} | {requests} |")
}
