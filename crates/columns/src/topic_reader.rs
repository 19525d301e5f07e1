//! The rows of one topic of a bag.

use std::sync::Arc;

use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::{BagReader, Query, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::{Schema, Stamp, StampProgram, TypeResolver};

use crate::{Batch, Error, Result, Rows, Undecoded};

/// The time of a message that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeBase {
    /// When it was received.
    #[default]
    LogTime,
    /// When it was published.
    PublishTime,
    /// The time that it carries itself: `header.stamp`, or else `stamp`.
    HeaderStamp,
}

/// The topic, fields and times to read.
#[derive(Debug, Clone, Default)]
pub struct TopicRequest {
    /// The topic.
    pub topic: String,
    /// The type, for a topic that was recorded with several.
    pub type_name: Option<String>,
    /// The paths of the fields; all fields unless given.
    pub fields: Option<Vec<String>>,
    /// Earliest log time, inclusive.
    pub start_ns: Option<i64>,
    /// Latest log time, inclusive.
    pub end_ns: Option<i64>,
    /// The treatment of messages that cannot be decoded.
    pub undecoded: Undecoded,
}

impl TopicRequest {
    /// All messages of a topic.
    pub fn new(topic: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            ..Self::default()
        }
    }

    /// The number of the topic in a list of topics.
    ///
    /// # Errors
    /// When there is no such topic, or several types of it.
    pub fn find(&self, topics: &[TopicInfo]) -> Result<usize> {
        let wanted = |topic: &TopicInfo| {
            let type_name = self.type_name.as_ref();
            topic.name == self.topic && type_name.is_none_or(|name| *name == topic.type_name)
        };
        let mut found = topics.iter().enumerate().filter(|(_, topic)| wanted(topic));
        let Some((index, _)) = found.next() else {
            return Err(Error::UnknownTopic {
                name: self.topic.clone(),
                known: topics.iter().map(|topic| topic.name.clone()).collect(),
            });
        };
        if found.next().is_some() {
            let types = topics.iter().filter(|topic| wanted(topic));
            return Err(Error::SeveralTypes {
                name: self.topic.clone(),
                types: types.map(|topic| topic.type_name.clone()).collect(),
            });
        }
        Ok(index)
    }
}

/// Reads one topic of a bag, batch by batch.
///
/// Unreadable parts are skipped and reported: see [`Self::unread`] and [`Self::undecoded`].
pub struct TopicReader {
    topic: String,
    query: Query,
    reader: BagReader,
    rows: Rows,
    schema: Arc<Schema>,
    undecoded: (u64, String),
    unread: Vec<String>,
    stamp: Option<StampProgram>,
    stamps: Vec<Option<i64>>,
}

impl TopicReader {
    /// Starts to read a topic; the type is what the bag says, else what the resolver finds.
    ///
    /// # Errors
    /// When there is no such topic or field, or the type is not known.
    pub fn new(
        mut reader: BagReader,
        resolver: &TypeResolver,
        request: &TopicRequest,
    ) -> Result<Self> {
        let info = reader.info();
        let unread = lost_in(&info.damage);
        let index = request.find(&info.topics)?;
        let resolver = resolver.for_distro(&info.ros_distro);
        let topic = info.topics.get(index).cloned().unwrap_or_default();
        let schema = Arc::new(topic.schema(&resolver)?);
        let rows = Rows::new(Arc::clone(&schema), request.fields.as_deref())?
            .with_undecoded(request.undecoded);
        let query = Query {
            topics: Some(TopicId::from_index(index).into_iter().collect()),
            start_ns: request.start_ns,
            end_ns: request.end_ns,
            ..Query::default()
        };
        reader.start(&query)?;
        Ok(Self {
            topic: topic.name,
            query,
            reader,
            rows,
            schema,
            undecoded: (0, String::new()),
            unread,
            stamp: None,
            stamps: Vec::new(),
        })
    }

    /// Starts again with other log times, both inclusive; what was found missing so far is kept.
    ///
    /// # Errors
    /// When the bag cannot be read.
    pub fn restart(&mut self, start_ns: Option<i64>, end_ns: Option<i64>) -> Result<()> {
        self.query.start_ns = start_ns;
        self.query.end_ns = end_ns;
        self.rows.take();
        Ok(self.reader.start(&self.query)?)
    }

    /// The batch without rows: it has the types of all columns.
    pub fn empty(&self) -> Batch {
        self.rows.empty()
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// When the bag cannot be read any further for another reason than damage.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            match self.reader.next_message() {
                Ok(Some(message)) => {
                    if let Some(stamp) = &self.stamp {
                        let read = stamp.read(message.data);
                        self.stamps.push(read.ok().map(Stamp::nanos));
                    }
                    if let Err(error) = self.rows.push(&message) {
                        self.undecoded.0 += 1;
                        if self.undecoded.1.is_empty() {
                            self.undecoded.1 = error.to_string();
                        }
                    }
                    if self.rows.is_full() {
                        return Ok(Some(self.rows.take()));
                    }
                }
                Ok(None) => {
                    let batch = self.rows.take();
                    return Ok((!batch.is_empty()).then_some(batch));
                }
                Err(error) if error.is_damage() => self.unread.push(error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads the stamp of every further message beside its row: see [`Self::take_stamps`].
    ///
    /// # Errors
    /// When the type has no header stamp that can be reached.
    pub(crate) fn keep_stamps(&mut self) -> Result<()> {
        let type_name = self.schema.name().to_string();
        let program = StampProgram::compile(&self.schema);
        self.stamp = Some(program.ok_or(Error::NoStamp { type_name })?);
        Ok(())
    }

    /// The stamps of the rows of the last batch, in nanoseconds; `None` where one cannot be read.
    pub(crate) fn take_stamps(&mut self) -> Vec<Option<i64>> {
        std::mem::take(&mut self.stamps)
    }

    /// Descriptions of the parts of the bag that could not be read.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Number of messages that could not be decoded, and the first reason.
    pub fn undecoded(&self) -> (u64, &str) {
        (self.undecoded.0, &self.undecoded.1)
    }

    /// All that is missing, in words: what could not be read, and what could not be decoded.
    pub fn lost(&self) -> Vec<String> {
        let (count, reason) = &self.undecoded;
        let undecoded = undecoded_text(&self.topic, *count, reason);
        self.unread.iter().cloned().chain(undecoded).collect()
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }
}

/// The sentence on messages that could not be decoded; `None` if there are none.
pub fn undecoded_text(topic: &str, count: u64, reason: &str) -> Option<String> {
    let messages = if count == 1 { "message" } else { "messages" };
    let text = || format!("{count} {messages} of {topic} could not be decoded: {reason}");
    (count > 0).then(text)
}

/// The damage that was found at opening and costs messages; a `metadata.yaml` that is missing or wrong costs none.
pub fn lost_in(damage: &[String]) -> Vec<String> {
    let costly = damage
        .iter()
        .filter(|text| !text.starts_with(METADATA_FILE));
    costly.cloned().collect()
}
