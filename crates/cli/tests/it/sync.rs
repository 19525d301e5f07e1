//! `timeloom sync fit`, `simulate` and `convert`: from samples to host times.

use std::fs;

use crate::support::Sandbox;

/// A row of the output of `sync fit`.
struct Fitted {
    device: i64,
    host: i64,
    sigma: i64,
    lower: Option<i64>,
    upper: Option<i64>,
    health: String,
    epoch: u32,
}

fn fitted(text: &str) -> Vec<Fitted> {
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch,max_skew_ppm,max_drift_ppm"
        )
    );
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), 9, "{line}");
            let bound = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
            Fitted {
                device: cells[0].parse().unwrap(),
                host: cells[1].parse().unwrap(),
                sigma: cells[2].parse().unwrap(),
                lower: bound(cells[3]),
                upper: bound(cells[4]),
                health: cells[5].to_owned(),
                epoch: cells[6].parse().unwrap(),
            }
        })
        .collect()
}

/// `truth_ns` and `floor_ns` of a simulated table.
fn truths(text: &str) -> Vec<(i64, i64)> {
    text.lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.rsplit(',');
            let floor = cells.next().unwrap().parse().unwrap();
            (cells.next().unwrap().parse().unwrap(), floor)
        })
        .collect()
}

#[test]
fn every_row_gets_a_host_time_that_is_right_and_bounded() {
    let sandbox = Sandbox::new();
    for (family, most) in [("p4", 150_000), ("a2", 500_000), ("m1", 300_000)] {
        sandbox.ok(&format!(
            "sync simulate {family} --seed 11 --duration 90 -o {family}.csv"
        ));
        sandbox.ok(&format!("sync fit {family}.csv --causal --output out.csv"));
        let samples = fs::read_to_string(sandbox.path(&format!("{family}.csv"))).unwrap();
        let rows = fitted(&fs::read_to_string(sandbox.path("out.csv")).unwrap());
        let truths = truths(&samples);
        assert_eq!(rows.len(), truths.len(), "{family}");
        for (number, (row, (truth, floor))) in rows.iter().zip(&truths).enumerate() {
            assert!(
                row.upper.is_none_or(|upper| upper >= *truth),
                "{family} row {number}"
            );
            assert!(
                row.lower.is_none_or(|lower| lower <= *truth),
                "{family} row {number}"
            );
            assert!(row.sigma >= 0 && row.epoch == 0, "{family} row {number}");
            if number > rows.len() / 2 {
                let error = row.host - truth - floor;
                assert!(error.abs() < most, "{family} row {number}: {error} ns");
            }
        }
        let second_half = &rows[rows.len() / 2..];
        let locked = second_half.iter().filter(|row| row.health == "locked");
        assert!(locked.count() * 10 > second_half.len() * 9, "{family}");
        let bounded = rows.iter().filter(|row| row.lower.is_some()).count();
        assert_eq!(
            bounded > 0,
            family != "p4",
            "{family}: only requests bound from below"
        );
    }
}

#[test]
fn causal_rows_know_nothing_of_later_ones() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("sync simulate p5 --seed 2 --duration 40");
    let lines: Vec<&str> = text.lines().collect();
    sandbox.write("all.csv", &text);
    sandbox.write("half.csv", lines[..200].join("\n"));
    let all = sandbox.ok("sync fit all.csv --causal --output -");
    let half = sandbox.ok("sync fit half.csv --causal --output -");
    let shown: Vec<&str> = all.lines().take(200).collect();
    assert_eq!(shown, half.lines().collect::<Vec<_>>());
    let smoothed = sandbox.ok("sync fit all.csv --output -");
    assert_ne!(smoothed, all, "later rows count");
    assert_eq!(smoothed.lines().count(), all.lines().count());
}

#[test]
fn the_summary_names_offset_drift_jitter_bound_epochs_and_resets() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate r2 --seed 5 --rate 20 --duration 400 -o samples.csv");
    let text = sandbox.ok("sync fit samples.csv --causal");
    for word in [
        "offset",
        "drift",
        "jitter",
        "spread",
        "bias",
        "bound",
        "health",
        "epochs     2",
        "resets     1",
        "device reset",
    ] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.ok("sync fit samples.csv --format json")).unwrap();
    assert_eq!(json["epoch_count"], 2);
    assert_eq!(json["resets"], 1);
    assert_eq!(json["estimator"], "envelope, smoothed");
    let drift = json["drift_ppm"].as_f64().unwrap();
    assert!((drift + 50.0).abs() < 5.0, "{drift}");
}

