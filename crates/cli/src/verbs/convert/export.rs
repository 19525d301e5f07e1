//! Decoded messages as CSV or as lines of JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use timeloom_bag::convert::OnDamage;
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, Message, Query, StorageReader as _, TopicId};

use super::csv_directory::CsvDirectory;
use super::plan::warn_empty;
use super::{Arguments, Format, refuse_damage};
use crate::context::Context;
use crate::decode::Decoders;
use crate::failure::Failure;
use crate::json_text::counted;
use crate::message_line::{Content, TimeFormat, line};
use crate::outcome::Outcome;
use crate::time_range::TimeRange;
use crate::topic_selection::TopicSelection;

/// Where decoded messages go.
enum Sink {
    Csv(CsvDirectory),
    Lines(BufWriter<File>),
    Stdout,
}

pub(super) fn run(
    arguments: &Arguments,
    mut reader: BagReader,
    selection: &TopicSelection,
    range: TimeRange,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    refuse_bag_flags(arguments)?;
    refuse_damage(&reader, &arguments.inputs, arguments.on_damage())?;
    let info = reader.info().clone();
    let taken = info
        .topics
        .iter()
        .enumerate()
        .filter(|(_, topic)| selection.takes(topic));
    let topics = taken
        .filter_map(|(index, _)| TopicId::from_index(index))
        .collect();
    reader.start(&Query {
        topics: Some(topics),
        start_ns: range.start_ns,
        end_ns: range.end_ns,
        ..Query::default()
    })?;
    let mut export = Export {
        sink: Sink::create(arguments, info.topics.len())?,
        decoders: Decoders::new(&info.topics, &info.ros_distro),
        times: arguments.time_format,
        failures: info.topics.iter().map(|_| (0, String::new())).collect(),
        exported: 0,
    };
    let mut damage = info.damage.clone();
    let mut progress = context.progress("exporting");
    loop {
        match reader.next_message() {
            Ok(None) => break,
            Ok(Some(message)) => {
                export.take(&info, &message, context)?;
                progress.update(range.fraction(&info, message.log_time_ns), export.exported);
            }
            Err(error) if arguments.on_damage() == OnDamage::Skip && error.is_damage() => {
                damage.push(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    drop(progress);
    export.finish(arguments, &info, &damage, context)
}

/// Flags that only a bag can honour.
fn refuse_bag_flags(arguments: &Arguments) -> Result<(), Failure> {
    let remap = (!arguments.remap.is_empty()).then_some("--remap");
    let given: Vec<&str> = arguments.writer.given_flags().chain(remap).collect();
    if given.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} cannot be used with --format csv or ndjson",
        given.join(", ")
    )))
}

impl Sink {
    fn create(arguments: &Arguments, topics: usize) -> anyhow::Result<Self> {
        let output: &Path = &arguments.output;
        if arguments.writes_to_stdout() {
            if arguments.format == Format::Csv {
                let text = "csv cannot be written to stdout: each topic has its own columns";
                return Err(Failure::usage(text)
                    .hint("give -o a directory, or use --format ndjson")
                    .into());
            }
            return Ok(Self::Stdout);
        }
        if output.exists() {
            return Err(timeloom_bag::Error::Exists {
                path: output.to_path_buf(),
            }
            .into());
        }
        if arguments.format == Format::Csv {
            return CsvDirectory::create(output, topics, arguments.time_format).map(Self::Csv);
        }
        let file = File::create_new(output)
            .with_context(|| format!("cannot create {}", output.display()))?;
        Ok(Self::Lines(BufWriter::new(file)))
    }
}

struct Export {
    sink: Sink,
    decoders: Decoders,
    times: TimeFormat,
    /// Messages by topic that could not be decoded, and the first reason.
    failures: Vec<(u64, String)>,
    exported: u64,
}

impl Export {
    fn take(
        &mut self,
        info: &FileInfo,
        message: &Message<'_>,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        let index = message.topic.index();
        let name = info
            .topics
            .get(index)
            .map_or("", |topic| topic.name.as_str());
        let decoded = self.decoders.decode(message);
        let content = match &decoded {
            Ok(value) => Content::Value(value),
            Err(reason) => {
                if let Some((count, first)) = self.failures.get_mut(index) {
                    *count += 1;
                    if first.is_empty() {
                        first.clone_from(reason);
                    }
                }
                Content::Error(reason)
            }
        };
        match &mut self.sink {
            Sink::Csv(directory) => {
                if let (Ok(value), Ok(schema)) = (&decoded, self.decoders.schema(index)) {
                    directory.write(name, schema, message, value)?;
                    self.exported += 1;
                }
                return Ok(());
            }
            Sink::Lines(file) => writeln!(file, "{}", line(name, message, &content, self.times))?,
            Sink::Stdout => writeln!(
                context.printer.data(),
                "{}",
                line(name, message, &content, self.times)
            )?,
        }
        self.exported += 1;
        Ok(())
    }

    fn finish(
        self,
        arguments: &Arguments,
        info: &FileInfo,
        damage: &[String],
        context: &mut Context,
    ) -> anyhow::Result<Outcome> {
        let output = arguments.output.display();
        let messages = counted(self.exported, "message");
        match self.sink {
            Sink::Csv(directory) => {
                let files = counted(directory.finish()?, "file");
                context
                    .printer
                    .note(&format!("wrote {output}: {messages} in {files}"));
            }
            Sink::Lines(mut file) => {
                file.flush()
                    .with_context(|| format!("cannot write {output}"))?;
                context.printer.note(&format!("wrote {output}: {messages}"));
            }
            Sink::Stdout => {}
        }
        let undecoded: u64 = self.failures.iter().map(|(count, _)| count).sum();
        for (topic, (count, reason)) in info
            .topics
            .iter()
            .zip(&self.failures)
            .filter(|(_, (count, _))| *count > 0)
        {
            let messages = counted(*count, "message");
            context.printer.warning(&format!(
                "{}: {messages} could not be decoded: {reason}",
                topic.name
            ));
        }
        context.printer.warnings(damage);
        if self.exported + undecoded == 0 {
            warn_empty(info, context);
        }
        let reason = "csv and ndjson hold messages only";
        let left_out = crate::extras::warn_left_out(info.extras, reason, context);
        Ok(Outcome::lost_if(
            left_out || undecoded > 0 || crate::damage::means_loss(damage),
        ))
    }
}
