//! Decoded messages of a bag as CSV files or as lines of JSON.

mod csv_directory;
mod file_names;
mod json_line;
mod time_format;

pub use file_names::FileNames;
pub use json_line::{LineContent, json_line};
pub use time_format::TimeFormat;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use self::csv_directory::CsvDirectory;
use crate::convert::{OnDamage, Progress};
use crate::{BagReader, Decoder, Error, Message, Query, Result, StorageReader as _, TopicInfo};

/// The output of an export.
pub enum ExportTarget<'a> {
    /// A new directory with one CSV file per topic, since each type has its own columns.
    CsvDirectory(&'a Path),
    /// A new file with one line of JSON per message.
    JsonLines(&'a Path),
    /// A stream of such lines.
    Stream(&'a mut dyn Write),
}

/// Options of an export.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The topics and times.
    pub query: Query,
    /// The format of times.
    pub times: TimeFormat,
    /// The reaction to a damaged input.
    pub on_damage: OnDamage,
}

/// The result of an export.
#[derive(Debug, Default)]
pub struct ExportReport {
    /// Messages written; a line of JSON with an error counts.
    pub messages: u64,
    /// Files written.
    pub files: u64,
    /// Topics with messages that could not be decoded.
    pub undecoded: Vec<Undecoded>,
    /// Descriptions of damage of the input.
    pub damage: Vec<String>,
}

/// Messages of a topic that could not be decoded. CSV files do not hold them, lines of JSON hold the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecoded {
    /// The topic.
    pub topic: String,
    /// Number of messages.
    pub messages: u64,
    /// The reason for the first of them.
    pub reason: String,
}

/// Exports decoded messages. `progress` is called after each message.
///
/// ```no_run
/// use std::path::Path;
/// use timeloom_bag::export::{ExportOptions, ExportTarget, export};
/// use timeloom_bag::{BagReader, Decoder, StorageReader};
/// use timeloom_msg::TypeResolver;
///
/// let mut reader = BagReader::open(Path::new("my_bag"))?;
/// let decoder = Decoder::new(reader.info(), &TypeResolver::default());
/// let target = ExportTarget::CsvDirectory(Path::new("tables"));
/// let report = export(&mut reader, &decoder, target, &ExportOptions::default(), &mut |_| {})?;
/// println!("{} messages in {} files", report.messages, report.files);
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
///
/// # Errors
/// [`Error::Exists`] for an output that exists, [`Error::Io`] where it cannot be written, and errors of the input that
/// the options do not skip.
pub fn export(
    reader: &mut BagReader,
    decoder: &Decoder,
    target: ExportTarget<'_>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ExportReport> {
    let info = reader.info().clone();
    reader.start(&options.query)?;
    let mut sink = Sink::create(target, info.topics.len(), options.times)?;
    let mut report = ExportReport {
        damage: info.damage.clone(),
        ..ExportReport::default()
    };
    let mut undecoded: Vec<Option<Undecoded>> = vec![None; info.topics.len()];
    let total = info.message_count();
    loop {
        let message = match reader.next_message() {
            Ok(None) => break,
            Ok(Some(message)) => message,
            Err(error) if options.on_damage == OnDamage::Skip && error.is_damage() => {
                report.damage.push(error.to_string());
                continue;
            }
            Err(error) => return Err(error),
        };
        let topic = info.topics.get(message.topic.index());
        let written = sink.write(topic, decoder, &message)?;
        report.messages += u64::from(written.in_output);
        if let Some(reason) = written.problem
            && let (Some(topic), Some(slot)) = (topic, undecoded.get_mut(message.topic.index()))
        {
            let undecoded = slot.get_or_insert_with(|| Undecoded {
                topic: topic.name.clone(),
                messages: 0,
                reason,
            });
            undecoded.messages += 1;
        }
        progress(Progress {
            messages: report.messages,
            total,
            log_time_ns: message.log_time_ns,
        });
    }
    report.files = sink.finish()?;
    report.undecoded = undecoded.into_iter().flatten().collect();
    Ok(report)
}

/// The outcome of one message.
struct Written {
    in_output: bool,
    /// The reason why it could not be decoded.
    problem: Option<String>,
}

enum Sink<'a> {
    Csv(CsvDirectory),
    Lines {
        out: Box<dyn Write + 'a>,
        path: &'a Path,
        times: TimeFormat,
    },
}

impl<'a> Sink<'a> {
    fn create(target: ExportTarget<'a>, topics: usize, times: TimeFormat) -> Result<Self> {
        if let ExportTarget::CsvDirectory(path) | ExportTarget::JsonLines(path) = target
            && path.exists()
        {
            let path = path.to_path_buf();
            return Err(Error::Exists { path });
        }
        let (out, path): (Box<dyn Write + 'a>, _) = match target {
            ExportTarget::CsvDirectory(path) => {
                return CsvDirectory::create(path, topics, times).map(Self::Csv);
            }
            ExportTarget::JsonLines(path) => {
                let file = File::create_new(path).map_err(Error::io(path, "create"))?;
                (Box::new(BufWriter::new(file)), path)
            }
            ExportTarget::Stream(out) => (Box::new(out), Path::new("-")),
        };
        Ok(Self::Lines { out, path, times })
    }

    fn write(
        &mut self,
        topic: Option<&TopicInfo>,
        decoder: &Decoder,
        message: &Message<'_>,
    ) -> Result<Written> {
        let name = topic.map_or("", |topic| topic.name.as_str());
        let decoded = decoder.decode(message);
        let problem = decoded.as_ref().err().map(ToString::to_string);
        let in_output = match self {
            Self::Csv(directory) => match (&decoded, decoder.schema(message.topic.index())) {
                (Ok(value), Ok(schema)) => {
                    directory.write(name, schema, message, value)?;
                    true
                }
                _ => false,
            },
            Self::Lines { out, path, times } => {
                let content = match (&decoded, &problem) {
                    (Ok(value), _) => LineContent::Value(value),
                    (Err(_), problem) => LineContent::Error(problem.as_deref().unwrap_or_default()),
                };
                let line = json_line(name, message, content, *times);
                writeln!(out, "{line}").map_err(Error::io(path, "write"))?;
                true
            }
        };
        Ok(Written { in_output, problem })
    }

    /// Writes everything that is buffered; returns the number of files.
    fn finish(self) -> Result<u64> {
        match self {
            Self::Csv(directory) => directory.finish(),
            Self::Lines { mut out, path, .. } => {
                out.flush().map_err(Error::io(path, "write"))?;
                Ok(1)
            }
        }
    }
}