#[test]
fn estimators_are_chosen_by_name() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate p4 --seed 1 --duration 30 -o samples.csv");
    let mut outputs = Vec::new();
    for name in ["envelope", "psle", "hull", "mean", "regression"] {
        let out = sandbox.ok(&format!(
            "sync fit samples.csv --causal --estimator {name} --output -"
        ));
        outputs.push(out);
    }
    outputs.sort();
    outputs.dedup();
    assert_eq!(outputs.len(), 5);
    let run = sandbox.run("sync fit samples.csv --estimator kalman");
    insta::assert_snapshot!(run, @r#"
    exit code: 2
    ----- stderr
    error: invalid value 'kalman' for '--estimator <NAME>': no estimator is called "kalman": there are envelope, psle, hull, mean, regression

    For more information, try '--help'.
    "#);
    let run = sandbox.run("sync fit samples.csv --estimator mean");
    assert_eq!(
        run.stderr,
        "mean does not use later rows: the result is the live view, as with --causal\n"
    );
    assert!(run.stdout.contains("mean, live"), "{run}");
}

#[test]
fn pictures_need_nothing_from_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate r2 --seed 1 --rate 20 --duration 350 -o samples.csv");
    for name in ["plot.svg", "plot.html"] {
        sandbox.ok(&format!("sync fit samples.csv --plot {name}"));
        let text = fs::read_to_string(sandbox.path(name)).unwrap();
        assert!(text.contains("<svg") && text.contains("</svg>"), "{name}");
        assert!(text.contains("class=\"epoch\""), "{name} shows the restart");
        for outside in ["href", "src=", "url(", "@import", "<script"] {
            assert!(!text.contains(outside), "{name} has {outside}");
        }
        assert!(text.len() < 1_000_000, "{}", text.len());
    }
    let run = sandbox.run("sync fit samples.csv --plot plot.png");
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn a_seed_repeats_the_samples_and_an_unknown_family_lists_all() {
    let sandbox = Sandbox::new();
    let one = sandbox.ok("sync simulate p2-udp-loaded-640hz --seed 9 --duration 5");
    assert_eq!(one, sandbox.ok("sync simulate p2 --seed 9 --duration 5"));
    assert_ne!(one, sandbox.ok("sync simulate p2 --seed 10 --duration 5"));
    assert!(one.starts_with(
        "kind,device_ns,host_rx_ns,host_tx_ns,device_tx_ns,source,truth_ns,floor_ns\npassive,"
    ));
    let run = sandbox.run("sync simulate p99");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("p1-udp-quiet-640hz"), "{run}");
    let stepped = sandbox.ok("sync simulate r1 --rate 10 --duration 200 --host-clock system");
    assert_ne!(
        stepped,
        sandbox.ok("sync simulate r1 --rate 10 --duration 200")
    );
    assert_eq!(sandbox.run("sync simulate a1 --rate 10").code, 2);
    assert_eq!(sandbox.run("sync simulate p1 --duration 0").code, 2);
    assert!(sandbox.ok("sync simulate --list").lines().count() > 20);
}

#[test]
fn a_fitted_mapping_converts_other_times() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate r2 --seed 3 --rate 20 --duration 400 -o samples.csv");
    sandbox.ok("sync fit samples.csv --output mapping.csv");
    let mapping = fs::read_to_string(sandbox.path("mapping.csv")).unwrap();
    let rows = fitted(&mapping);
    let (first, second) = (&rows[2_000], &rows[2_001]);
    let middle = i64::midpoint(first.device, second.device);
    sandbox.write(
        "times.csv",
        format!("name,device_ns\na,{middle}\nb,{}\n", first.device),
    );
    let converted = fitted(&sandbox.ok("sync convert mapping.csv times.csv"));
    assert!((converted[0].host - i64::midpoint(first.host, second.host)).abs() <= 1);
    assert_eq!(converted[1].host, first.host);
    sandbox.write(
        "times.csv",
        format!("{}\n", rows.last().unwrap().device + 60_000_000_000),
    );
    assert_eq!(
        sandbox.ok("sync convert mapping.csv times.csv -o out.csv"),
        ""
    );
    let beyond = fitted(&fs::read_to_string(sandbox.path("out.csv")).unwrap());
    assert_eq!(
        (beyond[0].health.as_str(), beyond[0].epoch),
        ("holdover", 1)
    );
    assert!(beyond[0].sigma > rows.last().unwrap().sigma);
    // The device restarted from zero, and these are times of both epochs.
    let rows = (0..20_i64).map(|number| {
        let (device, epoch) = (number / 2 * 1_000_000_000, number % 2);
        format!("{device},{},{epoch}\n", device + epoch)
    });
    let both = format!("device_ns,host_ns,epoch\n{}", rows.collect::<String>());
    sandbox.write("both.csv", both);
    sandbox.write("times.csv", "device_ns\n5000000000\n");
    insta::assert_snapshot!(sandbox.run("sync convert both.csv times.csv"), @"
    exit code: 1
    ----- stdout
    device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch,max_skew_ppm,max_drift_ppm
    ----- stderr
    error: device time 5000000000 ns is in several epochs: 0, 1

    hint: choose one with --epoch: a device that restarts shows the same times again
    ");
    let chosen = fitted(&sandbox.ok("sync convert both.csv times.csv --epoch 1"));
    assert_eq!(chosen[0].host, 5_000_000_001);
    assert_eq!(
        sandbox
            .run("sync convert both.csv times.csv --epoch 7")
            .code,
        1
    );
}
