//! `timeloom list`: storages, converters, compressors, interfaces.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use timeloom_msg::{Definitions, Distro, TypeName};

use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom list storage -v
  timeloom list interfaces                          the message types that are built in
  timeloom list interfaces sensor_msgs              those of a package
  timeloom list interfaces std_msgs/msg/Header      the definition and its RIHS01 hash";

/// List storages, compressors and known interfaces
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The list to print
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    /// With `interfaces`: a package, or one type
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print details
    #[arg(short, long)]
    verbose: bool,
    /// With `interfaces`: the layouts of this distribution
    #[arg(long, value_name = "DISTRO", default_value = "jazzy")]
    ros_distro: Distro,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Storages of bags
    Storage,
    /// Encodings of payloads
    Converter,
    /// Compression of files and messages
    Compressor,
    /// Decompression of files and messages
    Decompressor,
    /// The built-in message types
    Interfaces,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if let (Some(name), false) = (&arguments.name, arguments.what == What::Interfaces) {
        let text = format!("unexpected name {name}: only `list interfaces` takes one");
        return Err(Failure::usage(text).into());
    }
    let entries: &[(&str, &str)] = match arguments.what {
        What::Storage => &[
            (
                "mcap",
                "read and write; files .mcap; presets none, fastwrite, zstd_fast, zstd_small",
            ),
            (
                "sqlite3",
                "read (schemas 1 to 4) and write (schema 4); files .db3; presets none, resilient",
            ),
        ],
        What::Converter => &[(
            "cdr",
            "payloads as DDS and Zenoh carry them, both byte orders",
        )],
        What::Compressor => &[(
            "zstd",
            "compression modes file and message; inside MCAP by preset",
        )],
        What::Decompressor => &[
            ("zstd", "files, messages and MCAP chunks"),
            ("lz4", "MCAP chunks"),
        ],
        What::Interfaces => return interfaces(arguments, context),
    };
    for (name, text) in entries {
        if arguments.verbose {
            writeln!(context.printer.data(), "{name:8} {text}")?;
        } else {
            writeln!(context.printer.data(), "{name}")?;
        }
    }
    Ok(Outcome::Done)
}

fn interfaces(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let known = Definitions::builtin_of(arguments.ros_distro);
    let names = names(known);
    let wanted = arguments.name.as_deref().unwrap_or_default();
    if wanted.contains('/') {
        let name = TypeName::parse(wanted)?;
        if known.get(&name).is_none() {
            return Err(unknown(&name.to_string(), &names).into());
        }
        let schema = known.schema(&name.to_string())?;
        let (text, hash) = (schema.ros2msg()?, schema.type_hash()?);
        writeln!(
            context.printer.data(),
            "# {name}\n# {hash}\n{}",
            text.trim_end()
        )?;
        return Ok(Outcome::Done);
    }
    let mut found = 0;
    for name in names
        .iter()
        .filter(|name| wanted.is_empty() || name.package() == wanted)
    {
        found += 1;
        if arguments.verbose {
            let hash = known.schema(&name.to_string())?.type_hash()?;
            writeln!(context.printer.data(), "{name} {hash}")?;
        } else {
            writeln!(context.printer.data(), "{name}")?;
        }
    }
    if found == 0 {
        return Err(unknown(wanted, &names).into());
    }
    Ok(Outcome::Done)
}

/// Whole interfaces: a service represents its request, response and event. Only parts have a `_` in their name.
fn names(known: &Definitions) -> BTreeSet<TypeName> {
    let whole = |name: &TypeName| !name.name().contains('_');
    known
        .iter()
        .map(|message| message.name.clone())
        .filter(whole)
        .collect()
}

fn unknown(wanted: &str, names: &BTreeSet<TypeName>) -> Failure {
    let types: Vec<String> = names.iter().map(ToString::to_string).collect();
    let packages = names.iter().map(TypeName::package);
    Failure::new(format!("no built-in interface {wanted}"))
        .suggest(wanted, types.iter().map(String::as_str).chain(packages))
        .or_hint("`timeloom list interfaces` lists all; a bag brings its own definitions")
}
