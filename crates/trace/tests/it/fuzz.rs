//! The fuzz target on stable Rust: real tags, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/tag.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod fuzz_tag;

use crate::world::tag;

/// How often each input is changed; `TIMELOOM_FUZZ_ROUNDS` asks for more.
fn rounds() -> u32 {
    let asked = std::env::var("TIMELOOM_FUZZ_ROUNDS");
    asked.ok().and_then(|text| text.parse().ok()).unwrap_or(300)
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
                _ if at + 4 <= data.len() => {
                    let number = [0, 1, 255, 65_536, u32::MAX][self.below(5)];
                    data[at..at + 4].copy_from_slice(&number.to_le_bytes());
                }
                _ => data.push(0),
            }
        }
        data
    }
}

#[test]
fn fuzz_tags() {
    let one = tag("/c", 3, 30, &[("/a", 1, 10), ("/b", 2, 20)]).encode();
    let mut many = Vec::new();
    for cycle in 1..=8 {
        let tags = [
            tag("/a", cycle, cycle * 10, &[]),
            tag("/b", cycle, cycle * 10, &[("/c", cycle - 1, 1)]),
            tag(
                "/c",
                cycle,
                cycle * 10 + 5,
                &[("/a", cycle, 2), ("/b", cycle, 2)],
            ),
        ];
        for tag in tags {
            let payload = tag.encode();
            many.push(u8::try_from(payload.len()).unwrap());
            many.extend(payload);
        }
    }
    let plan = b"paths: [{from: /a, to: /c, latency: {p99: 5ms}}]\nhosts: {car: {nodes: [/n], offset: 1ms}}";
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for input in [one, many, plan.to_vec()] {
        fuzz_tag::fuzz_tag(&input);
        for _ in 0..rounds() {
            fuzz_tag::fuzz_tag(&random.mutate(&input));
        }
    }
}
