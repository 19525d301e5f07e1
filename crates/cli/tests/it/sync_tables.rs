//! Tables that are wrong, strange or empty: an error with line and column, or a result; never a panic.

use std::fs;

use crate::support::Sandbox;

const HEADER: &str = "kind,device_ns,host_rx_ns,host_tx_ns,device_tx_ns\n";

fn error(sandbox: &Sandbox, table: impl AsRef<[u8]>) -> String {
    sandbox.write("bad.csv", table);
    let run = sandbox.run("sync fit bad.csv --causal --output out.csv");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run}");
    assert!(!sandbox.path("out.csv").exists(), "half a table is none");
    let left = fs::read_dir(sandbox.path(".")).unwrap();
    assert_eq!(left.count(), 1, "nothing else is left");
    run.stderr
}

#[test]
fn a_bad_row_is_named_by_line_and_column() {
    let sandbox = Sandbox::new();
    let rows = [
        "passive,1,2,,\npassive,x,3,,\n",
        "passive,1,2,,\n\n# a remark\npassive,1,,,\n",
        "active,1,5,,\n",
        "active,1,5,7,\n",
        "passive,5,9,,4\n",
        "passive,1e9,9,,\n",
        "passive,99999999999999999999,9,,\n",
        "passive,-9223372036854775808,9,,\n",
        "echo,1,2,,\n",
        "passive\n",
        ",,,,\n",
        "passive,1;2\n",
    ];
    let errors: Vec<String> = rows
        .iter()
        .map(|rows| error(&sandbox, format!("{HEADER}{rows}")))
        .collect();
    insta::assert_snapshot!(errors.join(""), @r#"
    error: bad.csv: line 3: device_ns "x" is no whole number of nanoseconds
    error: bad.csv: line 5: host_rx_ns "" is missing
    error: bad.csv: line 2: host_tx_ns "" is missing
    error: bad.csv: line 2: host_rx_ns: host_rx 5 ns is before host_tx 7 ns of the same request
    error: bad.csv: line 2: device_tx_ns: device_tx 4 ns is before device_event 5 ns of the same packet
    error: bad.csv: line 2: device_ns "1e9" is no whole number of nanoseconds
    error: bad.csv: line 2: device_ns "99999999999999999999" is out of range: stamps lie within 4611686018427387903 ns of zero
    error: bad.csv: line 2: device_ns "-9223372036854775808" is out of range: stamps lie within 4611686018427387903 ns of zero
    error: bad.csv: line 2: kind "echo" is neither passive nor active
    error: bad.csv: line 2: device_ns "" is missing
    error: bad.csv: line 2: kind "" is neither passive nor active
    error: bad.csv: line 2: device_ns "1;2" is no whole number of nanoseconds
    "#);
}

#[test]
fn a_file_that_is_no_table_is_named() {
    let sandbox = Sandbox::new();
    let mut errors = vec![
        error(&sandbox, ""),
        error(&sandbox, "\n\n# nothing\n"),
        error(&sandbox, "kind,host_rx_ns\n"),
        error(&sandbox, "kind,device_ns,host_rx_ns,device_ns\n"),
        error(&sandbox, b"kind,device_ns,host_rx_ns\npassive,\xff\xfe,1\n"),
        error(&sandbox, "x".repeat(100_000)),
    ];
    fs::remove_file(sandbox.path("bad.csv")).unwrap();
    errors.push(sandbox.run("sync fit nowhere.csv").stderr);
    insta::assert_snapshot!(errors.join(""), @r#"
    error: bad.csv: line 1: the header with the names of the columns is missing
    error: bad.csv: line 1: the header with the names of the columns is missing
    error: bad.csv: line 1: column "device_ns" is missing
    error: bad.csv: line 1: duplicate column "device_ns"
    error: bad.csv: line 2 is not UTF-8
    error: bad.csv: line 1 is longer than 65536 bytes
    error: cannot open nowhere.csv: No such file or directory (os error 2)
    "#);
    sandbox.write("in.csv", format!("{HEADER}passive,1,2,,\n"));
    let run = sandbox.run("sync fit in.csv --output in.csv");
    assert_eq!(run.code, 2, "{run}");
    assert!(
        fs::read_to_string(sandbox.path("in.csv"))
            .unwrap()
            .starts_with("kind")
    );
}

#[test]
fn strange_tables_have_results() {
    let sandbox = Sandbox::new();
    let second = 1_000_000_000_i64;
    let limit = (1_i64 << 62) - 1;
    let table = |rows: &mut dyn Iterator<Item = String>| {
        format!("{HEADER}{}\n", rows.collect::<Vec<_>>().join("\n"))
    };
    let cases = [
        ("only a header", HEADER.to_owned()),
        ("one packet", format!("{HEADER}passive,1,2,,\n")),
        ("one request", format!("{HEADER}active,1,2,1,\n")),
        ("duplicates", table(&mut (0..500).map(|_| "passive,5,9,,".to_owned()))),
        (
            "a counter that runs backwards",
            table(&mut (0..500).map(|n| format!("passive,{},{},,", -n * second, n * second))),
        ),
        (
            "a counter that wraps every second",
            table(&mut (0..500).map(|n| format!("passive,{},{},,", n * 100_000_000 % second, n * 100_000_000))),
        ),
        (
            "the ends of the range",
            table(&mut (0..50).map(|n| {
                let device = if n % 2 == 0 { limit } else { -limit };
                let host = if n % 3 == 0 { limit } else { -limit };
                format!("passive,{device},{host},,")
            })),
        ),
        (
            "requests of no length and of years",
            table(&mut (0..50).map(|n| format!("active,{n},{limit},{},", if n % 2 == 0 { limit } else { -limit }))),
        ),
        (
            "a host that stands still",
            table(&mut (0..500).map(|n| format!("passive,{},7,,{}", n * second, n * second))),
        ),
        (
            "floats that are whole, quotes, spaces and another order",
            "\"host_rx_ns\", kind ,device_ns,host_tx_ns\n12.0,passive, 10.000 ,\n22.0,\"active\",20,21.0\n32,passive,30,NaN\n".to_owned(),
        ),
        ("ends of lines of Windows", format!("{HEADER}passive,1,2,,\npassive,3,4,,\n").replace('\n', "\r\n")),
    ];
    for (name, text) in cases {
        sandbox.write("samples.csv", &text);
        let rows = text.lines().filter(|line| !line.contains("kind")).count();
        for flags in [
            "--causal",
            "",
            "--causal --estimator mean",
            "--causal --estimator hull",
        ] {
            let run = sandbox.run(&format!(
                "sync fit samples.csv {flags} --output out.csv --plot out.svg"
            ));
            assert_eq!(run.code, 0, "{name} {flags}\n{run}");
            let out = fs::read_to_string(sandbox.path("out.csv")).unwrap();
            assert_eq!(out.lines().count(), rows + 1, "{name} {flags}");
        }
    }
}
