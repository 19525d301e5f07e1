//! Recovers damaged bags.

mod sqlite_rows;

use std::fs;
use std::path::{Path, PathBuf};

use crate::bag::{BagFile, BagLayout, RESERVED_FILE, add_file, bag_files};
use crate::compression::compress_file;
use crate::mcap::{CarryOver, McapOptions, McapReader, McapWriter};
use crate::metadata::sync_directory;
use crate::reindex::{known_account, rebuild};
use crate::sqlite::SqliteReader;
use crate::storage::{
    ExtraCounts, FileAccount, FileInfo, FileSummary, StorageReader, StorageWriter,
};
use crate::{
    BagMetadata, BagReader, Error, Order, Query, Result, StatePart, StorageId, TopicStatistics,
};

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RecoveredFile {
    /// The file.
    pub path: PathBuf,
    /// The new path of the damaged original; `None` if the file was intact.
    pub original: Option<PathBuf>,
    /// Messages that the file holds now.
    pub messages: u64,
    /// Messages among them from a truncated record.
    pub salvaged: u64,
    /// Messages in the file's own indexes that cannot be read.
    pub lost_messages: u64,
    /// Attachments and foreign metadata records that the file holds now.
    pub extras: ExtraCounts,
    /// Those that were in the file and cannot be read.
    pub lost_extras: ExtraCounts,
    /// Bytes of the file that belong to no readable record.
    pub lost_bytes: u64,
    /// Descriptions of the damage.
    pub damage: Vec<String>,
}

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct RecoverReport {
    /// The files in their order.
    pub files: Vec<RecoveredFile>,
    /// Files that could not be opened at all, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Whether the recording never ended.
    pub unfinished: bool,
    /// The account of the bag after recovery, all topics together: lost while recording, left out, unknown.
    pub account: TopicStatistics,
}

impl RecoverReport {
    /// Messages that are readable now.
    pub fn messages(&self) -> u64 {
        self.files.iter().map(|file| file.messages).sum()
    }

    /// Messages that are known to be lost.
    pub fn lost_messages(&self) -> u64 {
        self.files.iter().map(|file| file.lost_messages).sum()
    }

    /// Attachments and foreign metadata records that are known to be lost.
    pub fn lost_extras(&self) -> ExtraCounts {
        let mut lost = ExtraCounts::default();
        for file in &self.files {
            lost.add(file.lost_extras);
        }
        lost
    }

    /// Whether anything is lost, counted or not.
    pub fn is_lossy(&self) -> bool {
        self.lost_messages() > 0
            || !self.lost_extras().is_empty()
            || !self.unreadable.is_empty()
            || self.files.iter().any(|file| file.lost_bytes > 0)
    }
}

/// Recovers a bag: every damaged file is rewritten beside the original with everything that can be read, and takes its
/// name; the original is kept as `<file>.damaged`. Then the metadata is rebuilt. An intact file that `ros2 bag` does
/// not read in full ([`FileInfo::compatibility`](crate::storage::FileInfo::compatibility)) is rewritten too.
///
/// Other intact files are not changed. A single file is recovered in the same way, without metadata.
///
/// ```no_run
/// let report = timeloom_bag::recover("my_bag".as_ref(), 9)?;
/// println!("{} messages, {} lost", report.messages(), report.lost_messages());
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub fn recover(path: &Path, metadata_version: u32) -> Result<RecoverReport> {
    let single = !path.is_dir();
    let files = if single {
        BagLayout::find(path)?.files
    } else {
        bag_files(&crate::LocalPlace, path)?
    };
    let known = BagLayout::find(path)
        .ok()
        .and_then(|layout| layout.metadata);
    let mut report = RecoverReport {
        unfinished: known.as_deref().is_some_and(BagMetadata::is_unfinished),
        ..RecoverReport::default()
    };
    for file in &files {
        match recover_file(file, known.as_deref()) {
            Ok(recovered) => report.files.push(recovered),
            Err(error @ Error::Exists { .. }) => return Err(error),
            Err(error) => report
                .unreadable
                .push((file.path.clone(), error.to_string())),
        }
    }
    if let (true, Some((path, _))) = (report.files.is_empty(), report.unreadable.first()) {
        return Err(Error::NotABag {
            path: path.clone(),
            reason: "nothing in it can be read",
        });
    }
    if !single {
        set_aside(&report.unreadable)?;
        let rebuilt = rebuild(path, metadata_version, !report.unreadable.is_empty())?;
        for record in &rebuilt.metadata.topics {
            report.account.merge(&record.statistics.unwrap_or_default());
        }
        report.account.unknown.interrupted |= rebuilt.metadata.is_interrupted();
        // A recorder that was killed could not remove it.
        let reserved = path.join(RESERVED_FILE);
        if reserved.exists() {
            fs::remove_file(&reserved).map_err(Error::io(&reserved, "remove"))?;
        }
    }
    if single {
        let reader = BagReader::open(path)?;
        for account in reader.accounts().iter().flatten() {
            report.account.merge(&account.statistics);
        }
        report.account.unknown.interrupted |= reader.is_interrupted();
    }
    Ok(report)
}

