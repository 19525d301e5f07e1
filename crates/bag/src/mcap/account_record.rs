//! The private record with the account of a file that is being written.
//!
//! Its body is a name, so that private records of other programs are not mistaken for it, the account as YAML, and the
//! checksum of both. Finished files have the account in their metadata; these records are then ignored.

use super::fields::{Fields, put_record, put_str};
use super::record::{RECORD_HEAD, Records, op};
use crate::message::size_u64;

const NAME: &str = "timeloom.account";

/// Appends a record.
pub(super) fn put(out: &mut Vec<u8>, account: &str) {
    put_record(out, op::ACCOUNT, |out| {
        let at = out.len();
        put_str(out, NAME);
        put_str(out, account);
        let crc = crc32fast::hash(out.get(at..).unwrap_or_default());
        out.extend_from_slice(&crc.to_le_bytes());
    });
}

/// The account in the body of a record; `None` when it is damaged or another program's.
pub(super) fn parse(body: &[u8]) -> Option<&str> {
    let mut fields = Fields::new(body);
    let (name, account) = (fields.str()?, fields.str()?);
    let content = body.len() - fields.rest().len();
    let crc = fields.u32()?;
    (name == NAME && crc == crc32fast::hash(body.get(..content)?)).then_some(account)
}

/// Removes the account records from a run of records.
pub(super) fn remove_from(records: &mut Vec<u8>) {
    let mut kept = Vec::new();
    for (opcode, at, body) in Records::new(records) {
        if opcode != op::ACCOUNT {
            let end = at + RECORD_HEAD + body.len();
            kept.extend_from_slice(records.get(at..end).unwrap_or_default());
        }
    }
    *records = kept;
}

/// Size of a record with this body, with opcode and length.
pub(super) fn whole(length: u64) -> u64 {
    length + size_u64(RECORD_HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_damaged_one_does_not() {
        let mut records = Vec::new();
        put(&mut records, "topics_statistics: []");
        let body = records[RECORD_HEAD..].to_vec();
        assert_eq!(parse(&body), Some("topics_statistics: []"));
        for at in 0..body.len() {
            let mut damaged = body.clone();
            damaged[at] ^= 1;
            assert_eq!(parse(&damaged), None, "{at}");
        }
        remove_from(&mut records);
        assert!(records.is_empty());
    }
}
