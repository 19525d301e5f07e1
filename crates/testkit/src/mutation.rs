//! Inputs of parsers, changed at random from a fixed seed: the fuzz targets on stable Rust.

use std::fs;
use std::path::{Path, PathBuf};

/// Changes inputs at random, the same way on every run.
#[derive(Clone, Debug)]
pub struct Mutator {
    random: fastrand::Rng,
    words: Vec<Vec<u8>>,
}

/// Edge cases of lengths and counts.
const NUMBERS: [u32; 8] = [0, 1, 24, 255, 65_535, 65_536, 1 << 31, u32::MAX];

impl Mutator {
    /// A mutator with a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            words: Vec::new(),
        }
    }

    /// Also inserts these words, the keywords of the parser.
    #[must_use]
    pub fn with_words(mut self, words: &[&str]) -> Self {
        self.words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        self
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit.max(1))
    }

    /// Changes a few places of an input: bits, numbers, words, copies, cuts.
    pub fn mutate(&mut self, input: &[u8]) -> Vec<u8> {
        let mut data = input.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut data);
        }
        data
    }

    fn change(&mut self, data: &mut Vec<u8>) {
        let at = self.below(data.len() + 1);
        let end = (at + self.below(40)).min(data.len());
        match self.below(8) {
            0 | 1 if at < data.len() => data[at] ^= 1 << self.below(8),
            2 => data.truncate(at),
            3 => drop(data.drain(at..end)),
            4 => {
                let copy = data[at..end].to_vec();
                let to = self.below(data.len() + 1);
                data.splice(to..to, copy);
            }
            5 if !self.words.is_empty() => {
                let place = self.below(self.words.len());
                let word = self.words[place].clone();
                data.splice(at..at, word);
            }
            6 if at + 2 <= data.len() => {
                let number = NUMBERS[self.below(NUMBERS.len())].to_le_bytes();
                data[at..at + 2].copy_from_slice(&number[..2]);
            }
            _ if at + 4 <= data.len() => {
                let number = NUMBERS[self.below(NUMBERS.len())].to_le_bytes();
                data[at..at + 4].copy_from_slice(&number);
            }
            _ => data.push(0),
        }
    }
}

/// Runs a fuzz target on its corpus in `fuzz/`, on inputs, and on `rounds` mutations of each input.
///
/// `TIMELOOM_FUZZ_ROUNDS` asks for more rounds; `TIMELOOM_FUZZ_SEEDS` names a folder for the inputs, from which
/// libFuzzer may start.
pub fn fuzz(name: &str, target: fn(&[u8]), inputs: &[Vec<u8>], rounds: u32, words: &[&str]) {
    let asked = std::env::var("TIMELOOM_FUZZ_ROUNDS").ok();
    let rounds = asked.and_then(|text| text.parse().ok()).unwrap_or(rounds);
    if let Some(folder) = std::env::var_os("TIMELOOM_FUZZ_SEEDS") {
        keep(&Path::new(&folder).join(name), inputs);
    }
    for (_, kept) in corpus(name) {
        target(&kept);
    }
    let mut mutator = Mutator::new(0x9e37_79b9_7f4a_7c15).with_words(words);
    for input in inputs {
        target(input);
        for _ in 0..rounds {
            target(&mutator.mutate(input));
        }
    }
}

/// The corpus of a fuzz target with paths: the smallest inputs that reach all of its code, and those that once failed.
///
/// # Panics
/// If there is no corpus: a test that replays nothing would pass for ever.
pub fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let kept = files(&fuzz.join("corpus").join(name));
    assert!(!kept.is_empty(), "fuzz/corpus/{name} is empty");
    let mut all = kept;
    all.extend(files(&fuzz.join("regressions").join(name)));
    all
}

/// The files of a folder in the order of their names; none if there is no folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| fs::read(&path).ok().map(|bytes| (path, bytes));
    paths.into_iter().filter_map(read).collect()
}

fn keep(folder: &Path, inputs: &[Vec<u8>]) {
    fs::create_dir_all(folder).expect("a folder for seeds");
    for (number, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("seed_{number:02}")), input).expect("a seed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_vary_and_repeat_on_every_run() {
        let input = b"a message of some length, 0123456789".to_vec();
        let run = || {
            let mut mutator = Mutator::new(7).with_words(&["word"]);
            let changed = (0..200).map(|_| mutator.mutate(&input));
            changed.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(run(), run());
        assert!(run().len() > 150);
        assert!(
            run()
                .iter()
                .any(|data| data.windows(4).any(|part| part == b"word"))
        );
        assert!(run().iter().any(|data| data.len() < input.len()));
    }

    #[test]
    fn an_empty_input_can_be_mutated() {
        let mut mutator = Mutator::new(1);
        for _ in 0..100 {
            mutator.mutate(&[]);
        }
    }
}
