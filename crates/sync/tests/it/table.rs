//! CSV: the columns of `sync fit`, and what is wrong with a file, by line.

use timeloom_sync::table::{read_samples, write_mapped};
use timeloom_sync::{Limits, Method, Sample, StampSource, causal};

const GOOD: &str = "\u{feff}host_rx_ns, kind, device_ns, host_tx_ns, device_tx_ns, source, remark
# a comment
3000000, passive, 1000000,, 1000500, kernel, hello

13000000, active, 11000000, 12000000
23000000, passive, 21000000
";

#[test]
fn columns_stand_in_any_order_and_some_may_be_missing() {
    let rows = read_samples(GOOD).unwrap();
    let lines: Vec<usize> = rows.iter().map(|row| row.line).collect();
    assert_eq!(lines, [3, 5, 6]);
    let Sample::Passive(first) = rows[0].sample else {
        panic!("a packet");
    };
    assert_eq!(first.device_tx.unwrap().nanos(), 1_000_500);
    assert_eq!(first.source, StampSource::Kernel);
    let Sample::Active(second) = rows[1].sample else {
        panic!("a request");
    };
    assert_eq!(second.host_tx.nanos(), 12_000_000);
}

#[test]
fn results_have_the_documented_columns_and_empty_bounds() {
    let samples: Vec<Sample> = read_samples(GOOD)
        .unwrap()
        .iter()
        .map(|row| row.sample)
        .collect();
    let mut clock = Method::Envelope.clock(Limits::default());
    let mapped = causal(&samples, &mut clock).unwrap();
    let rows = samples.iter().map(Sample::device).zip(&mapped);
    let text = write_mapped(rows, clock.limits());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch,max_skew_ppm,max_drift_ppm"
    );
    assert_eq!(lines.len(), 4);
    let cells: Vec<&str> = lines[1].split(',').collect();
    assert_eq!(
        (cells[0], cells[3]),
        ("1000000", ""),
        "no request, no lower bound"
    );
    assert_eq!((cells[5], cells[6]), ("converging", "0"));
    assert_ne!(
        lines[2].split(',').nth(3),
        Some(""),
        "a request bounds from below"
    );
}

#[test]
fn errors_name_the_line_and_the_column() {
    let header = "kind,device_ns,host_rx_ns,host_tx_ns,device_tx_ns,source\n";
    let cases = [
        (
            "",
            "line 1: the header with the names of the columns is missing",
        ),
        (
            "kind,device_ns,host_rx_ns,kind\n",
            "line 1: duplicate column \"kind\"",
        ),
        (
            "passive,1,99999999999999999999999999999999999999999999,,,\n",
            "line 2: host_rx_ns \"9999999999999999999999999999999999999999\" is out of range: stamps lie within 4611686018427387903 ns of zero",
        ),
        (
            "kind,device_ns\n",
            "line 1: column \"host_rx_ns\" is missing",
        ),
        (
            "passive,1.5,2,,,\n",
            "line 2: device_ns \"1.5\" is not a whole number of nanoseconds",
        ),
        ("passive,,2,,,\n", "line 2: device_ns \"\" is missing"),
        ("active,1,2,,,\n", "line 2: host_tx_ns \"\" is missing"),
        (
            "pasive,1,2,,,\n",
            "line 2: kind \"pasive\" is neither passive nor active",
        ),
        (
            "passive,1,2,,,nic\n",
            "line 2: source \"nic\" is neither kernel nor user",
        ),
        (
            "active,1,2,3,,\n",
            "line 2: host_rx_ns: host_rx 2 ns is before host_tx 3 ns of the same request",
        ),
        (
            "passive,5,9,,4,\n",
            "line 2: device_tx_ns: device_tx 4 ns is before device_event 5 ns of the same packet",
        ),
        (
            "passive,9223372036854775807,2,,,\n",
            "line 2: device_ns \"9223372036854775807\" is out of range: stamps lie within 4611686018427387903 ns of zero",
        ),
    ];
    for (rows, expected) in cases {
        let text = if rows.starts_with("kind") || rows.is_empty() {
            rows.to_owned()
        } else {
            format!("{header}{rows}")
        };
        assert_eq!(read_samples(&text).unwrap_err().to_string(), expected);
    }
}
