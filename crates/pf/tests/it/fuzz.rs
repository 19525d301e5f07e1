//! The fuzz targets on stable Rust: real inputs, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/pf_packet.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod pf_packet;
#[path = "../../../../fuzz/src/pf_reply.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod pf_reply;

use timeloom_testkit::mutation::fuzz;

use crate::support::{dump, small_packet};

/// How often each input is changed.
const ROUNDS: u32 = 100;

#[test]
fn fuzz_packets() {
    let mut inputs = vec![small_packet(1, 1), dump()];
    inputs.push((1..=3).flat_map(|number| small_packet(7, number)).collect());
    fuzz("pf_packet", pf_packet::fuzz_pf_packet, &inputs, ROUNDS, &[]);
}

#[test]
fn fuzz_replies() {
    let body = r#"{"error_code":0,"error_text":"success","protocol_name":"pfsdp","version_major":1,"version_minor":4,
        "parameters":["product","serial"],"product":"R2000","handle":"s1","port":2111,"system_time_raw":24324779926785}"#;
    let length = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let size = format!("{:x}", body.len());
    let chunks = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n{body}\r\n0\r\n\r\n"
    );
    let close = format!("HTTP/1.0 200 OK\r\n\r\n{body}");
    let inputs: Vec<Vec<u8>> = [length, chunks, close].map(String::into_bytes).to_vec();
    fuzz("pf_reply", pf_reply::fuzz_pf_reply, &inputs, ROUNDS, &[]);
}
