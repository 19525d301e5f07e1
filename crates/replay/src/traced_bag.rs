//! Inputs and outputs of a run in one bag, for budgets.

use std::path::Path;

use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, Query, StorageReader as _, TopicId, TopicInfo,
};
use timeloom_node::{Names, NodeOptions};

use crate::plan::RunPlan;
use crate::run::open;

/// Writes the inputs, at the times at which they are played, and the recorded outputs into one bag.
///
/// Inputs that are received by a recorder beside the player would not do: it may receive an answer before the input.
pub(crate) fn write(plan: &RunPlan, recorded: &Path, to: &Path) -> Result<(), String> {
    let mut inputs = open(&plan.bags).map_err(|error| error.to_string())?;
    let mut outputs = BagReader::open(recorded).map_err(|error| error.to_string())?;
    let names = Names::new(&NodeOptions {
        remaps: plan.inputs.remaps.clone(),
        ..NodeOptions::new("player")
    });
    let names = names.map_err(|error| error.to_string())?;
    let played = |topic: &TopicInfo| {
        plan.plays(&topic.name)
            .then(|| names.topic(&topic.name).ok())
    };
    write_merged(
        [
            Side::new(&mut inputs, |topic| played(topic).flatten()),
            Side::new(&mut outputs, |topic| Some(topic.name.clone())),
        ],
        to,
    )
    .map_err(|error| error.to_string())
}

/// A bag, and the names of the topics that are taken from it.
struct Side<'a> {
    reader: &'a mut BagReader,
    names: Vec<Option<String>>,
    /// The topics in the new bag.
    ids: Vec<Option<TopicId>>,
}

impl<'a> Side<'a> {
    fn new(reader: &'a mut BagReader, name: impl Fn(&TopicInfo) -> Option<String>) -> Self {
        Self {
            names: reader.info().topics.iter().map(name).collect(),
            ids: Vec::new(),
            reader,
        }
    }

    fn start(&mut self, writer: &mut BagWriter) -> timeloom_bag::Result<()> {
        for (topic, name) in self.reader.info().topics.clone().iter().zip(&self.names) {
            let renamed = name.as_ref().map(|name| TopicInfo {
                name: name.clone(),
                ..topic.clone()
            });
            let id = renamed.map(|topic| writer.add_topic(&topic)).transpose()?;
            self.ids.push(id);
        }
        let taken = self.ids.iter().enumerate().filter(|(_, id)| id.is_some());
        let taken = taken.filter_map(|(index, _)| TopicId::from_index(index));
        let query = Query {
            topics: Some(taken.collect()),
            ..Query::default()
        };
        self.reader.start(&query)?;
        self.reader.advance()?;
        Ok(())
    }

    /// The log time of the next message.
    fn time(&self) -> Option<i64> {
        self.reader.message().map(|message| message.log_time_ns)
    }

    fn write(&mut self, writer: &mut BagWriter) -> timeloom_bag::Result<()> {
        if let Some(message) = self.reader.message()
            && let Some(Some(topic)) = self.ids.get(message.topic.index())
        {
            let message = Message {
                topic: *topic,
                // Publish times are of the machine, log times are the player's.
                publish_time_ns: message.log_time_ns,
                ..message
            };
            writer
                .write(&[message], message.log_time_ns)
                .error
                .map_or(Ok(()), Err)?;
        }
        self.reader.advance()?;
        Ok(())
    }
}

fn write_merged(mut sides: [Side<'_>; 2], to: &Path) -> timeloom_bag::Result<()> {
    let mut writer = BagWriter::create(to, BagOptions::default())?;
    for side in &mut sides {
        side.start(&mut writer)?;
    }
    let [inputs, outputs] = &mut sides;
    loop {
        let next = match (inputs.time(), outputs.time()) {
            (None, None) => break,
            // An input comes before its answer.
            (Some(input), Some(output)) if input > output => &mut *outputs,
            (Some(_), _) => &mut *inputs,
            (None, Some(_)) => &mut *outputs,
        };
        next.write(&mut writer)?;
    }
    let (_summary, outcome) = writer.finish()?;
    outcome.error.map_or(Ok(()), Err)
}