/// A file that cannot be read must not be named by the metadata.
fn set_aside(unreadable: &[(PathBuf, String)]) -> Result<()> {
    for (path, _) in unreadable {
        fs::rename(path, damaged_name(path)).map_err(Error::io(path, "rename"))?;
    }
    Ok(())
}

fn recover_file(file: &BagFile, bag: Option<&BagMetadata>) -> Result<RecoveredFile> {
    match file.storage {
        StorageId::Mcap => recover_mcap(file, bag, McapReader::verify(&file.path)?),
        StorageId::Sqlite3 => recover_sqlite(file, bag),
    }
}

fn recover_mcap(
    file: &BagFile,
    bag: Option<&BagMetadata>,
    reader: McapReader,
) -> Result<RecoveredFile> {
    let info = reader.info().clone();
    let mut recovered = RecoveredFile {
        path: file.path.clone(),
        original: None,
        messages: info.message_count(),
        salvaged: reader.salvaged_messages(),
        lost_messages: reader.lost_messages(),
        extras: info.extras,
        lost_extras: reader.lost_extras(),
        lost_bytes: reader.lost_bytes(),
        damage: [&info.damage[..], &info.compatibility].concat(),
    };
    if recovered.damage.is_empty() && recovered.lost_messages == 0 && reader.has_summary() {
        return Ok(recovered);
    }
    let rewrite = Rewrite::begin(&file.path)?;
    let options = McapOptions {
        max_chunk_age_ns: i64::MAX,
        ..McapOptions::default()
    };
    let mut carry_over = CarryOver::default();
    carry_over.take(reader);
    let writer = McapWriter::create_with(&rewrite.temporary, options, None, Some(&mut carry_over))?;
    let mut writer: Box<dyn StorageWriter> = Box::new(writer);
    recovered.extras.remove(carry_over.left);
    recovered.lost_extras.add(carry_over.left);
    recovered.damage.append(&mut carry_over.damage);
    let Some(mut reader) = carry_over.pop() else {
        return Ok(recovered);
    };
    for topic in &info.topics {
        writer.add_topic(topic)?;
    }
    keep_state(&mut reader, writer.as_mut(), &mut recovered.damage)?;
    reader.start(&Query {
        order: Order::File,
        ..Query::default()
    })?;
    loop {
        match reader.next_message() {
            Ok(Some(message)) => writer.write(&[message], 0).into_result()?,
            Ok(None) => break,
            Err(error) => recovered.damage.push(error.to_string()),
        }
    }
    let is_lossy = recovered.lost_messages > 0 || recovered.lost_bytes > 0;
    let account = account_of(&info, bag, &file.path, is_lossy);
    let base = info.metadata.clone().unwrap_or_default();
    for record in &account.topics {
        writer
            .add_topic(&record.topic)
            .map(|_| ())
            .or_else(conflict)?;
    }
    let (summary, outcome) =
        writer.finish(&mut |summary| file_metadata(&base, file, &info, &account, summary));
    outcome.into_result()?;
    recovered.messages = summary.total().messages_recorded;
    recovered.lost_messages += info
        .message_counts
        .iter()
        .sum::<u64>()
        .saturating_sub(recovered.messages);
    recovered.original = Some(rewrite.commit()?);
    Ok(recovered)
}

fn recover_sqlite(file: &BagFile, bag: Option<&BagMetadata>) -> Result<RecoveredFile> {
    let mut recovered = RecoveredFile {
        path: file.path.clone(),
        original: None,
        messages: 0,
        salvaged: 0,
        lost_messages: 0,
        extras: ExtraCounts::default(),
        lost_extras: ExtraCounts::default(),
        lost_bytes: 0,
        damage: Vec::new(),
    };
    let whole = SqliteReader::open(&file.path)
        .and_then(|reader| sqlite_rows::check(&file.path).map(|ok| (reader, ok)));
    match whole {
        Ok((reader, problems)) if problems.is_empty() && reader.info().damage.is_empty() => {
            recovered.messages = reader.info().message_count();
            return Ok(recovered);
        }
        Ok((reader, problems)) => {
            recovered.damage = reader
                .info()
                .damage
                .iter()
                .cloned()
                .chain(problems)
                .collect();
        }
        Err(error) => recovered.damage.push(error.to_string()),
    }
    let rewrite = Rewrite::begin(&file.path)?;
    let copied = sqlite_rows::copy(file, bag, &rewrite.temporary)?;
    recovered.messages = copied.summary.total().messages_recorded;
    recovered.lost_messages = copied.lost_messages;
    recovered.damage.extend(copied.damage);
    recovered.original = Some(rewrite.commit()?);
    Ok(recovered)
}

