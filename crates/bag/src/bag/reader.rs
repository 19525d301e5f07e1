//! One reader over all files of one or several bags.

use std::path::Path;
use std::sync::Arc;

use super::accounts::accounts;
use super::layout::BagLayout;
use super::merge::{Member, Merge};
use super::time_map::TimeMap;
use crate::storage::FileInfo;
use crate::{
    BagMetadata, Error, LocalPlace, Message, MessagePublishers, Place, Query, Result, RobotGraph,
    RobotParameters, SharedPayload, StatePart, StorageReader, StoredAt, TopicAccount, TopicId,
};

/// Reads whole bags in one stable order: time, bag, file, position in the file.
///
/// Topics of the same name and type share one id. Files are opened when their time is reached, so that a bag of a
/// thousand files needs the memory of those that overlap. A file that cannot be read is named in [`FileInfo::damage`].
///
/// ```no_run
/// use std::path::Path;
/// use timeloom_bag::{BagReader, Query, StorageReader};
///
/// let mut reader = BagReader::open(Path::new("my_bag"))?;
/// // One topic from a time on; without a query, everything.
/// let mut query = reader.query_for(&["/imu/data"]);
/// query.start_ns = Some(1_794_733_131_000_000_000);
/// reader.start(&query)?;
/// while let Some(message) = reader.next_message()? {
///     println!("{}: {} bytes", message.log_time_ns, message.data.len());
/// }
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub struct BagReader {
    place: Arc<dyn Place>,
    bags: Vec<BagLayout>,
    info: FileInfo,
    merge: Merge,
    accounts: Vec<Option<TopicAccount>>,
    interrupted: bool,
    /// By bag; empty if no bag is on another clock.
    times: Vec<Option<Arc<dyn TimeMap>>>,
}

impl BagReader {
    /// Opens one bag: a directory or a file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_all(&[path])
    }

    /// Opens several bags as one.
    pub fn open_all<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        Self::open_in(Arc::new(LocalPlace), paths)
    }

    /// Opens several bags of any [`Place`] as one.
    pub fn open_in<P: AsRef<Path>>(place: Arc<dyn Place>, paths: &[P]) -> Result<Self> {
        let mut bags = paths
            .iter()
            .map(|path| BagLayout::find_in(place.as_ref(), path.as_ref()))
            .collect::<Result<Vec<_>>>()?;
        let mut info = FileInfo::default();
        let mut members = Vec::new();
        let mut first_error = None;
        for (bag, layout) in bags.iter().enumerate() {
            tracing::debug!(
                bag = %paths.get(bag).map_or(Path::new(""), AsRef::as_ref).display(),
                bytes = layout.size(),
                damage = ?layout.damage,
                "open bag"
            );
            info.damage.extend(layout.damage.iter().cloned());
            info.file_size += layout.size();
            let unpack = layout
                .metadata
                .as_deref()
                .map(crate::BagMetadata::compresses_messages);
            for file in &layout.files {
                match Member::open(&place, bag, file, unpack, layout.known()) {
                    Ok(member) => {
                        // Of several files only the last stays open here, and only until the first query.
                        members.iter_mut().for_each(Member::close);
                        members.push(member);
                    }
                    Err(error) if !error.is_damage() => return Err(error),
                    Err(error) => {
                        info.damage.push(error.to_string());
                        first_error.get_or_insert(error);
                    }
                }
            }
        }
        bags.iter_mut().for_each(BagLayout::forget_text);
        if let (true, Some(error)) = (members.is_empty(), first_error) {
            return Err(error);
        }
        for member in &mut members {
            take_member(&mut info, member);
        }
        take_empty_topics(&mut info, &bags, &members);
        let newest = bags.iter().rev().find_map(|bag| bag.metadata.clone());
        info.metadata = newest.or_else(|| {
            members
                .last()
                .and_then(|member| member.info.metadata.clone())
        });
        if info.ros_distro.is_empty() {
            info.ros_distro = info
                .metadata
                .as_ref()
                .map(|metadata| metadata.ros_distro.clone())
                .unwrap_or_default();
        }
        let accounts = accounts(&info, &bags, &members, &[]);
        let mut metadata = bags.iter().filter_map(|bag| bag.metadata.as_deref());
        let mut files = members.iter().filter_map(|it| it.info.account.as_ref());
        let interrupted =
            metadata.any(BagMetadata::is_interrupted) || files.any(|file| file.interrupted);
        let mut reader = Self {
            place,
            bags,
            info,
            merge: Merge::new(members),
            accounts,
            interrupted,
            times: Vec::new(),
        };
        reader.start(&Query::default())?;
        Ok(reader)
    }

    /// The bags in the order in which they were given.
    pub fn bags(&self) -> &[BagLayout] {
        &self.bags
    }

    /// The place that the bags are read from.
    pub fn place(&self) -> &Arc<dyn Place> {
        &self.place
    }

    /// A query for topics by name; names that do not exist select nothing.
    pub fn query_for(&self, names: &[&str]) -> Query {
        let wanted = |name: &str| names.contains(&name);
        let ids = self
            .info
            .topics
            .iter()
            .enumerate()
            .filter(|(_, topic)| wanted(&topic.name));
        let topics = ids
            .filter_map(|(index, _)| TopicId::from_index(index))
            .collect();
        Query {
            topics: Some(topics),
            ..Query::default()
        }
    }

    /// The account of each topic by dense id, of all bags together; `None` where no bag keeps an account.
    ///
    /// For a recording that never ended it is the account that its recorder saved, with the rest as unknown.
    pub fn accounts(&self) -> &[Option<TopicAccount>] {
        &self.accounts
    }

    /// Puts a bag on another clock: its log times, the times of its losses and those of its graph. Publish times stay, as
    /// each is by the clock of its publisher. Call [`start`](StorageReader::start) afterwards.
    pub fn set_times(&mut self, bag: usize, times: &Arc<dyn TimeMap>) {
        self.merge.set_times(bag, times);
        self.times.resize_with(self.bags.len(), || None);
        if let Some(place) = self.times.get_mut(bag) {
            *place = Some(Arc::clone(times));
        }
        let members = self.merge.members();
        let infos = || members.iter().map(|member| &member.info);
        self.info.start_time_ns = infos().filter_map(|info| info.start_time_ns).min();
        self.info.end_time_ns = infos().filter_map(|info| info.end_time_ns).max();
        self.accounts = accounts(&self.info, &self.bags, members, &self.times);
    }

    /// Counts what the bags miss of a topic as unknown: a message that one bag misses may be in another one.
    pub fn leave_losses_open(&mut self, topic: TopicId) {
        let account = self.accounts.get_mut(topic.index());
        if let Some(account) = account.and_then(Option::as_mut) {
            account.leave_open();
        }
    }

    /// Whether a recorder was killed, or files are lost: messages may be missing, and topics that no file names.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// The file of the current message: number of the bag, and path.
    pub fn location(&self) -> Option<(usize, &Path)> {
        self.merge.location()
    }

    /// The description of each file, with the place of its bag among those that were opened.
    pub fn file_infos(&self) -> impl Iterator<Item = (usize, &FileInfo)> {
        let members = self.merge.members().iter();
        members.map(|member| (member.bag, &member.info))
    }

    /// The description of each file, with its path.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &FileInfo)> {
        self.merge
            .members()
            .iter()
            .map(|member| (member.file.path.as_path(), &member.info))
    }
}

