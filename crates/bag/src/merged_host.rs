//! The hosts of a merged bag and their clocks, as `merge` writes them into the custom data.

use std::fmt::Write as _;

/// The key of the hosts in the custom data.
pub const MERGED_HOSTS_KEY: &str = "timeloom.hosts";

/// A host whose recording is part of a merged bag.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MergedHost {
    /// The name of its bag.
    pub name: String,
    /// Whether its log times and publish times are by the clock of the reference.
    pub corrected: bool,
    /// Offset from times of its clock to those of the reference, in the middle of its bag.
    pub offset_ns: Option<i64>,
    /// It was never less, as far as that is known.
    pub lower_ns: Option<i64>,
    /// It was never more, as far as that is known.
    pub upper_ns: Option<i64>,
    /// The rate at which the offset changed, in ppm.
    pub drift_ppm: Option<f64>,
    /// The evidence, in words.
    pub evidence: Vec<String>,
    /// Nodes on it, as far as they are known.
    pub nodes: Vec<String>,
}

impl MergedHost {
    /// The hosts in the custom data of a bag's metadata; empty if it is no merged bag.
    pub fn read(custom_data: &[(String, String)]) -> Vec<Self> {
        let hosts = custom_data.iter().find(|(key, _)| key == MERGED_HOSTS_KEY);
        let lines = hosts.map_or("", |(_, text)| text).lines();
        lines.filter_map(Self::parse).collect()
    }

    /// Key and value of the custom data.
    pub fn custom_data(hosts: &[Self]) -> (String, String) {
        let mut text = String::new();
        for host in hosts {
            host.write(&mut text);
        }
        (MERGED_HOSTS_KEY.to_owned(), text)
    }

    /// The largest error of the offset, if it is bounded on both sides.
    pub fn bound_ns(&self) -> Option<i64> {
        let (offset, lower, upper) = (self.offset_ns?, self.lower_ns?, self.upper_ns?);
        Some(
            upper
                .saturating_sub(offset)
                .max(offset.saturating_sub(lower)),
        )
    }

    fn write(&self, text: &mut String) {
        // Writing to a text never fails.
        let _written = write!(
            text,
            "name={} corrected={}",
            word(&self.name),
            self.corrected
        );
        let numbers = [
            ("offset_ns", self.offset_ns),
            ("lower_ns", self.lower_ns),
            ("upper_ns", self.upper_ns),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                let _written = write!(text, " {key}={number}");
            }
        }
        if let Some(drift) = self.drift_ppm {
            let _written = write!(text, " drift_ppm={drift:.3}");
        }
        for evidence in &self.evidence {
            let _written = write!(text, " evidence={}", word(evidence));
        }
        for node in &self.nodes {
            let _written = write!(text, " node={}", word(node));
        }
        text.push('\n');
    }

    fn parse(line: &str) -> Option<Self> {
        let mut host = Self::default();
        for (key, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            let number = value.parse::<i64>().ok();
            match key {
                "name" => host.name = plain(value),
                "corrected" => host.corrected = value == "true",
                "offset_ns" => host.offset_ns = number,
                "lower_ns" => host.lower_ns = number,
                "upper_ns" => host.upper_ns = number,
                "drift_ppm" => host.drift_ppm = value.parse().ok(),
                "evidence" => host.evidence.push(plain(value)),
                "node" => host.nodes.push(plain(value)),
                _ => {}
            }
        }
        (!host.name.is_empty()).then_some(host)
    }
}

/// A text without white space.
fn word(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => word.push_str("%25"),
            character if character.is_whitespace() => word.push_str("%20"),
            character => word.push(character),
        }
    }
    word
}

fn plain(word: &str) -> String {
    word.replace("%20", " ").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_read_back() {
        let hosts = [
            MergedHost {
                name: "robot 1".into(),
                ..MergedHost::default()
            },
            MergedHost {
                name: "100%_arm".into(),
                corrected: true,
                offset_ns: Some(-5),
                lower_ns: Some(-9),
                upper_ns: Some(-2),
                drift_ppm: Some(12.5),
                evidence: vec!["messages both ways: /a, /b".into()],
                nodes: vec!["/arm/driver".into(), "/arm/planner".into()],
            },
        ];
        let data = [MergedHost::custom_data(&hosts)];
        assert_eq!(MergedHost::read(&data), hosts);
        assert_eq!(hosts.map(|host| host.bound_ns()), [None, Some(4)]);
        assert_eq!(MergedHost::read(&[]), []);
    }
}
