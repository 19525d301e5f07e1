//! MCAP files: any bytes behind the magic.

use std::path::PathBuf;

use timeloom_bag::mcap::{McapLimits, McapReader};
use timeloom_bag::{Order, Query, StorageReader, recover};

const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";

/// Reads a file in every order, by its summary and by a scan, and recovers it; what recovery gives must be whole.
pub fn fuzz_mcap(data: &[u8]) {
    let directory = directory();
    let path = directory.path().join("fuzz.mcap");
    let mut bytes = data.to_vec();
    // Without the magic, nothing behind it would be reached.
    for (byte, magic) in bytes.iter_mut().zip(MAGIC) {
        *byte = magic;
    }
    std::fs::write(&path, &bytes).expect("a file in memory");
    for reader in [
        McapReader::with_limits(&path, limits()),
        McapReader::verify(&path),
    ] {
        let Ok(mut reader) = reader else { continue };
        for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
            read(&mut reader, order);
        }
    }
    let Ok(report) = recover(&path, 10) else {
        return;
    };
    let file = report.files.first().expect("a report of the file");
    let again = McapReader::verify(&path).expect("a recovered file opens");
    assert!(again.info().damage.is_empty(), "{report:?}");
    assert_eq!(again.info().message_count(), file.messages);
    assert_eq!(again.info().extras, file.extras);
}

/// Small, so that a chunk that lies about its size costs little.
fn limits() -> McapLimits {
    McapLimits {
        max_chunk_bytes: 1 << 20,
        max_open_bytes: 1 << 16,
        ..McapLimits::default()
    }
}

/// Reads all messages; each damage is reported once, so that reading comes to an end.
pub fn read(reader: &mut dyn StorageReader, order: Order) {
    let query = Query {
        order,
        ..Query::default()
    };
    if reader.start(&query).is_err() {
        return;
    }
    let topics = reader.info().topics.len();
    let (mut last, mut errors) = (None, 0);
    loop {
        match reader.next_message() {
            Ok(Some(message)) => {
                assert!(message.topic.index() < topics);
                let time = message.log_time_ns;
                match (order, last.replace(time)) {
                    (Order::LogTime, Some(last)) if errors == 0 => assert!(last <= time),
                    (Order::ReverseLogTime, Some(last)) if errors == 0 => assert!(last >= time),
                    _ => {}
                }
            }
            Ok(None) => break,
            Err(_) => errors += 1,
        }
        assert!(errors < 100_000, "reading does not go on behind damage");
    }
}

/// A directory in memory where there is one.
pub fn directory() -> tempfile::TempDir {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() {
        tempfile::tempdir_in(shared).expect("a directory")
    } else {
        tempfile::tempdir().expect("a directory")
    }
}
