//! The samples of one topic of a bag.

use std::path::Path;

use timeloom_bag::place::is_address;
use timeloom_bag::{StorageReader as _, TopicInfo};
use timeloom_sync::Sample;
use timeloom_text::counted;

use super::device_field::FieldArguments;
use crate::context::Context;
use crate::damage;
use crate::decode::decoder;
use crate::failure::Failure;
use crate::hint;

/// Whether a path is a bag rather than a table.
pub(crate) fn is_bag(path: &Path) -> bool {
    is_address(path) || path.is_dir() || timeloom_bag::StorageId::from_path(path).is_some()
}

/// Receives each sample.
pub(crate) type TakeSample<'a> = dyn FnMut(&Sample, &mut Context) -> anyhow::Result<()> + 'a;

/// The result of reading.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BagAccount {
    /// Messages whose times could not be read.
    pub(crate) unread: u64,
    /// Whether the bag is damaged.
    pub(crate) damaged: bool,
}

/// Hands every sample of a topic to `take`, in the order of receiving.
pub(crate) fn read_topic(
    bag: &Path,
    topic: Option<&str>,
    fields: &FieldArguments,
    context: &mut Context,
    take: &mut TakeSample<'_>,
) -> anyhow::Result<BagAccount> {
    let mut reader = context.bags.open(bag)?;
    let info = reader.info().clone();
    let topic = chosen(&info.topics, topic)?;
    let decoder = decoder(&info);
    let place = info.topics.iter().position(|one| one.name == topic);
    let schema = decoder.schema(place.unwrap_or_default());
    let schema = schema.map_err(|error| Failure::new(error.to_string()))?;
    let mut fields = fields.of_topic(schema, &topic)?;
    context.printer.warnings(&info.damage);
    let mut account = BagAccount {
        damaged: damage::means_loss(&info.damage),
        ..BagAccount::default()
    };
    reader.start(&reader.query_for(&[&topic]))?;
    let mut first_problem = None;
    loop {
        let message = match reader.next_message() {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(error) if !error.is_damage() => return Err(error.into()),
            Err(error) => {
                context.printer.warning(&error.to_string());
                account.damaged = true;
                continue;
            }
        };
        let value = decoder.decode(&message).map_err(|error| error.to_string());
        let checked = value.and_then(|value| {
            let sample = fields.sample(&value, message.log_time_ns);
            let sample = Sample::Passive(sample.map_err(|error| error.to_string())?);
            let checked = sample.check().map(|()| sample);
            checked.map_err(|error| error.to_string())
        });
        match checked {
            Ok(sample) => take(&sample, context)?,
            Err(problem) => {
                account.unread += 1;
                first_problem.get_or_insert(problem);
            }
        }
    }
    if let Some(problem) = first_problem {
        let unread = counted(account.unread, "message");
        context
            .printer
            .warning(&format!("{unread} left out; the first: {problem}"));
    }
    if account.damaged {
        context.printer.hint(&hint::recover(bag));
    }
    Ok(account)
}

/// The requested topic, or the only one with device stamps.
fn chosen(topics: &[TopicInfo], wanted: Option<&str>) -> Result<String, Failure> {
    let names = || topics.iter().map(|topic| topic.name.as_str());
    if let Some(wanted) = wanted {
        if names().any(|name| name == wanted) {
            return Ok(wanted.to_owned());
        }
        return Err(no_topic(wanted, names()));
    }
    let known = |topic: &&TopicInfo| topic.type_name.starts_with("pf_interfaces/msg/PFR2");
    let mut found = topics.iter().filter(known);
    match (found.next(), found.next()) {
        (Some(topic), None) => Ok(topic.name.clone()),
        _ => Err(Failure::usage("a bag has several topics: select one").hint(
            "give --topic the one with the device's stamps; `timeloom info -t <bag>` lists them",
        )),
    }
}

/// The error for a topic that the bag does not have.
pub(super) fn no_topic<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    Failure::new(format!("no topic {wanted} in the bag"))
        .suggest(wanted, known)
        .or_hint("`timeloom info <bag>` lists the topics")
}
