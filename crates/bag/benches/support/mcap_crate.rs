//! The `mcap` crate as a reader to compare with.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use mcap::sans_io::{
    IndexedReadEvent, IndexedReader, IndexedReaderOptions, SummaryReadEvent, SummaryReader,
};

pub(crate) fn summary(file: &mut File) -> mcap::Summary {
    let mut summary = SummaryReader::new();
    while let Some(event) = summary.next_event() {
        match event.unwrap() {
            SummaryReadEvent::ReadRequest(count) => {
                let read = file.read(summary.insert(count)).unwrap();
                summary.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(to) => {
                let at = file.seek(to).unwrap();
                summary.notify_seeked(at);
            }
        }
    }
    summary.finish().unwrap()
}

/// Reads all messages of a file and returns their number. The crate does not check the chunks by default.
pub(crate) fn read_all(path: &Path, options: IndexedReaderOptions) -> u64 {
    let mut file = File::open(path).unwrap();
    let summary = summary(&mut file);
    let mut reader = IndexedReader::new_with_options(&summary, options).unwrap();
    let mut buffer = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    while let Some(event) = reader.next_event() {
        match event.unwrap() {
            IndexedReadEvent::ReadChunkRequest { offset, length } => {
                buffer.resize(length, 0);
                file.read_exact_at(&mut buffer, offset).unwrap();
                reader.insert_chunk_record_data(offset, &buffer).unwrap();
            }
            IndexedReadEvent::Message { data, .. } => {
                count += 1;
                bytes += data.len();
            }
        }
    }
    assert!(bytes > 0);
    count
}
