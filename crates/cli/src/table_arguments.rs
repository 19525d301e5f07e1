//! `--format` and `-o` of the verbs whose result is a table.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where a table goes, and in which form.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Output format [default: by the extension of the output file]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TableForm>,
    /// Output file: .parquet, .arrow, .csv or .json [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableForm {
    /// A table for people
    Text,
    /// One line of JSON per row
    Json,
    /// Comma-separated values, nested messages with dots
    Csv,
    /// A Parquet file, nested messages kept
    Parquet,
    /// An Arrow file (Feather), nested messages kept
    Arrow,
}

impl TableArguments {
    /// The form that was given, else that of the file's name, else text.
    #[cfg(feature = "query")]
    pub(crate) fn form(&self) -> TableForm {
        let by_name = || match self.output.as_deref()?.extension()?.to_str()? {
            "csv" => Some(TableForm::Csv),
            "json" | "jsonl" | "ndjson" => Some(TableForm::Json),
            "parquet" => Some(TableForm::Parquet),
            "arrow" | "feather" => Some(TableForm::Arrow),
            _ => None,
        };
        self.format.or_else(by_name).unwrap_or(TableForm::Text)
    }
}

/// The failure of a binary that was built without tables.
#[cfg(not(feature = "query"))]
pub(crate) fn not_built_in(what: &str) -> crate::failure::Failure {
    let text = format!("this timeloom was built without {what}");
    let hint = "build it with `cargo install --locked --path crates/cli --features query`";
    crate::failure::Failure::new(text).hint(hint)
}
