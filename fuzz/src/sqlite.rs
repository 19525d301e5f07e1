//! sqlite3 databases: any bytes behind the magic.

use timeloom_bag::sqlite::SqliteReader;
use timeloom_bag::{Order, StorageReader, recover};

use super::mcap::{directory, read};

const MAGIC: [u8; 16] = *b"SQLite format 3\0";

/// Reads a database in every order and recovers it; what recovery gives must be whole.
pub fn fuzz_sqlite(data: &[u8]) {
    let directory = directory();
    let path = directory.path().join("fuzz.db3");
    let mut bytes = data.to_vec();
    for (byte, magic) in bytes.iter_mut().zip(MAGIC) {
        *byte = magic;
    }
    std::fs::write(&path, &bytes).expect("a file in memory");
    if let Ok(mut reader) = SqliteReader::open(&path) {
        for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
            read(&mut reader, order);
        }
    }
    if let Ok(report) = recover(&path, 10) {
        let file = report.files.first().expect("a report of the file");
        let again = SqliteReader::open(&path).expect("a recovered file opens");
        assert_eq!(again.info().message_count(), file.messages);
    }
}