fn topic_slot(info: &mut FileInfo, topic: &crate::TopicInfo) -> usize {
    let same =
        |known: &crate::TopicInfo| known.name == topic.name && known.type_name == topic.type_name;
    info.topics.iter().position(same).unwrap_or_else(|| {
        info.topics.push(topic.clone());
        info.message_counts.push(0);
        info.topics.len() - 1
    })
}

/// Adds the topics, counts and times of a file to those of the bag.
fn take_member(info: &mut FileInfo, member: &mut Member) {
    member.topics = Vec::with_capacity(member.info.topics.len());
    for (topic, count) in member.info.topics.iter().zip(&member.info.message_counts) {
        let slot = topic_slot(info, topic);
        if let Some(total) = info.message_counts.get_mut(slot) {
            *total += count;
        }
        if let Some(known) = info
            .topics
            .get_mut(slot)
            .filter(|known| known.definition.text.is_empty())
        {
            known.definition.clone_from(&topic.definition);
        }
        member.topics.push(u32::try_from(slot).unwrap_or(u32::MAX));
    }
    let earlier = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
    let later = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).max();
    info.start_time_ns = earlier(info.start_time_ns, member.info.start_time_ns);
    info.end_time_ns = later(info.end_time_ns, member.info.end_time_ns);
    let name = member
        .file
        .path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    info.damage.extend(
        member
            .info
            .damage
            .iter()
            .map(|damage| format!("{name}: {damage}")),
    );
    let compatibility = member.info.compatibility.iter();
    info.compatibility
        .extend(compatibility.map(|text| format!("{name}: {text}")));
    info.extras.add(member.info.extras);
    if info.ros_distro.is_empty() {
        info.ros_distro.clone_from(&member.info.ros_distro);
    }
}

/// Topics that only the metadata or an account knows: they were subscribed but no message was recorded.
fn take_empty_topics(info: &mut FileInfo, bags: &[BagLayout], members: &[Member]) {
    let records = bags
        .iter()
        .filter_map(|bag| bag.metadata.as_ref())
        .flat_map(|metadata| &metadata.topics);
    for record in records {
        topic_slot(info, &record.topic);
    }
    let accounts = members.iter().filter_map(|it| it.info.account.as_ref());
    for record in accounts.flat_map(|account| &account.topics) {
        topic_slot(info, &record.topic);
    }
}

impl StorageReader for BagReader {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    /// The texts of all files; a query in progress continues.
    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        self.merge.state_texts(part)
    }

    /// The graphs of all bags together; a query in progress continues.
    fn graph(&mut self) -> Result<RobotGraph> {
        self.merge.state()
    }

    /// The parameters of all bags together; a query in progress continues.
    fn parameters(&mut self) -> Result<RobotParameters> {
        self.merge.state()
    }

    /// The publishers of all bags together; a query in progress continues.
    fn publishers(&mut self) -> Result<MessagePublishers> {
        self.merge.state()
    }

    fn start(&mut self, query: &Query) -> Result<(), Error> {
        self.merge.start(query);
        Ok(())
    }

    #[inline]
    fn advance(&mut self) -> Result<bool> {
        self.merge.advance()
    }

    #[inline]
    fn message(&self) -> Option<Message<'_>> {
        self.merge.message()
    }

    fn shared_payload(&self) -> Option<SharedPayload> {
        self.merge.shared_payload()
    }

    fn stored_at(&self) -> Option<StoredAt<'_>> {
        self.merge.stored_at()
    }
}
