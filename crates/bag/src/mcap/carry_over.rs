//! Copies attachments and metadata records of other programs from one MCAP file to another.

use std::path::Path;

use super::reader::McapReader;
use super::sink::Sink;
use crate::storage::ExtraCounts;
use crate::{Error, Place, Result};

/// Files whose extra records go into a new one, and the result.
#[derive(Default)]
pub(crate) struct CarryOver {
    from: Vec<McapReader>,
    /// Records that were not copied.
    pub(crate) left: ExtraCounts,
    /// Descriptions of records that are damaged or could not be read.
    pub(crate) damage: Vec<String>,
    /// The first of these errors.
    pub(crate) error: Option<Error>,
}

impl CarryOver {
    /// Adds a file whose records are to be carried over.
    pub(crate) fn add(&mut self, place: &dyn Place, path: &Path) -> Result<()> {
        self.take(McapReader::open_in(place, path)?);
        Ok(())
    }

    /// Adds an open file.
    pub(crate) fn take(&mut self, reader: McapReader) {
        self.left.add(reader.info_extras());
        self.from.push(reader);
    }

    /// Returns the last file.
    pub(crate) fn pop(&mut self) -> Option<McapReader> {
        self.from.pop()
    }

    /// Appends all records. One that cannot be read is left out and noted; an error is one of the new file.
    pub(super) fn write(&mut self, sink: &mut Sink) -> Result<()> {
        self.left = ExtraCounts::default();
        for reader in &mut self.from {
            for extra in reader.extras().to_vec() {
                let start = sink.position();
                let mut refused = false;
                let read = reader.read_extra(&extra, &mut |bytes| {
                    sink.append(bytes).inspect_err(|_| refused = true)
                });
                let damage = match read {
                    Ok(damage) => {
                        sink.extras.push(super::extra::Extra {
                            offset: start,
                            ..extra
                        });
                        damage
                    }
                    Err(error) if refused => return Err(error),
                    Err(error) => {
                        sink.cut_back(start)?;
                        self.left.add(super::extra::count(&[extra]));
                        Some(error)
                    }
                };
                if let Some(error) = damage {
                    self.damage.push(error.to_string());
                    self.error.get_or_insert(error);
                }
            }
        }
        Ok(())
    }
}
