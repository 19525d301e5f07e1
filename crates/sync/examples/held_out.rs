//! The table of the held-out cases: `cargo run --release --example held_out -- [case] [first seed] [seeds] [method]`.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "../tests/it/held_out/cases.rs"]
mod cases;
#[path = "../tests/it/held_out/measure.rs"]
mod measure;
#[path = "../tests/it/held_out/world.rs"]
mod world;

use measure::Figures;
use timeloom_sync::{Limits, Method};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.first().cloned().unwrap_or_default();
    let number = |place: usize, usual: u64| -> u64 {
        let text = arguments.get(place);
        text.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let method: Method = arguments
        .get(3)
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    println!(
        "{:30} {:>8} {:>8} {:>8} {:>7} {:>6} {:>5} {:>4} {:>7} {:>3} {:>4} {:>5} {:>4} {:>7} {:>7}",
        "case, worst seed, µs",
        "p50",
        "p99",
        "max",
        "bias",
        "3σ",
        "broke",
        "out",
        "width",
        "ep",
        "back",
        "conv",
        "gaps",
        "×mean",
        "×regr"
    );
    for name in cases::NAMES.iter().filter(|name| name.starts_with(&wanted)) {
        line(name, number(1, 1)..number(1, 1) + number(2, 4), method);
    }
}

fn line(name: &'static str, seeds: std::ops::Range<u64>, method: Method) {
    let mut all: Vec<(Figures, f64, f64)> = Vec::new();
    for seed in seeds {
        let case = cases::case(name, seed);
        let rows = case.world.rows(seed);
        let figures = measure::measure(&case.world, &rows, method.clock(Limits::default()));
        let anchor = |method| measure::anchor_p99(&case.world, &rows, method) / figures.p99;
        let (mean, regression) = (anchor(Method::Mean), anchor(Method::Regression));
        all.push((figures, mean, regression));
    }
    let most = |of: &dyn Fn(&Figures) -> f64| all.iter().map(|one| of(&one.0)).fold(0.0, f64::max);
    let floor = if cases::case(name, 1).stable {
        ""
    } else {
        " (unstable floor)"
    };
    let signed = all.iter().map(|one| one.0.bias).sum::<f64>() / all.len() as f64;
    let least =
        |of: &dyn Fn(&(Figures, f64, f64)) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
    println!(
        "{name:30} {:8.1} {:8.1} {:8.1} {signed:7.1} {:6.3} {:5} {:4} {:7.0} {:3} {:4} {:5.1} {:4} {:7.1} {:7.1}{floor}",
        most(&|one| one.p50),
        most(&|one| one.p99),
        most(&|one| one.most),
        least(&|one| one.0.within_3_sigma),
        most(&|one| one.bounds_broken as f64),
        most(&|one| one.outside_bounds as f64),
        most(&|one| one.width),
        most(&|one| f64::from(one.epochs)),
        most(&|one| one.backwards as f64),
        most(&|one| one.converged_after),
        most(&|one| one.gaps as f64),
        least(&|one| one.1),
        least(&|one| one.2),
    );
}
