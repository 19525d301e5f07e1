//! Bags for the tests, and their contents.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use timeloom_bag::mcap::{McapCompression, McapOptions};
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, Place, Query, Result, StorageOptions, StorageReader,
    TopicInfo,
};
use timeloom_remote::{FetchReason, RemoteOptions, RemotePlace};

/// The golden bags, recorded by the real rosbag2.
pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/bags")
        .join(name)
}

/// Messages of a large bag, and the time between two of them.
pub(crate) const MESSAGES: i64 = 640;
pub(crate) const STEP_NS: i64 = 1_000_000;

/// A bag of 32 MiB in one file, in chunks of 512 KiB, two topics in turns of 32 messages.
pub(crate) fn large(directory: &Path) -> PathBuf {
    write(&directory.join("large"), 0)
}

/// The same bag in about eight files.
pub(crate) fn split(directory: &Path) -> PathBuf {
    write(&directory.join("split"), 4 << 20)
}

fn write(path: &Path, max_file_size: u64) -> PathBuf {
    let storage = StorageOptions::Mcap(McapOptions {
        compression: McapCompression::None,
        chunk_size: 512 << 10,
        ..McapOptions::default()
    });
    let options = BagOptions {
        storage,
        max_file_size,
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(path, options).unwrap();
    let mut topics = Vec::new();
    for name in ["/camera", "/lidar"] {
        let info = TopicInfo::new(name, "std_msgs/msg/ByteMultiArray");
        topics.push(writer.add_topic(&info).unwrap());
    }
    for number in 0..MESSAGES {
        let mut data = vec![0u8; 50 << 10];
        for (at, byte) in data.iter_mut().enumerate() {
            *byte = (at * 31 + usize::try_from(number).unwrap() * 7).to_le_bytes()[0];
        }
        let message = Message {
            topic: topics[usize::try_from(number / 32 % 2).unwrap()],
            log_time_ns: number * STEP_NS,
            publish_time_ns: number * STEP_NS,
            sequence: 0,
            data: &data,
        };
        writer.write(&[message], 0).into_result().unwrap();
    }
    writer.finish().unwrap().1.into_result().unwrap();
    path.to_path_buf()
}

/// The one file of a bag.
pub(crate) fn file_of(bag: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(bag)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .find(|path| path.extension().is_some_and(|e| e == "mcap"))
        .unwrap()
}

/// A place with few retries.
pub(crate) fn place() -> Arc<dyn Place> {
    Arc::new(RemotePlace::new(options()))
}

pub(crate) fn options() -> RemoteOptions {
    RemoteOptions {
        max_retries: 2,
        retry_timeout: Duration::from_secs(20),
        ..RemoteOptions::default()
    }
}

/// Addresses of files that were fetched completely.
pub(crate) type Notes = Arc<Mutex<Vec<(String, FetchReason)>>>;

/// A place that records which files were fetched completely.
pub(crate) fn noting_place() -> (Arc<dyn Place>, Notes) {
    let fetched = Notes::default();
    let notes = Arc::clone(&fetched);
    let options = RemoteOptions {
        on_fetch: Some(Arc::new(move |fetch| {
            if fetch.done == 0 {
                notes
                    .lock()
                    .unwrap()
                    .push((fetch.uri.to_owned(), fetch.reason));
            }
        })),
        ..options()
    };
    (Arc::new(RemotePlace::new(options)), fetched)
}

/// Topic, time and content of every message.
pub(crate) type Content = Vec<(String, i64, i64, Vec<u8>)>;

pub(crate) fn content(reader: &mut BagReader, query: &Query) -> Result<Content> {
    reader.start(query)?;
    let topics = reader.info().topics.clone();
    let mut content = Vec::new();
    while let Some(message) = reader.next_message()? {
        content.push((
            topics[message.topic.index()].name.clone(),
            message.log_time_ns,
            message.publish_time_ns,
            message.data.to_vec(),
        ));
    }
    Ok(content)
}

/// All messages of a bag.
pub(crate) fn all(place: Arc<dyn Place>, bag: &str) -> Result<Content> {
    content(&mut BagReader::open_in(place, &[bag])?, &Query::default())
}

/// All messages of a bag of this machine.
pub(crate) fn all_local(bag: &Path) -> Content {
    content(&mut BagReader::open(bag).unwrap(), &Query::default()).unwrap()
}
