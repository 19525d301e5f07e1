//! The sqlite3 reader.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, MAIN_DB, OpenFlags, OptionalExtension};

use super::page::Page;
use super::schema::Layout;
use crate::metadata::KnownMetadata;
use crate::place::LocalCopy;
use crate::source::{ZstdSource, head, is_compressed};
use crate::storage::{FileAccount, FileInfo, Query, StorageReader};
use crate::{
    BagMetadata, Error, FileSource, LocalPlace, Message, Place, Result, Source, StatePart,
};

/// A compressed database is unpacked in memory; a larger one is refused, never unpacked to disk.
const MAX_MEMORY: u64 = 1 << 30;

/// Reads one database, `.db3` or `.db3.zstd`. See [`StorageReader`] for the contract.
///
/// The format has no publish times and no sequence numbers: `publish_time_ns` equals `log_time_ns`, `sequence` is 0.
/// A `.db3.zstd` is unpacked in memory, up to 1 GiB.
pub struct SqliteReader {
    connection: Connection,
    /// Declared after the connection, which is closed before a fetched file is removed.
    _copy: LocalCopy,
    path: PathBuf,
    info: FileInfo,
    /// Database ids by dense id, ascending.
    ids: Vec<i64>,
    page: Page,
}

impl SqliteReader {
    /// Opens a database; the file is never written.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(&LocalPlace, path)
    }

    /// Opens a database of any [`Place`], through a local copy of it.
    pub fn open_in(place: &dyn Place, path: &Path) -> Result<Self> {
        Self::open_described(place, path, None)
    }

    /// Opens a database of a bag with this metadata.
    pub(crate) fn open_described(
        place: &dyn Place,
        path: &Path,
        known: Option<KnownMetadata<'_>>,
    ) -> Result<Self> {
        let failed = Error::sqlite(path);
        let copy = place.local_copy(path)?;
        let size = std::fs::metadata(copy.path()).map_err(Error::io(path, "open"))?;
        let mut damage = Vec::new();
        let connection = if is_compressed(path) {
            open_compressed(&copy, path, &mut damage)?
        } else {
            open_plain(&copy, path)?
        };
        let layout = Layout::detect(&connection).map_err(&failed)?;
        let topics = layout.topics(&connection).map_err(&failed)?;
        let (ids, topics): (Vec<_>, Vec<_>) = topics.into_iter().unzip();
        let mut reader = Self {
            info: FileInfo {
                topics,
                file_size: size.len(),
                damage,
                ..FileInfo::default()
            },
            connection,
            _copy: copy,
            path: path.to_path_buf(),
            ids,
            page: Page::default(),
        };
        reader.read_metadata(layout, known).map_err(&failed)?;
        let saved = super::schema::saved_accounts(&reader.connection);
        let embedded = reader.info.metadata.as_deref();
        reader.info.account = FileAccount::of_file(embedded, true, saved).map(Arc::new);
        let is_recovered = embedded.is_some_and(BagMetadata::is_finished);
        let account = reader.info.account.as_ref();
        if !is_recovered && account.is_some_and(|it| it.interrupted) {
            let text = "the file was never closed: its recorder was killed, or is still recording";
            reader.info.damage.push(text.into());
        }
        reader.read_times().map_err(&failed)?;
        reader.read_counts().map_err(&failed)?;
        reader.start(&Query::default())?;
        Ok(reader)
    }

    /// Checks whether a file is a database with the tables of a bag, without counting anything.
    ///
    /// If the file would have to be fetched, only its first bytes are read.
    pub(crate) fn probe_in(place: &dyn Place, path: &Path) -> Result<()> {
        let Some(copy) = place.at_hand(path) else {
            return check_header(place.open(path)?.as_mut()).map(|_| ());
        };
        let connection = open_plain(&copy, path)?;
        let topics = Layout::detect(&connection).and_then(|layout| layout.topics(&connection));
        topics.map(|_| ()).map_err(Error::sqlite(path))
    }

    /// The database ids of the topics by dense id.
    pub(crate) fn database_ids(&self) -> &[i64] {
        &self.ids
    }

    /// The open database, for a recovery that reads it row by row.
    pub(crate) fn into_connection(self) -> Connection {
        self.connection
    }

    fn read_metadata(
        &mut self,
        layout: Layout,
        known: Option<KnownMetadata<'_>>,
    ) -> rusqlite::Result<()> {
        if layout.metadata {
            let sql = "SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1";
            let text: Option<String> = self
                .connection
                .query_row(sql, [], |row| row.get(0))
                .optional()?;
            self.info.metadata = text.and_then(|text| KnownMetadata::parse_embedded(known, &text));
        }
        if layout.schema {
            let sql = "SELECT ros_distro FROM schema LIMIT 1";
            let distro: Option<String> = self
                .connection
                .query_row(sql, [], |row| row.get(0))
                .optional()?;
            self.info.ros_distro = distro.unwrap_or_default();
        }
        Ok(())
    }

    fn read_times(&mut self) -> rusqlite::Result<()> {
        // Two queries: each takes one step in the index, together they would read all of it.
        let one = |sql: &str| {
            self.connection
                .query_row(sql, [], |row| row.get::<_, Option<i64>>(0))
        };
        self.info.start_time_ns = one("SELECT min(timestamp) FROM messages")?;
        self.info.end_time_ns = one("SELECT max(timestamp) FROM messages")?;
        Ok(())
    }

    /// Counts messages: from the embedded metadata when it is that of the finished file, else by reading the table.
    fn read_counts(&mut self) -> rusqlite::Result<()> {
        let rows: i64 =
            self.connection
                .query_row("SELECT ifnull(max(id), 0) FROM messages", [], |row| {
                    row.get(0)
                })?;
        if let Some(counts) = self.trusted_counts(rows) {
            self.info.message_counts = counts;
            return Ok(());
        }
        self.info.message_counts = vec![0; self.ids.len()];
        let mut unknown = 0u64;
        let mut statement = self
            .connection
            .prepare("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")?;
        let mut groups = statement.query([])?;
        while let Some(group) = groups.next()? {
            let count = u64::try_from(group.get::<_, i64>(1)?).unwrap_or(0);
            match self
                .ids
                .binary_search(&group.get(0)?)
                .ok()
                .and_then(|at| self.info.message_counts.get_mut(at))
            {
                Some(slot) => *slot = count,
                None => unknown += count,
            }
        }
        if unknown > 0 {
            self.info
                .damage
                .push(format!("{unknown} messages belong to no known topic"));
        }
        Ok(())
    }

    /// The counts of the embedded metadata, if it describes exactly this file.
    fn trusted_counts(&self, rows: i64) -> Option<Vec<u64>> {
        let metadata = self.info.metadata.as_ref()?;
        let [file] = metadata.files.as_slice() else {
            return None;
        };
        let total = u64::try_from(rows).ok()?;
        let same_end = metadata.ending_time_ns() == self.info.end_time_ns;
        if metadata.message_count != total || file.message_count != total || !same_end {
            return None;
        }
        let count = |name: &str| {
            metadata
                .topics
                .iter()
                .find(|topic| topic.topic.name == name)
                .map(|topic| topic.message_count)
        };
        let counts: Option<Vec<u64>> = self
            .info
            .topics
            .iter()
            .map(|topic| count(&topic.name))
            .collect();
        counts.filter(|counts| counts.iter().sum::<u64>() == total)
    }
}

