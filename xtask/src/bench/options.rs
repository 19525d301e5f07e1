//! The options of `cargo xtask bench`.

/// The benchmarks to run, and the date to write.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only ids that start with this.
    pub only: Option<String>,
    /// Written beside each result. Given from outside: xtask reads no clock.
    pub date: Option<String>,
}

impl Options {
    /// Reads the arguments after `bench`.
    ///
    /// # Errors
    ///
    /// Says which argument is unknown or lacks its value.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let slot = match argument.as_str() {
                "--only" => &mut options.only,
                "--date" => &mut options.date,
                unknown => return Err(format!("unknown option `{unknown}`")),
            };
            let value = arguments.next().filter(|value| !value.is_empty());
            *slot = Some(
                value
                    .ok_or_else(|| format!("`{argument}` needs a value"))?
                    .clone(),
            );
        }
        Ok(options)
    }

    /// Whether results of this id were asked for.
    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.as_deref().is_none_or(|only| id.starts_with(only))
    }

    /// Whether the benchmarks of `room` may print such an id: ids start with their room's name and a dot.
    pub(super) fn wants_room(&self, room: &str) -> bool {
        let id = format!("{room}.");
        self.only
            .as_deref()
            .is_none_or(|only| id.starts_with(only) || only.starts_with(&id))
    }

    /// The command line that gives these options, for the reader of the table.
    pub(super) fn command(&self) -> String {
        match &self.only {
            Some(only) => format!("make bench ONLY={only}"),
            None => "make bench".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn both_options_are_read() {
        let options = parse("--only time.now --date 2026-11-15").unwrap();
        assert_eq!(options.only.as_deref(), Some("time.now"));
        assert_eq!(options.date.as_deref(), Some("2026-11-15"));
        assert_eq!(Options::parse(&[]), Ok(Options::default()));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(parse("--fast"), Err("unknown option `--fast`".into()));
        assert_eq!(parse("--only"), Err("`--only` needs a value".into()));
        assert_eq!(parse("--only "), Err("`--only` needs a value".into()));
    }

    #[test]
    fn a_prefix_selects_rooms_and_ids() {
        let options = parse("--only time.now").unwrap();
        assert!(options.wants("time.now.1t") && !options.wants("time.sleep"));
        assert!(
            options.wants_room("time")
                && !options.wants_room("bag")
                && !options.wants_room("time2")
        );
        let short = parse("--only t").unwrap();
        assert!(short.wants_room("time") && short.wants_room("trace") && !short.wants_room("bag"));
    }
}
