use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Failure;
use crate::process::run;
use crate::test_bed::{Host, TestBed};

/// A message as `timeloom cat` prints it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) topic: String,
    pub(crate) data: Vec<u8>,
}

const END: u32 = u32::MAX;
const FRAME: usize = 24;

impl Stored {
    /// The writer, its number and the text, of a message of the peers.
    pub(crate) fn text(&self) -> Option<(&str, u64, &[u8])> {
        let length = self.data.get(4..8)?.try_into().map(u32::from_le_bytes);
        let length = usize::try_from(length.ok()?).ok()?;
        let end = 8_usize.checked_add(length)?;
        let (text, zero) = self.data.get(8..end)?.split_at(length.checked_sub(1)?);
        let padding = self.data.get(end..)?;
        if zero != [0] || padding.len() > 3 {
            return None;
        }
        let mut parts = std::str::from_utf8(text).ok()?.splitn(3, ':');
        let writer = parts.next()?;
        Some((writer, parts.next()?.parse().ok()?, text))
    }
}

/// All messages of a bag, in order.
pub(crate) fn read(bed: &TestBed, directory: &Path, bag: &str) -> Result<Vec<Stored>, Failure> {
    let arguments = format!("cat {bag} --format frames");
    let mut command = bed.timeloom(Host::Desk, directory, &arguments);
    let ended = run(&mut command, directory, "cat")?;
    if !matches!(ended.code, Some(0 | 3)) {
        return Err(format!("cat ended with {:?}: {}", ended.code, ended.stderr).into());
    }
    let bytes = fs::read(&ended.stdout)?;
    let Some(line) = bytes.iter().position(|byte| *byte == b'\n') else {
        return Err("cat gave nothing".into());
    };
    let (head, frames) = bytes.split_at(line + 1);
    let head: Value = serde_json::from_slice(head)?;
    messages(&head, frames).ok_or_else(|| "the stream of cat is cut off".into())
}

fn messages(head: &Value, mut frames: &[u8]) -> Option<Vec<Stored>> {
    let name = |id: u32| {
        let mut topics = head["topics"].as_array()?.iter();
        let topic = topics.find(|topic| topic["id"] == id)?;
        Some(topic["name"].as_str()?.to_owned())
    };
    let mut found = Vec::new();
    loop {
        let (frame, rest) = frames.split_at_checked(FRAME)?;
        let topic = u32::from_le_bytes(frame.get(..4)?.try_into().ok()?);
        if topic == END {
            return Some(found);
        }
        let length = u32::from_le_bytes(frame.get(4..8)?.try_into().ok()?);
        let (data, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        found.push(Stored {
            topic: name(topic)?,
            data: data.to_vec(),
        });
        frames = rest;
    }
}

/// Runs `timeloom <verb> <bag> --format json`; returns exit code, JSON and stderr.
pub(crate) fn ask(
    bed: &TestBed,
    directory: &Path,
    arguments: &str,
) -> Result<(i32, Value, String), Failure> {
    let arguments = format!("{arguments} --format json");
    let name = arguments.split(' ').next().unwrap_or_default().to_owned();
    let mut command = bed.timeloom(Host::Desk, directory, &arguments);
    let ended = run(&mut command, directory, &name)?;
    let code = ended.code.unwrap_or(-1);
    let text = fs::read(&ended.stdout)?;
    let answer = serde_json::from_slice(&text).unwrap_or(Value::Null);
    Ok((code, answer, ended.stderr))
}
