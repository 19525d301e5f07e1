//! The tags of a bag, one after the other.

use std::ops::ControlFlow;

use datafusion::error::{DataFusionError, Result};
use timeloom_bag::{Query, StorageReader as _};
use timeloom_trace::{AnyTag, TAG_TYPE, TagView};

use crate::bag_set::{Bag, BagSet};
use crate::findings::Undecoded;

/// Calls `take` with each tag and its log time, in order of log time. What is no tag is counted, not skipped in silence.
pub(super) fn read_tags(
    set: &BagSet,
    bag: &Bag,
    mut take: impl FnMut(i64, &TagView<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let is_tag = |index: usize| {
        let topic = bag.info.topics.get(index);
        topic.is_some_and(|topic| topic.type_name == TAG_TYPE)
    };
    let topics = bag.topics(is_tag);
    if topics.is_empty() {
        return Ok(());
    }
    let failed =
        |error: timeloom_bag::Error| DataFusionError::Execution(format!("{}: {error}", bag.name));
    let mut reader = set.source.open(&bag.uri).map_err(failed)?;
    let query = Query {
        topics: Some(topics),
        ..Query::default()
    };
    reader.start(&query).map_err(failed)?;
    let mut broken = 0;
    loop {
        match reader.next_message() {
            Ok(Some(message)) => match AnyTag::parse(message.data) {
                Ok(AnyTag::Full(tag)) => {
                    if take(message.log_time_ns, &tag)?.is_break() {
                        break;
                    }
                }
                // A tag of `tilde_lite` names neither output nor inputs.
                Ok(AnyTag::HeaderOnly { .. }) => {}
                Err(error) => {
                    broken += 1;
                    let key = Undecoded {
                        bag: bag.name.clone(),
                        topic: "the tags".to_owned(),
                        from_ns: None,
                    };
                    set.findings.add_undecoded(key, broken, &error.to_string());
                }
            },
            Ok(None) => break,
            Err(error) => set.findings.add_unread(format!("{}: {error}", bag.name)),
        }
    }
    Ok(())
}
