//! Results to stdout, everything else to stderr.

use std::fmt;
use std::io::{self, Write as _};

use clap::ValueEnum;
use serde_json::Value as Json;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// A table
    #[default]
    Text,
    /// One JSON value
    Json,
}

/// The outcome of a run without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Messages are missing, and all of them are accounted for.
    Missing,
    /// Messages are damaged, out of order or not accounted for.
    Unaccounted,
}

impl Outcome {
    pub(crate) fn missing_if(missing: bool) -> Self {
        if missing { Self::Missing } else { Self::Done }
    }
}

/// Invalid arguments or profile: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Prints a result in the requested format.
pub(crate) fn result(
    format: Format,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> Json,
) -> io::Result<()> {
    let text = match format {
        Format::Text => text(),
        Format::Json => format!("{:#}\n", json()),
    };
    io::stdout().write_all(text.as_bytes())
}

/// Prints a line on stderr; a closed stderr is ignored.
pub(crate) fn note(text: &str) {
    let _written = writeln!(io::stderr(), "{text}");
}

/// A number above zero on the command line.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| "expected a number above 0".to_owned())
}
