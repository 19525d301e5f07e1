//! The bags to convert: plain paths, or `-i uri [storage_id]` as in rosbag2.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use timeloom_bag::BagReader;

use crate::bags::Bags;
use crate::failure::Failure;
use crate::verbs::info::check_storage;

/// One input and the storage that it must have; empty for any.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Input {
    path: PathBuf,
    storage: String,
}

/// The inputs. Clap's derive cannot group the values of a repeated option, hence the traits by hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct InputArguments {
    inputs: Vec<Input>,
}

impl InputArguments {
    /// Opens all inputs as one bag.
    pub(crate) fn open(&self, bags: &Bags) -> anyhow::Result<BagReader> {
        let reader = bags.open_all(&self.paths())?;
        for (input, bag) in self.inputs.iter().zip(reader.bags()) {
            check_storage(
                &input.storage,
                bag.files.first().map_or("", |file| file.storage.name()),
            )?;
        }
        Ok(reader)
    }

    /// Names a bag unless one is named already.
    pub(crate) fn fill(&mut self, path: PathBuf) {
        if self.inputs.is_empty() {
            let storage = String::new();
            self.inputs.push(Input { path, storage });
        }
    }

    pub(super) fn paths(&self) -> Vec<&Path> {
        self.inputs
            .iter()
            .map(|input| input.path.as_path())
            .collect()
    }

    /// The first input, for hints.
    pub(crate) fn first(&self) -> &Path {
        self.inputs
            .first()
            .map_or(Path::new("."), |input| input.path.as_path())
    }
}

impl Args for InputArguments {
    fn augment_args(command: Command) -> Command {
        let bags = Arg::new("bags")
            .value_name("BAG")
            .num_args(1..)
            .value_parser(value_parser!(OsString))
            .required_unless_present("input")
            .help("The bags, read as one in log-time order");
        let input = Arg::new("input")
            .short('i')
            .long("input")
            .value_names(["URI", "STORAGE"])
            .num_args(1..=2)
            .action(ArgAction::Append)
            .value_parser(value_parser!(OsString))
            .conflicts_with("bags")
            .help("A bag and optionally its storage, as in `ros2 bag convert`; repeatable");
        command.arg(bags).arg(input)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for InputArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let plain = matches.get_many::<OsString>("bags").into_iter().flatten();
        let plain = plain.map(|path| Input {
            path: path.into(),
            storage: String::new(),
        });
        let options = matches
            .get_occurrences::<OsString>("input")
            .into_iter()
            .flatten();
        let options = options.filter_map(|mut values| {
            let path = PathBuf::from(values.next()?);
            let storage = values
                .next()
                .map(|text| text.to_string_lossy().into_owned())
                .unwrap_or_default();
            Some(Input { path, storage })
        });
        Ok(Self {
            inputs: plain.chain(options).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The inputs where a parameter may name the bag instead (`storage.uri`).
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionalInputArguments(pub(crate) InputArguments);

impl OptionalInputArguments {
    /// Opens all inputs as one bag.
    pub(crate) fn open(&self, bags: &Bags) -> anyhow::Result<BagReader> {
        if self.0.inputs.is_empty() {
            let hint = "give it after the verb, or as the parameter storage.uri";
            return Err(Failure::usage("no bag is given").hint(hint).into());
        }
        self.0.open(bags)
    }
}

impl Args for OptionalInputArguments {
    fn augment_args(command: Command) -> Command {
        InputArguments::augment_args(command).mut_arg("bags", |bags| {
            bags.required_unless_present(Resettable::Reset)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionalInputArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        InputArguments::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Vec<(String, String)>, clap::Error> {
        let command = InputArguments::augment_args(Command::new("test"));
        let matches = command.try_get_matches_from([&["test"], arguments].concat())?;
        let inputs = InputArguments::from_arg_matches(&matches)?.inputs;
        Ok(inputs
            .into_iter()
            .map(|input| (input.path.display().to_string(), input.storage))
            .collect())
    }

    #[test]
    fn values_stay_with_their_option() {
        let pair = |path: &str, storage: &str| (path.to_owned(), storage.to_owned());
        assert_eq!(parsed(&["a", "b"]).unwrap(), [pair("a", ""), pair("b", "")]);
        assert_eq!(
            parsed(&["-i", "a", "sqlite3", "-i", "b"]).unwrap(),
            [pair("a", "sqlite3"), pair("b", "")]
        );
        assert!(parsed(&[]).is_err());
        assert!(parsed(&["a", "-i", "b"]).is_err());
        assert!(parsed(&["-i", "a", "mcap", "c"]).is_err());
    }
}
