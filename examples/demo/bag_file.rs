//! What the demo reads of the bag.

use std::collections::BTreeMap;
use std::path::Path;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::Definitions;

use crate::Failure;
use crate::truth::stamp_of;

/// The log times of a topic's messages in the bag, by the stamps in their headers.
pub(crate) fn log_times(
    bag: &Path,
    topic: &str,
    type_name: &str,
) -> Result<BTreeMap<i64, i64>, Failure> {
    let schema = Definitions::builtin().schema(type_name)?;
    let mut reader = BagReader::open(bag)?;
    let query = reader.query_for(&[topic]);
    reader.start(&query)?;
    let mut times = BTreeMap::new();
    while reader.advance()? {
        let Some(message) = reader.message() else {
            break;
        };
        let stamp = stamp_of(&schema.decode(message.data)?);
        let stamp = stamp.ok_or_else(|| format!("a message of {topic} without a stamp"))?;
        if times.insert(stamp, message.log_time_ns).is_some() {
            return Err(format!("two messages of {topic} have the stamp {stamp}").into());
        }
    }
    Ok(times)
}
