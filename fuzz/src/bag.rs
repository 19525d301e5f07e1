//! Whole bags: metadata, and a file that it may name, packed or not.

use std::path::Path;

use timeloom_bag::{BagReader, Order, StorageReader as _};

use super::mcap::{directory, read};

const NAMES: [&str; 4] = ["a_0.mcap", "a_0.db3", "a_0.mcap.zstd", "a_0.db3.zstd"];

/// A byte chooses the name of the file and whether it is packed; two say how long the metadata is; the rest is the file.
/// Whatever is read of the bag lies in its folder.
pub fn fuzz_bag(data: &[u8]) {
    let Some((head, rest)) = data.split_first_chunk::<3>() else {
        return;
    };
    let [choice, low, high] = *head;
    let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (metadata, file) = rest.split_at(length);
    let directory = directory();
    let bag = directory.path().join("a");
    std::fs::create_dir(&bag).expect("a folder in memory");
    std::fs::write(directory.path().join("outside.mcap"), b"not yours").expect("a file");
    let name = NAMES[usize::from(choice) % NAMES.len()];
    write(&bag.join(name), file, choice & 0x80 != 0);
    if !metadata.is_empty() {
        std::fs::write(bag.join("metadata.yaml"), metadata).expect("a file in memory");
    }
    let Ok(mut reader) = BagReader::open(&bag) else {
        return;
    };
    for (path, _) in reader.files() {
        let path = path.canonicalize().expect("what was opened is there");
        assert!(path.starts_with(&bag), "{} is outside", path.display());
    }
    for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
        read(&mut reader, order);
    }
    let _info = reader.info();
}

fn write(path: &Path, bytes: &[u8], packed: bool) {
    let bytes = if packed {
        zstd::bulk::compress(bytes, 1).expect("bytes are packed")
    } else {
        bytes.to_vec()
    };
    std::fs::write(path, bytes).expect("a file in memory");
}
