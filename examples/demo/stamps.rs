//! Sensor time: the stamps of the recorded scans against the times at which they were really measured.

use std::path::Path;

use crate::Failure;
use crate::bag_file::log_times;
use crate::claim::{Chapter, Claim, Table, quantile, span};
use crate::truth::{TOPICS, Truth};

/// The estimator knows nothing at first; so many scans (a second) are not counted.
const FIRST: usize = 30;
/// Required improvement of a stamp over the time of arrival.
const BETTER: i64 = 20;

pub(crate) fn check(bag: &Path, truth: &Truth) -> Result<Chapter, Failure> {
    let (topic, type_name) = TOPICS[0];
    let recorded = log_times(bag, topic, type_name)?;
    let (mut ours, mut arrival, mut signed) = (Vec::new(), Vec::new(), Vec::new());
    for scan in truth.of(topic).iter().skip(FIRST) {
        let (Some(really), Some(came)) = (scan.truth_ns, recorded.get(&scan.stamp_ns)) else {
            continue;
        };
        signed.push(scan.stamp_ns - really);
        ours.push((scan.stamp_ns - really).abs());
        arrival.push((came - really).abs());
    }
    let row = |name: &str, errors: &mut [i64]| {
        let mut row = vec![name.to_owned()];
        row.extend([0.5, 0.99, 1.0].map(|share| span(quantile(errors, share))));
        row
    };
    let bias = quantile(&mut signed, 0.5);
    let mut varying: Vec<i64> = signed.iter().map(|error| (error - bias).abs()).collect();
    let constant = |bias: i64| {
        let sign = if bias < 0 { "-" } else { "+" };
        format!("{sign}{}", span(bias.abs()))
    };
    let nothing = || "–".to_owned();
    let report = truth.report.map(|report| {
        let (early, late) = report.bias_ns;
        let bounds = vec![
            "hard bounds of the driver: earliest, latest".to_owned(),
            constant(early),
            constant(late),
            nothing(),
        ];
        let sigma = vec![
            "spread reported by the driver (sigma)".to_owned(),
            span(report.sigma_ns),
            nothing(),
            nothing(),
        ];
        [sigma, bounds]
    });
    let mut rows = vec![
        row("stamp by the synchronised clock", &mut ours),
        vec![
            "its bias: what is constant of it".to_owned(),
            constant(bias),
            nothing(),
            nothing(),
        ],
        row("its spread: what varies of it", &mut varying),
    ];
    rows.extend(report.into_iter().flatten());
    rows.push(row("time of arrival, for comparison", &mut arrival));
    let table = Table {
        head: vec![
            "error of a scan's time against the truth",
            "p50",
            "p99",
            "most",
        ],
        rows,
    };
    let (p99, by_arrival) = (quantile(&mut ours, 0.99), quantile(&mut arrival, 0.5));
    Ok(Chapter {
        title: "Sensor time: a lidar whose clock drifts by 60 to 80 ppm",
        table,
        claims: vec![
            Claim::new(
                ours.len() > 100,
                format!(
                    "{} scans compared with the simulated lidar's true clock",
                    ours.len()
                ),
            ),
            Claim::new(
                p99.saturating_mul(BETTER) < by_arrival,
                format!("99 of 100 stamps are within {} of the truth", span(p99)),
            ),
        ],
    })
}
