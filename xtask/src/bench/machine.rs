//! The machine that results come from, as Linux describes it.

use std::fs;

/// CPU model and number of cores in one line.
pub(super) fn describe() -> String {
    describe_from(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn describe_from(cpuinfo: &str) -> String {
    let values = |name: &'static str| {
        let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields
            .filter(move |(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim())
    };
    let model = values("model name").next().unwrap_or("unknown CPU");
    format!("{model}, {} cores", values("processor").count())
}

/// The load average over the last minute: how busy the machine was with other work.
pub(super) fn load() -> String {
    load_from(&fs::read_to_string("/proc/loadavg").unwrap_or_default())
}

fn load_from(loadavg: &str) -> String {
    loadavg
        .split_whitespace()
        .next()
        .unwrap_or("unknown")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_cores_are_named() {
        let core = |number: u8| {
            format!("processor\t: {number}\nmodel name\t: Fast CPU @ 3 GHz\nflags\t: a b\n\n")
        };
        assert_eq!(
            describe_from(&(core(0) + &core(1))),
            "Fast CPU @ 3 GHz, 2 cores"
        );
        assert_eq!(describe_from(""), "unknown CPU, 0 cores");
    }

    #[test]
    fn the_load_is_that_of_the_last_minute() {
        assert_eq!(load_from("1.25 0.50 0.10 2/300 4242\n"), "1.25");
        assert_eq!(load_from(""), "unknown");
    }
}
