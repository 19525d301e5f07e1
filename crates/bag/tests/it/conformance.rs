//! Every storage, in every mode, passes the conformance suite.

use std::path::Path;

use timeloom_bag::conformance::{Subject, run};
use timeloom_bag::mcap::{McapCompression, McapOptions, McapReader, McapWriter};
use timeloom_bag::sqlite::{SqliteOptions, SqliteReader, SqliteWriter};
use timeloom_bag::{BagMetadata, Result, StorageReader, StorageWriter};
use timeloom_testkit::mcap::BagScratch;

struct Mcap(McapOptions);

impl Subject for Mcap {
    fn name(&self) -> &'static str {
        "mcap"
    }

    fn create(
        &self,
        path: &Path,
        metadata: Option<&BagMetadata>,
    ) -> Result<Box<dyn StorageWriter>> {
        Ok(Box::new(McapWriter::create(
            path,
            self.0.clone(),
            metadata,
        )?))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn StorageReader>> {
        Ok(Box::new(McapReader::open(path)?))
    }

    fn keeps_publish_time(&self) -> bool {
        true
    }
}

fn mcap(options: McapOptions) {
    let directory = BagScratch::new();
    if !options.summary {
        directory.scannable();
    }
    run(&Mcap(options), directory.path());
}

#[test]
fn mcap_by_default() {
    mcap(McapOptions::default());
}

#[test]
fn mcap_with_tiny_chunks() {
    mcap(McapOptions {
        chunk_size: 300,
        ..McapOptions::default()
    });
}

#[test]
fn mcap_presets() {
    for preset in ["fastwrite", "zstd_fast"] {
        mcap(McapOptions::preset(preset).unwrap());
    }
    mcap(McapOptions {
        chunk_size: 9000,
        ..McapOptions::preset("zstd_small").unwrap()
    });
}

#[test]
fn mcap_lz4() {
    mcap(McapOptions {
        compression: McapCompression::Lz4,
        chunk_size: 5000,
        ..McapOptions::default()
    });
}

#[test]
fn mcap_on_threads() {
    for compression in [McapCompression::None, McapCompression::Zstd(1)] {
        mcap(McapOptions {
            compression,
            threads: 3,
            chunk_size: 2000,
            chunks_in_flight: 4,
            ..McapOptions::default()
        });
    }
}

#[test]
fn mcap_without_summary_index_and_checksums() {
    let bare = McapOptions {
        summary: false,
        message_index: false,
        chunk_crc: false,
        summary_crc: false,
        chunk_size: 1000,
        ..McapOptions::default()
    };
    mcap(bare.clone());
    mcap(McapOptions {
        chunking: false,
        ..bare
    });
}

struct Sqlite(SqliteOptions);

impl Subject for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite3"
    }

    fn create(
        &self,
        path: &Path,
        metadata: Option<&BagMetadata>,
    ) -> Result<Box<dyn StorageWriter>> {
        Ok(Box::new(SqliteWriter::create(
            path,
            self.0.clone(),
            metadata,
        )?))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn StorageReader>> {
        Ok(Box::new(SqliteReader::open(path)?))
    }

    fn keeps_publish_time(&self) -> bool {
        false
    }
}

#[test]
fn sqlite3_presets() {
    for preset in ["none", "resilient"] {
        let directory = BagScratch::new();
        run(
            &Sqlite(SqliteOptions::preset(preset).unwrap()),
            directory.path(),
        );
    }
}

#[test]
fn sqlite3_with_small_batches_and_pages() {
    let directory = BagScratch::new();
    let options = SqliteOptions {
        max_batch_messages: 3,
        page_size: 4096,
        ..SqliteOptions::default()
    };
    run(&Sqlite(options), directory.path());
}
