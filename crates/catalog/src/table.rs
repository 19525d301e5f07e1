//! The table of a catalogue: one row for each topic of each bag.

mod columns;
mod read;
mod seal;
mod write;

use bytes::Bytes;
use timeloom_columns::PlainReader;

use crate::{Catalog, Error, Result};

/// The format that is written.
pub(crate) const FORMAT: u64 = 1;

const FORMAT_KEY: &str = "timeloom.catalog.format";
const BAGS_KEY: &str = "timeloom.catalog.bags";

impl Catalog {
    /// Reads a table.
    ///
    /// # Errors
    /// When the bytes are damaged, are no catalogue, or are one of a later format.
    pub fn from_bytes(bytes: Bytes) -> Result<Self> {
        if let Some(found) = seal::number(&bytes, FORMAT_KEY).filter(|found| *found > FORMAT) {
            return Err(Error::Version {
                found,
                known: FORMAT,
            });
        }
        seal::check(&bytes)?;
        let reader = timeloom_columns::read_plain(bytes, &columns::all())
            .map_err(|error| damaged(&error))?;
        let count: usize = parsed(&reader, BAGS_KEY)?;
        let mut rows = read::Rows::default();
        for batch in reader {
            rows.add(&batch.map_err(|error| damaged(&error))?)?;
        }
        let catalog = rows.finish()?;
        if catalog.entries.len() != count {
            return Err(Error::Damaged {
                reason: format!("{} bags instead of {count}", catalog.entries.len()),
            });
        }
        Ok(catalog)
    }

    /// The table as bytes.
    ///
    /// # Errors
    /// When it cannot be encoded.
    pub fn to_bytes(&self) -> Result<Bytes> {
        let metadata = vec![
            (FORMAT_KEY.to_owned(), FORMAT.to_string()),
            (BAGS_KEY.to_owned(), self.entries.len().to_string()),
            seal::room(),
        ];
        let bytes = write::rows(self)?
            .finish(metadata)
            .map_err(|error| unencoded(&error))?;
        Ok(seal::seal(bytes)?.into())
    }
}

fn value<'a>(reader: &'a PlainReader, key: &str) -> Result<&'a str> {
    let mut pairs = reader.metadata().iter();
    let found = pairs.find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str()).ok_or_else(|| {
        let reason = format!("it is no catalogue: {key} is missing");
        Error::Damaged { reason }
    })
}

fn parsed<T: std::str::FromStr>(reader: &PlainReader, key: &str) -> Result<T> {
    let text = value(reader, key)?;
    text.parse().map_err(|_not_a_number| Error::Damaged {
        reason: format!("{key} is {text:?}"),
    })
}

fn damaged(error: &timeloom_columns::Error) -> Error {
    Error::Damaged {
        reason: error.to_string(),
    }
}

fn unencoded(error: &timeloom_columns::Error) -> Error {
    Error::Encode {
        reason: error.to_string(),
    }
}
