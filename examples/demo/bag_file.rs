//! Reads the bag for the demo.

use std::collections::BTreeMap;
use std::path::Path;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::Definitions;
use timeloom_testkit::mcap::{Layout, violations};

use crate::Failure;
use crate::truth::stamp_of;

/// Checks the files of the bag by the rules of MCAP and of `ros2 bag`, without code of Timeloom's reader.
pub(crate) fn check_files(bag: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(bag)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "mcap") {
            let found = violations(&std::fs::read(&path)?, Layout::Indexed);
            if let Some(violation) = found.first() {
                return Err(format!("{}: {violation}", path.display()).into());
            }
        }
    }
    Ok(())
}

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
