//! Damage that shows in the first bytes and the size of a file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::StorageId;
use crate::bag::BagFile;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;

/// What is wrong with a file that is not opened: a compressed one, or a database. `None` when nothing shows.
pub(super) fn first_look(file: &BagFile) -> Option<String> {
    let mut head = [0u8; HEADER];
    let (count, size) = match read_head(&file.path, &mut head) {
        Ok(read) => read,
        Err(error) => return Some(format!("it cannot be read: {error}")),
    };
    let head = head.get(..count).unwrap_or_default();
    if is_compressed(&file.path) {
        let whole = head.starts_with(&ZSTD_MAGIC);
        return (!whole).then(|| "it does not begin like a zstd file".to_owned());
    }
    match file.storage {
        StorageId::Sqlite3 => database(&file.path, head, size),
        StorageId::Mcap => None,
    }
}

pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "zstd")
}

fn read_head(path: &Path, head: &mut [u8]) -> std::io::Result<(usize, u64)> {
    let mut file = File::open(path)?;
    let mut count = 0;
    while let Some(rest) = head.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            read => count += read,
        }
    }
    Ok((count, file.metadata()?.len()))
}

/// The header says how many pages there are; a database that is cut off has fewer.
fn database(path: &Path, head: &[u8], size: u64) -> Option<String> {
    if !head.starts_with(SQLITE_MAGIC) || head.len() < HEADER {
        return Some("it does not begin like an sqlite3 database".into());
    }
    let number = |at: usize| {
        let bytes: Option<[u8; 4]> = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    // 1 stands for 65536, which does not fit the 16 bits.
    let page = match number(14) & 0xFFFF {
        1 => 65_536,
        page => u64::from(page),
    };
    // The count holds only if the last writer kept it, and not while pages are still in the journal.
    let journal = fs::metadata(format!("{}-wal", path.display())).is_ok_and(|wal| wal.len() > 0);
    if journal || number(24) != number(92) {
        return None;
    }
    let needed = page.saturating_mul(u64::from(number(28)));
    (size < needed).then(|| format!("it is cut off: {size} of {needed} bytes are there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(pages: u32) -> Vec<u8> {
        let mut head = vec![0; HEADER];
        head[..16].copy_from_slice(SQLITE_MAGIC);
        head[16..18].copy_from_slice(&4096u16.to_be_bytes());
        head[28..32].copy_from_slice(&pages.to_be_bytes());
        head
    }

    #[test]
    fn a_database_knows_its_size() {
        let look = |head: &[u8], size| database(Path::new("/none"), head, size);
        assert_eq!(look(&header(3), 3 * 4096), None);
        assert_eq!(
            look(&header(3), 3 * 4096 - 1).unwrap(),
            "it is cut off: 12287 of 12288 bytes are there"
        );
        let mut large = header(2);
        large[16..18].copy_from_slice(&1u16.to_be_bytes());
        assert_eq!(look(&large, 2 * 65_536), None);
        assert!(look(&large, 65_536).is_some());
        assert!(look(&header(3)[..99], 99).is_some());
        assert!(look(b"", 0).is_some());
        let mut stale = header(3);
        stale[27] = 1;
        assert_eq!(look(&stale, 4096), None);
    }
}