/// Copies the state of the robot into the new file; texts that cannot be read are noted.
fn keep_state(
    reader: &mut dyn StorageReader,
    writer: &mut dyn StorageWriter,
    damage: &mut Vec<String>,
) -> Result<()> {
    for part in StatePart::ALL {
        match reader.state_texts(part) {
            Ok(texts) => {
                for text in texts {
                    writer.save_state(part, &text).into_result()?;
                }
            }
            Err(error) => damage.push(error.to_string()),
        }
    }
    Ok(())
}

/// The account of a file that is being recovered: if it keeps none, the messages that it lost are unknown.
fn account_of(
    info: &FileInfo,
    bag: Option<&BagMetadata>,
    path: &Path,
    is_lossy: bool,
) -> FileAccount {
    let lossy = FileAccount {
        interrupted: is_lossy,
        ..FileAccount::default()
    };
    known_account(info, bag, &file_name(path)).unwrap_or(lossy)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A topic that only the account has may conflict with another one: it stays in the account.
fn conflict(error: Error) -> Result<()> {
    match error {
        Error::TopicConflict { .. } => Ok(()),
        error => Err(error),
    }
}

/// The metadata that a recovered file embeds.
fn file_metadata(
    base: &BagMetadata,
    file: &BagFile,
    info: &FileInfo,
    account: &FileAccount,
    summary: &FileSummary,
) -> BagMetadata {
    let mut metadata = BagMetadata {
        version: crate::metadata::ROSBAG2_VERSION,
        storage_identifier: file.storage.name().to_owned(),
        starting_time_ns: crate::metadata::NO_START_TIME,
        compression_format: base.compression_format.clone(),
        compression_mode: base.compression_mode.clone(),
        custom_data: base.custom_data.clone(),
        ros_distro: base.ros_distro.clone(),
        ..BagMetadata::default()
    };
    let name = file_name(&file.path);
    let content = account.with_messages(info.topics.clone(), &summary.topics);
    let (topics, accounts): (Vec<_>, Vec<_>) = content.into_iter().unzip();
    add_file(&mut metadata, &topics, &name, &accounts);
    if account.interrupted {
        metadata.set_interrupted();
    }
    metadata
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn damaged_name(path: &Path) -> PathBuf {
    with_suffix(path, ".damaged")
}

/// A new file beside a damaged one, which takes its name when it is complete.
struct Rewrite {
    path: PathBuf,
    temporary: PathBuf,
    compressed: bool,
}

impl Rewrite {
    fn begin(path: &Path) -> Result<Self> {
        let original = damaged_name(path);
        if original.exists() {
            return Err(Error::Exists { path: original });
        }
        let temporary = with_suffix(path, ".recovering");
        if temporary.exists() {
            // Left over from a recovery that was interrupted; the original still exists.
            fs::remove_file(&temporary).map_err(Error::io(&temporary, "remove"))?;
        }
        let compressed = path
            .extension()
            .is_some_and(|extension| extension == "zstd");
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
            compressed,
        })
    }

    /// Puts the new file in place; returns the new path of the original.
    fn commit(self) -> Result<PathBuf> {
        let fresh = if self.compressed {
            compress_file(&self.temporary, 1)?
        } else {
            self.temporary
        };
        let original = damaged_name(&self.path);
        fs::rename(&self.path, &original).map_err(Error::io(&self.path, "rename"))?;
        // The journal of a database belongs to the damaged one; beside the new one it would be replayed into it.
        for suffix in ["-wal", "-shm"] {
            let (from, to) = (
                with_suffix(&self.path, suffix),
                with_suffix(&original, suffix),
            );
            if from.exists() {
                fs::rename(&from, &to).map_err(Error::io(&from, "rename"))?;
            }
        }
        fs::rename(&fresh, &self.path).map_err(Error::io(&self.path, "replace"))?;
        let parent = self
            .path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))?;
        Ok(original)
    }
}
