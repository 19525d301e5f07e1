//! `timeloom sync` at the limits: streams, steps, skews, units, calibration.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::support::Sandbox;

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(40);

fn table(rows: impl Iterator<Item = (i64, i64)>) -> String {
    let rows = rows.map(|(device, host)| format!("passive,{device},{host}\n"));
    let header = "kind,device_ns,host_rx_ns\n".to_owned();
    std::iter::once(header).chain(rows).collect()
}

/// Packets at 40 Hz of a device whose clock runs `ppm` fast, with delays of 300 to 699 µs.
fn packets(seconds: i64, ppm: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..seconds * 40).map(move |packet| {
        let truth = packet * 25_000_000 + packet * 7_919 % 1_000;
        let delay = 300_000 + packet * 104_729 % 400_000;
        (truth + truth / 1_000_000 * ppm, truth + delay)
    })
}

#[test]
fn rows_come_out_as_rows_come_in() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command("sync fit -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in stdout.lines() {
            let _gone = sender.send(line.unwrap());
        }
    });
    stdin.write_all(b"kind,device_ns,host_rx_ns\n").unwrap();
    let header = lines.recv_timeout(PATIENCE).expect("a header at once");
    assert!(header.starts_with("device_ns,host_ns"), "{header}");
    for (device, host) in packets(1, 0).take(21) {
        writeln!(stdin, "passive,{device},{host}").unwrap();
        let line = lines.recv_timeout(PATIENCE).expect("a row for each row");
        assert!(line.starts_with(&format!("{device},")), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    reader.join().unwrap();
}

#[test]
fn an_excessive_skew_is_reported_with_the_flag_for_its_limit() {
    let sandbox = Sandbox::new();
    sandbox.write("slow.csv", table(packets(60, -600)));
    let run = sandbox.run("sync fit slow.csv --output out.csv");
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(
        run.stderr,
        "warning: the clocks differ by more than 500 ppm: 1000 ppm is used from here on; `--max-skew 1000` uses it from the start\n"
    );
    assert!(run.stdout.contains("drift      600."), "{run}");
    let given = sandbox.run("sync fit slow.csv --max-skew 1000");
    assert_eq!((given.code, given.stderr.as_str()), (0, ""), "{given}");
    // What was fitted with a wider limit converts with it.
    let fitted = fs::read_to_string(sandbox.path("out.csv")).unwrap();
    let last = fitted.lines().last().unwrap();
    assert!(last.ends_with(",1000,5"), "{last}");
    let cells: Vec<i64> = last
        .split(',')
        .take(2)
        .map(|cell| cell.parse().unwrap())
        .collect();
    sandbox.write("times.csv", format!("{}\n", cells[0] + 100_000_000_000));
    let converted = sandbox.ok("sync convert out.csv times.csv");
    let row: Vec<&str> = converted.lines().nth(1).unwrap().split(',').collect();
    let (host, upper): (i64, i64) = (row[1].parse().unwrap(), row[4].parse().unwrap());
    let truth = cells[1] + 100_060_000_000;
    assert!((host - truth).abs() < 1_000_000, "{host} {truth}");
    // 1000 ppm either way over 100 s, from an upper bound near the estimate.
    assert!(
        (30_000_000..60_000_000).contains(&(upper - host)),
        "{}",
        upper - host
    );
}

#[test]
fn columns_of_other_units_are_refused_and_read_with_the_unit() {
    let sandbox = Sandbox::new();
    let micros = packets(10, 50).map(|(device, host)| (device / 1_000 % (1 << 20), host));
    sandbox.write("ticks.csv", table(micros));
    let run = sandbox.run("sync fit ticks.csv --causal --output out.csv");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("--device-unit"), "{run}");
    assert!(!sandbox.path("out.csv").exists());
    let units = "--device-unit us --device-bits 20";
    let text = sandbox.ok(&format!("sync fit ticks.csv {units} --output out.csv"));
    assert!(text.contains("epochs     1"), "{text}");
    sandbox.write("times.csv", "5000000\n");
    let converted = sandbox.ok("sync convert out.csv times.csv --device-unit us");
    assert!(
        converted.lines().nth(1).unwrap().starts_with("5000000000,"),
        "{converted}"
    );
    let seconds = packets(10, 50).map(|(device, host)| {
        let decimal =
            |nanos: i64| format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
        format!("passive,{},{}\n", decimal(device), decimal(host))
    });
    let text = format!("kind,device_ns,host_rx_ns\n{}", seconds.collect::<String>());
    sandbox.write("seconds.csv", text);
    sandbox.write("nanos.csv", table(packets(10, 50)));
    let by_seconds = sandbox.ok("sync fit seconds.csv --device-unit s --host-unit s --output -");
    assert_eq!(by_seconds, sandbox.ok("sync fit nanos.csv --output -"));
}

