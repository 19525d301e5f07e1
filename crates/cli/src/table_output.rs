//! Rows on their way to stdout or to a new file.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use timeloom_columns::{
    Error, FileMetadata, RecordBatch, RowOrder, SchemaRef, TableFile, TableFormat,
};
use timeloom_query::{Format, TextLayout, Writer};

use crate::context::Context;
use crate::failure::Failure;
use crate::table_arguments::{TableArguments, TableForm};

/// An output for rows. A file that is not finished is removed.
pub(crate) enum TableOutput {
    Stdout(Writer),
    Text(Writer, NewFile),
    Table(TableFile),
}

impl TableOutput {
    /// `metadata` goes into formats that have such: Parquet and Arrow.
    pub(crate) fn create(
        arguments: &TableArguments,
        schema: &SchemaRef,
        order: RowOrder,
        metadata: FileMetadata,
    ) -> anyhow::Result<Self> {
        let output = arguments.output.as_deref();
        let text = |format: Format| {
            let width = output.map_or_else(terminal_width, |_| None);
            let writer = Writer::new(format, TextLayout { width }, schema);
            Ok(match output {
                None => Self::Stdout(writer),
                Some(path) => Self::Text(writer, NewFile::create(path)?),
            })
        };
        let table = |format: TableFormat| {
            let Some(path) = output else {
                let text = format!("{} is not written to stdout", format.extension());
                return Err(Failure::usage(text).hint("name a file with -o").into());
            };
            let file = TableFile::create(path, format, schema, order, metadata);
            file.map(Self::Table).map_err(explained)
        };
        match arguments.form()? {
            TableForm::Text => text(Format::Text),
            TableForm::Json => text(Format::Json),
            TableForm::Csv => text(Format::Csv),
            TableForm::Parquet => table(TableFormat::Parquet),
            TableForm::Arrow => table(TableFormat::Arrow),
        }
    }

    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        match self {
            Self::Stdout(writer) => {
                let written = writer.write(batch, context.printer.data());
                written.map_err(io_alone)
            }
            Self::Text(writer, file) => writer.write(batch, &mut file.file).map_err(io_alone),
            Self::Table(file) => file.write(batch).map_err(explained),
        }
    }

    pub(crate) fn finish(
        self,
        metadata: FileMetadata,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut writer) => writer.finish(context.printer.data()).map_err(io_alone),
            Self::Text(mut writer, mut file) => {
                writer.finish(&mut file.file).map_err(io_alone)?;
                Ok(file.finish()?)
            }
            Self::Table(file) => file.finish(metadata).map_err(explained),
        }
    }
}

/// A file that is removed unless it is finished.
pub(crate) struct NewFile {
    path: PathBuf,
    file: BufWriter<File>,
    is_finished: bool,
}

impl NewFile {
    fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create_new(path).map_err(|error| not_created(path, &error))?;
        Ok(Self {
            path: path.to_path_buf(),
            file: BufWriter::new(file),
            is_finished: false,
        })
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // The failure that led here is reported already.
            let _ignored = std::fs::remove_file(&self.path);
        }
    }
}

fn not_created(path: &Path, error: &io::Error) -> Failure {
    let text = format!("cannot create {}: {error}", path.display());
    let exists = error.kind() == io::ErrorKind::AlreadyExists;
    let hint = exists.then(|| "choose another output: no file is overwritten".to_owned());
    Failure::new(text).hint_if(hint)
}

/// Errors of a table file with what to do about them.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::Bag(error) => error.into(),
        Error::Io {
            path,
            action: "create",
            source,
        } => not_created(&path, &source).into(),
        error => error.into(),
    }
}

/// A closed pipe is not a failure; it has its own error kind.
fn io_alone(error: timeloom_query::Error) -> anyhow::Error {
    match error {
        timeloom_query::Error::Io(source) => source.into(),
        error => error.into(),
    }
}

/// Columns of the terminal; `None` when stdout is none, so that a file has whole lines.
fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}
