//! `--format` and `-o` of the verbs whose result is a table.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where a table goes, and in which form.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Output format [default: by the extension of the output file]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TableForm>,
    /// Output file: .parquet, .arrow, .csv, .json or .txt [default: stdout]
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
    /// The form that was given, else that of the file's name, else text on stdout.
    #[cfg(feature = "query")]
    pub(crate) fn form(&self) -> Result<TableForm, crate::failure::Failure> {
        if let Some(form) = self.format {
            return Ok(form);
        }
        let Some(path) = &self.output else {
            return Ok(TableForm::Text);
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(TableForm::Csv),
            Some("json" | "jsonl" | "ndjson") => Ok(TableForm::Json),
            Some("parquet") => Ok(TableForm::Parquet),
            Some("arrow" | "feather") => Ok(TableForm::Arrow),
            Some("txt") => Ok(TableForm::Text),
            _ => {
                let text = format!(
                    "{}: unknown output format; expected .parquet, .arrow, .feather, .csv, .json, .jsonl, .ndjson, .txt",
                    path.display()
                );
                let hint = "use one of these extensions, or --format";
                Err(crate::failure::Failure::usage(text).hint(hint))
            }
        }
    }
}

/// The failure of a binary that was built without tables.
#[cfg(not(feature = "query"))]
pub(crate) fn not_built_in(what: &str) -> crate::failure::Failure {
    let text = format!("this timeloom was built without {what}");
    let hint = "build it with `cargo install --locked --path crates/cli --features query`";
    crate::failure::Failure::new(text).hint(hint)
}