/// Opens a file for reading without ever modifying it.
fn open_plain(copy: &LocalCopy, path: &Path) -> Result<Connection> {
    let mut file = FileSource::open(copy.path())?.named(path);
    let header = check_header(&mut file)?;
    let mut wal = copy.path().to_path_buf().into_os_string();
    wal.push("-wal");
    let has_wal = std::fs::metadata(&wal).is_ok_and(|metadata| metadata.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    // In WAL mode sqlite would create files next to the bag, or fail in a directory that it cannot write.
    let wal_mode = header.get(18) == Some(&2);
    let immutable = copy.is_private() || (wal_mode && !has_wal);
    let uri = format!(
        "file:{}?mode=ro{}",
        escape(copy.path()),
        if immutable { "&immutable=1" } else { "" }
    );
    Connection::open_with_flags(uri, flags).map_err(Error::sqlite(path))
}

/// The first bytes of a database; an empty file is one, too.
fn check_header(source: &mut dyn Source) -> Result<Vec<u8>> {
    let header = head(source, 20)?;
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(Error::NotABag {
            path: source.path().to_path_buf(),
            reason: "it is not an sqlite3 database",
        });
    }
    Ok(header)
}

/// A path as part of a `file:` URI.
fn escape(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut escaped = String::new();
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                escaped.push(char::from(*byte));
            }
            _ => {
                let code = format!("%{byte:02X}");
                escaped.push_str(&code);
            }
        }
    }
    escaped
}

fn open_compressed(copy: &LocalCopy, path: &Path, damage: &mut Vec<String>) -> Result<Connection> {
    let (mut bytes, cut) =
        ZstdSource::read_whole(copy.clone(), path, MAX_MEMORY, b"SQLite format 3\0")?;
    damage.extend(cut);
    // A database in memory has no WAL; the header must not request one.
    for at in [18, 19] {
        if let Some(mode) = bytes.get_mut(at) {
            *mode = 1;
        }
    }
    let failed = Error::sqlite(path);
    let mut connection = Connection::open_in_memory().map_err(&failed)?;
    let length = bytes.len();
    connection
        .deserialize_read_exact(MAIN_DB, bytes.as_slice(), length, true)
        .map_err(&failed)?;
    Ok(connection)
}

impl StorageReader for SqliteReader {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        super::schema::state_texts(&self.connection, part).map_err(Error::sqlite(&self.path))
    }

    fn start(&mut self, query: &Query) -> Result<()> {
        let ids = query.topics.as_ref().map(|topics| {
            let ids = topics
                .iter()
                .filter_map(|topic| self.ids.get(topic.index()).copied());
            ids.collect::<Vec<_>>()
        });
        self.page = Page::start(query, ids.as_deref());
        Ok(())
    }

    fn advance(&mut self) -> Result<bool> {
        let ids = &self.ids;
        let topics = |id: i64| {
            ids.binary_search(&id)
                .ok()
                .and_then(|at| u32::try_from(at).ok())
        };
        self.page
            .advance(&self.connection, topics)
            .map_err(Error::sqlite(&self.path))
    }

    fn message(&self) -> Option<Message<'_>> {
        self.page.message()
    }
}