#[test]
fn a_cut_last_line_is_left_out_and_quoted_commas_separate_nothing() {
    let sandbox = Sandbox::new();
    let whole = table(packets(10, 0));
    sandbox.write("cut.csv", format!("{whole}passive,2500"));
    let run = sandbox.run("sync fit cut.csv --causal --output out.csv");
    assert_eq!(run.code, 3, "{run}");
    assert_eq!(
        run.stderr,
        "warning: cut.csv: the last line is cut off and left out: line 402: host_rx_ns \"\" is missing\n"
    );
    let rows = fs::read_to_string(sandbox.path("out.csv")).unwrap();
    assert_eq!(rows.lines().count(), 401);
    let noted = whole.replace("kind,", "\"note, with a comma\",kind,");
    let noted = noted.replace("passive,", "\"a, \"\"b\"\", c\",passive,");
    sandbox.write("noted.csv", noted);
    sandbox.ok("sync fit noted.csv --causal --output noted_out.csv");
    assert_eq!(
        fs::read_to_string(sandbox.path("noted_out.csv")).unwrap(),
        rows
    );
}

#[test]
fn events_have_their_time_in_every_view() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate r2 --seed 5 --rate 20 --duration 400 -o samples.csv");
    for flags in ["", "--causal"] {
        let text = sandbox.ok(&format!("sync fit samples.csv {flags}"));
        let line = text
            .lines()
            .find(|line| line.contains("device reset"))
            .unwrap();
        assert!(line.contains("at 304."), "{flags}: {line}");
    }
}

#[test]
fn the_second_host_clock_distinguishes_a_step_from_a_longer_path() {
    let sandbox = Sandbox::new();
    let simulate = "sync simulate s2 --seed 3 --rate 40 --duration 420";
    sandbox.ok(&format!("{simulate} --host-clock both -o both.csv"));
    sandbox.ok(&format!("{simulate} --host-clock system -o system.csv"));
    for flags in ["", "--causal"] {
        let text = sandbox.ok(&format!("sync fit both.csv {flags} --output out.csv"));
        assert!(
            text.contains("the host's clock was set by +0.005"),
            "{flags}\n{text}"
        );
        assert!(!text.contains("longer than at its best"), "{flags}\n{text}");
        assert!(text.contains("epochs     3"), "{flags}\n{text}");
        let samples = fs::read_to_string(sandbox.path("both.csv")).unwrap();
        let rows = fs::read_to_string(sandbox.path("out.csv")).unwrap();
        for (sample, row) in samples.lines().zip(rows.lines()).skip(2_000) {
            let truth: i64 = sample.rsplit(',').nth(1).unwrap().parse().unwrap();
            let host: i64 = row.split(',').nth(1).unwrap().parse().unwrap();
            assert!(
                (host - truth - 300_000).abs() < 150_000,
                "{flags}: {row}, truth {truth}"
            );
        }
    }
    let alone = sandbox.ok("sync fit system.csv --causal");
    assert!(
        alone.contains("longer than at its best, or a clock was set by that"),
        "{alone}"
    );
    assert!(alone.contains("degraded"), "{alone}");
}

#[test]
fn the_constant_delay_is_calibrated() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate c3 --seed 2 --rate 40 --duration 200 -o samples.csv");
    let text = sandbox.ok("sync calibrate samples.csv");
    let flag = text
        .lines()
        .find_map(|line| line.strip_prefix("use        "));
    let flag = flag.unwrap_or_else(|| panic!("{text}"));
    let micros: f64 = flag
        .strip_prefix("--least-delay ")
        .unwrap()
        .parse()
        .unwrap();
    assert!((200.0..400.0).contains(&micros), "{text}");
    let fit = sandbox.ok("sync fit samples.csv");
    assert!(fit.contains("as a flag: --least-delay"), "{fit}");
    let used = sandbox.ok(&format!("sync fit samples.csv {flag} --output out.csv"));
    assert!(used.contains("bias"), "{used}");
    let exact: serde_json::Value =
        serde_json::from_str(&sandbox.ok(
            "sync calibrate samples.csv --reference truth_ns --reference-error 2 --format json",
        ))
        .unwrap();
    let delay = exact["by_reference_ns"]["delay"].as_i64().unwrap();
    assert!((delay - 300_000).abs() < 60_000, "{exact}");
    sandbox.ok("sync simulate p4 --seed 2 --duration 60 -o packets.csv");
    let run = sandbox.run("sync calibrate packets.csv");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("the constant delay of these packets cannot be determined"),
        "{run}"
    );
    let run = sandbox.run("sync calibrate packets.csv --reference ptp_ns");
    assert!(run.stderr.contains("no column \"ptp_ns\""), "{run}");
}

#[test]
fn exchanged_columns_give_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.ok("sync simulate p4 --seed 7 --duration 60 -o samples.csv");
    let samples = fs::read_to_string(sandbox.path("samples.csv")).unwrap();
    let (header, rows) = samples.split_once('\n').unwrap();
    sandbox.write("swapped.csv", format!("{}\n{rows}", exchange(header)));
    let run = sandbox.run("sync fit swapped.csv");
    assert!(run.stderr.contains("look swapped"), "{run}");
    let run = sandbox.run("sync fit samples.csv");
    assert!(!run.stderr.contains("swapped"), "{run}");
}

/// The header with the names of the device's and the host's column exchanged.
fn exchange(header: &str) -> String {
    let names = header.split(',').map(|name| match name {
        "device_ns" => "host_rx_ns",
        "host_rx_ns" => "device_ns",
        other => other,
    });
    names.collect::<Vec<_>>().join(",")
}
