//! `timeloom convert`: slice, filter, rename, split, compress, merge, change the storage, export.

mod export;
pub(crate) mod inputs;
mod options_file;
mod plan;
mod remap;
#[cfg(feature = "query")]
mod tables;
pub(crate) mod writer_settings;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use timeloom_bag::convert::OnDamage;
use timeloom_bag::{BagReader, StorageReader as _};

use self::inputs::InputArguments;
#[cfg(any(test, fuzzing))]
pub(crate) use self::options_file::fuzz_options;
use self::plan::Plan;
use self::remap::Remap;
use self::writer_settings::WriterArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::selection_arguments::SelectionArguments;
use crate::time_format::TimeFormat;
use crate::time_range::TimeRangeArguments;
use crate::topic_selection::CheckSelection as _;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom convert my_bag -o cut --start +10s --end 14:03:07         a time slice
  timeloom convert my_bag -o small --exclude-regex '^/camera' -s mcap --storage-preset-profile zstd_fast
  timeloom convert a b c -o all                                      merge, in log-time order
  timeloom convert my_bag -o parts -b 1GiB                           split
  timeloom convert my_bag -o renamed --remap /imu:=/imu/data
  timeloom convert old_bag -o new -s mcap                            sqlite3 to MCAP
  timeloom convert my_bag -o tables --format csv                     a directory, one file per topic
  timeloom convert my_bag -o tables --to parquet                     the same with nested fields, and the losses
  timeloom convert my_bag -o - --format ndjson | jq .message         decoded messages
  timeloom convert -i a sqlite3 -i b -o out.yaml                     as `ros2 bag convert`

An existing output is never overwritten. A damaged input stops the conversion unless --skip-damage is given; then the
skipped places are counted and the exit code is 3. Attachments and metadata records of MCAP files are copied; an output
that cannot hold them (sqlite3 and exports) is reported and the exit code is 3.";

/// Rewrite bags: slice, filter, rename, split, compress, merge, change the storage; export to CSV, JSON lines, Parquet and Arrow
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,
    /// The new bag; or a YAML file with `output_bags`, as for `ros2 bag convert`; or `-` for stdout
    #[arg(
        short,
        long,
        alias = "output-options",
        value_name = "OUTPUT",
        allow_hyphen_values = true
    )]
    output: PathBuf,
    /// Output format
    #[arg(
        long,
        visible_alias = "to",
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    format: Format,
    /// Time format of csv and ndjson
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    time_format: TimeFormat,
    /// Rename topics
    #[arg(short = 'm', long, num_args = 1.., value_name = "OLD:=NEW")]
    remap: Vec<Remap>,
    /// Skip damaged parts of an input
    #[arg(long)]
    skip_damage: bool,
    #[command(flatten)]
    range: TimeRangeArguments,
    #[command(flatten)]
    writer: WriterArguments,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// What a conversion writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// A bag
    #[default]
    Bag,
    /// A directory with one CSV file per topic
    Csv,
    /// One file with a line of JSON per message
    Ndjson,
    /// A directory with one Parquet file per topic, and the losses
    Parquet,
    /// A directory with one Arrow file per topic, and the losses
    Arrow,
}

impl Arguments {
    fn on_damage(&self) -> OnDamage {
        if self.skip_damage {
            OnDamage::Skip
        } else {
            OnDamage::Fail
        }
    }

    fn writes_to_stdout(&self) -> bool {
        self.output.as_os_str() == OsStr::new("-")
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    crate::bags::check_writable(&arguments.output)?;
    let reader = arguments.inputs.open(&context.bags)?;
    if is_options_file(&arguments.output) {
        let given = arguments.given_flags();
        if !given.is_empty() {
            let text = format!("{} cannot be used with an options file", given.join(", "));
            let hint = format!(
                "put it into {}, or give -o a directory",
                arguments.output.display()
            );
            return Err(Failure::usage(text).hint(hint).into());
        }
        let plans = options_file::read(&arguments.output, &reader.info().topics, context)?;
        return plan::convert(
            reader,
            &arguments.inputs,
            plans,
            arguments.on_damage(),
            context,
        );
    }
    let selection = arguments.selection.selection();
    selection.check_names(&reader.info().topics)?;
    selection.check_not_empty(&reader.info().topics)?;
    let range = arguments.range.resolve(reader.info())?;
    match arguments.format {
        Format::Bag => {}
        Format::Csv | Format::Ndjson => {
            return export::run(arguments, reader, &selection, range, context);
        }
        Format::Parquet | Format::Arrow => {
            return tables(arguments, reader, &selection, range, context);
        }
    }
    if arguments.writes_to_stdout() {
        let hint = "give -o a directory, or use --format ndjson";
        return Err(Failure::usage("a bag cannot be written to stdout")
            .hint(hint)
            .into());
    }
    let plan = Plan {
        directory: arguments.output.clone(),
        options: arguments.writer.settings().bag_options()?,
        selection,
        remap: remap::pairs(&arguments.remap, &reader.info().topics)?,
        range,
    };
    plan::convert(
        reader,
        &arguments.inputs,
        vec![plan],
        arguments.on_damage(),
        context,
    )
}

#[cfg(feature = "query")]
use self::tables::run as tables;

/// Parquet and Arrow come with `DataFusion`, which is most of a build.
#[cfg(not(feature = "query"))]
fn tables(
    _arguments: &Arguments,
    _reader: BagReader,
    _selection: &crate::topic_selection::TopicSelection,
    _range: crate::time_range::TimeRange,
    _context: &mut Context,
) -> anyhow::Result<Outcome> {
    Err(crate::table_arguments::not_built_in("Parquet and Arrow files").into())
}

/// An output that ends in `.yaml` describes outputs; a bag is a directory.
fn is_options_file(output: &Path) -> bool {
    let yaml = |extension: &OsStr| extension == "yaml" || extension == "yml";
    output.extension().is_some_and(yaml)
}

impl Arguments {
    /// The flags that an options file has keys for.
    fn given_flags(&self) -> Vec<&'static str> {
        let flags = [
            ("--format", self.format != Format::Bag),
            ("--start", self.range.start.is_some()),
            ("--end", self.range.end.is_some()),
            ("--remap", !self.remap.is_empty()),
            ("a topic selection", self.selection.is_given()),
        ];
        let given = flags
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(flag, _)| flag);
        given.chain(self.writer.given_flags()).collect()
    }
}

/// The inputs' damage stops everything, unless it is to be skipped.
fn refuse_damage(
    reader: &BagReader,
    inputs: &InputArguments,
    on_damage: OnDamage,
) -> Result<(), Failure> {
    let damage = &reader.info().damage;
    let (OnDamage::Fail, Some(first)) = (on_damage, damage.first()) else {
        return Ok(());
    };
    let remedy = crate::damage::remedy(inputs.first(), damage).unwrap_or_default();
    let hint = format!("{remedy}, or skip what is damaged with --skip-damage");
    Err(Failure::new(format!("the input is damaged: {first}")).hint(hint))
}
