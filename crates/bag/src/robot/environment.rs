//! The environment of a recording, as `record` writes it into the custom data of a bag.

use std::collections::BTreeMap;

/// The key of the environment in the custom data.
pub const ENVIRONMENT_KEY: &str = "timeloom.environment";

/// Host, versions and settings of the process that recorded a bag: names and values.
///
/// It holds what the recorder names one by one, never the whole environment of the process, which may have secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordingEnvironment(pub BTreeMap<String, String>);

impl RecordingEnvironment {
    /// The environment in the custom data of a bag's metadata; empty if it has none.
    pub fn of(custom_data: &[(String, String)]) -> Self {
        let found = custom_data.iter().find(|(key, _)| key == ENVIRONMENT_KEY);
        found.map_or_else(Self::default, |(_, text)| Self::parse(text))
    }

    /// One line for each value, in the order of the names; line breaks inside of a value become spaces.
    pub fn to_text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| {
            let value: Vec<&str> = value.lines().collect();
            format!("{name}={}", value.join(" "))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Reads such lines; a line without `=` is skipped.
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        Self(
            lines
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_reads_back_from_the_custom_data() {
        let pairs = [
            ("host", "robot-1"),
            ("command", "timeloom record -o a=b\n-a"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = RecordingEnvironment(pairs.into_iter().collect()).to_text();
        assert_eq!(text, "command=timeloom record -o a=b -a\nhost=robot-1");
        let data = [(ENVIRONMENT_KEY.to_owned(), text)];
        let read = RecordingEnvironment::of(&data);
        assert_eq!(read.0["command"], "timeloom record -o a=b -a");
        assert_eq!(RecordingEnvironment::of(&[]).0.len(), 0);
        assert_eq!(RecordingEnvironment::parse("no line").0.len(), 0);
    }
}
