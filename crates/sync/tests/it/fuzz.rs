//! The fuzz target on stable Rust: tables, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/sync_table.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod sync_table;

use std::fmt::Write as _;

use timeloom_testkit::mutation::fuzz;

#[test]
fn fuzz_tables() {
    let mut passive = "kind,device_ns,host_rx_ns,source\n".to_owned();
    let mut active = "kind,device_ns,host_tx_ns,host_rx_ns,device_tx_ns\n".to_owned();
    for row in 1..12_i64 {
        let (device, host) = (row * 1_000_000, 5_000_000_000 + row * 1_000_100);
        let late = host + row % 3 * 700;
        writeln!(passive, "passive,{device},{late},kernel").unwrap();
        let (back, sent) = (host + 9000, device + 100);
        writeln!(active, "active,{device},{host},{back},{sent}").unwrap();
    }
    let mapped = "device_ns,host_ns,sigma_ns,lower_ns,upper_ns,health,epoch\n1,2,3,,4,locked,0\n5,6,7,1,9,locked,0\n";
    let inputs = [
        passive,
        active,
        mapped.to_owned(),
        "device_ns\n1\n2\n".to_owned(),
    ];
    let inputs = inputs.map(String::into_bytes);
    let words = [
        ",",
        "\n",
        "passive",
        "active",
        "-9223372036854775808",
        "9223372036854775807",
        "\u{feff}",
    ];
    fuzz(
        "sync_table",
        sync_table::fuzz_sync_table,
        &inputs,
        300,
        &words,
    );
}
