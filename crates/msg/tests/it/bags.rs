//! Opens the golden bags.

use std::sync::Arc;

/// A message of a bag.
pub(crate) struct BagMessage {
    pub(crate) topic: String,
    pub(crate) log_time: u64,
    pub(crate) schema: Arc<mcap::Schema<'static>>,
    pub(crate) type_hash: Option<String>,
    pub(crate) qos: String,
    pub(crate) payload: Vec<u8>,
}

/// The names of the bags in `tests/data/bags`.
pub(crate) const BAGS: [&str; 6] = [
    "jazzy_zstd_fast",
    "cdr_test",
    "service_events",
    "convert_a",
    "convert_b",
    "talker",
];

/// Every message of a bag, in file order.
pub(crate) fn messages(bag: &str) -> Vec<BagMessage> {
    let path = format!("{}/tests/data/bags/{bag}.mcap", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let stream = mcap::MessageStream::new(&bytes).unwrap();
    stream
        .map(|message| {
            let message = message.unwrap();
            let metadata = |key: &str| message.channel.metadata.get(key).cloned();
            BagMessage {
                topic: message.channel.topic.clone(),
                log_time: message.log_time,
                schema: message.channel.schema.clone().unwrap(),
                type_hash: metadata("topic_type_hash").filter(|hash| !hash.is_empty()),
                qos: metadata("offered_qos_profiles").unwrap_or_default(),
                payload: message.data.to_vec(),
            }
        })
        .collect()
}

/// The text of a schema.
pub(crate) fn schema_text(message: &BagMessage) -> &str {
    str::from_utf8(&message.schema.data).unwrap()
}
