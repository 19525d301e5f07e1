//! The fuzz targets on stable Rust: real inputs, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/pf_packet.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod pf_packet;
#[path = "../../../../fuzz/src/pf_reply.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod pf_reply;

use crate::support::{dump, small_packet};

/// How often each input is changed; `TIMELOOM_FUZZ_ROUNDS` asks for more.
fn rounds() -> u32 {
    let asked = std::env::var("TIMELOOM_FUZZ_ROUNDS");
    asked.ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// A small generator of random numbers (xorshift), the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    /// Changes a few places of an input: bits, numbers, copies, cuts.
    fn mutate(&mut self, input: &[u8]) -> Vec<u8> {
        let mut data = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(data.len() + 1);
            let end = (at + self.below(40)).min(data.len());
            match self.below(5) {
                0 if at < data.len() => data[at] ^= 1 << self.below(8),
                1 => data.truncate(at),
                2 => drop(data.drain(at..end)),
                3 => {
                    let copy = data[at..end].to_vec();
                    data.splice(at..at, copy);
                }
                _ if at + 2 <= data.len() => {
                    let number = [0_u16, 1, 255, 32_768, u16::MAX][self.below(5)];
                    data[at..at + 2].copy_from_slice(&number.to_le_bytes());
                }
                _ => data.push(0),
            }
        }
        data
    }
}

fn run(target: fn(&[u8]), inputs: &[Vec<u8>]) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for input in inputs {
        target(input);
        for _ in 0..rounds() {
            target(&random.mutate(input));
        }
    }
}

#[test]
fn fuzz_packets() {
    let mut inputs = vec![small_packet(1, 1), dump()];
    inputs.push((1..=3).flat_map(|number| small_packet(7, number)).collect());
    run(pf_packet::fuzz_pf_packet, &inputs);
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
    run(pf_reply::fuzz_pf_reply, &inputs);
}
