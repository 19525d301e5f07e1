//! Metadata, account and robot state in records of the file.

use std::sync::Arc;

use super::McapReader;
use crate::mcap::account_record;
use crate::mcap::record::{Metadata, RECORD_HEAD};
use crate::mcap::sink::{METADATA_KEY, METADATA_NAME};
use crate::mcap::state_record;
use crate::metadata::KnownMetadata;
use crate::storage::FileAccount;
use crate::{Result, StatePart};

/// Longer metadata is not read.
const MAX_METADATA: u64 = 256 << 20;

impl McapReader {
    /// Reads the metadata records, the newest last; a broken one is skipped.
    pub(super) fn read_metadata(
        &mut self,
        places: &[(u64, u64)],
        known: Option<KnownMetadata<'_>>,
    ) -> Result<()> {
        for (offset, length) in places.iter().rev().take(64) {
            let Some(body) = self.read_record(*offset, *length)? else {
                continue;
            };
            let Some(record) = Metadata::parse(&body) else {
                continue;
            };
            if record.name != METADATA_NAME {
                continue;
            }
            if let Some(distro) = record.get("ROS_DISTRO") {
                distro.clone_into(&mut self.info.ros_distro);
            }
            if self.info.metadata.is_none() {
                self.info.metadata = record
                    .get(METADATA_KEY)
                    .and_then(|text| KnownMetadata::parse_embedded(known, text));
            }
        }
        if let (true, Some(metadata)) = (self.info.ros_distro.is_empty(), &self.info.metadata) {
            metadata.ros_distro.clone_into(&mut self.info.ros_distro);
        }
        Ok(())
    }

    /// Finds the account of the file: in its metadata, or else the one that its writer saved before it was killed.
    pub(super) fn read_account(&mut self) -> Result<()> {
        let mut saved = Vec::new();
        for (offset, length) in std::mem::take(&mut self.accounts) {
            let bytes = self.read_record(offset, length)?;
            let text = bytes.as_deref().and_then(account_record::parse);
            saved.extend(text.map(str::to_owned));
        }
        let embedded = self.info.metadata.as_deref();
        self.info.account = FileAccount::of_file(embedded, self.has_end, saved).map(Arc::new);
        Ok(())
    }

    /// Reads the texts of a part of the robot's state, in the order of the file: a later one has the changes.
    pub(super) fn read_state(&mut self, wanted: StatePart) -> Result<Vec<String>> {
        let places = self.state.iter().filter(|(part, ..)| *part == wanted);
        let mut places: Vec<_> = places.map(|(_, at, length)| (*at, *length)).collect();
        places.sort_unstable();
        let mut texts = Vec::with_capacity(places.len());
        for (offset, length) in places {
            let bytes = self.read_record(offset, length)?;
            let text = bytes.as_deref().and_then(state_record::parse);
            texts.extend(text.map(|(_, text)| text.to_owned()));
        }
        Ok(texts)
    }

    /// The body of a record; `None` when it is damaged.
    fn read_record(&mut self, offset: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        let fits = length <= MAX_METADATA && self.source.check_range(offset, length).is_ok();
        if !fits || size < RECORD_HEAD {
            return Ok(None);
        }
        let mut bytes = vec![0; size];
        match self.source.read_at(offset, &mut bytes) {
            Err(error) if !error.is_damage() => Err(error),
            Err(_) => Ok(None),
            Ok(()) => Ok(Some(bytes.split_off(RECORD_HEAD))),
        }
    }
}
