//! The result of an upload, for people and programs.

use serde_json::json;
use timeloom_remote::{Error, UploadStatus};
use timeloom_text::{counted, size};

/// The state of a bag in one line.
pub(super) fn line(path: &str, uri: &str, status: &UploadStatus) -> String {
    let there = format!(
        "{} ({})",
        counted(status.arrived_files, "file"),
        size(status.arrived_bytes)
    );
    if status.is_complete {
        return format!("{path}: all of it is at {uri}, {there}");
    }
    let mut parts = vec![format!("{path}: {there} at {uri}")];
    if status.waiting_files > 0 {
        let waiting = counted(status.waiting_files, "file");
        parts.push(format!("{waiting} ({}) to go", size(status.waiting_bytes)));
    }
    if !status.is_finished {
        parts.push("the recording has not ended".to_owned());
    }
    parts.extend(deleted(status));
    parts.join(", ")
}

/// Files that will never arrive.
pub(super) fn deleted(status: &UploadStatus) -> Option<String> {
    let count = status.deleted_unsent.len() as u64;
    (count > 0).then(|| format!("{} deleted before the upload", counted(count, "file")))
}

/// The same for programs.
pub(super) fn json(
    path: &str,
    uri: &str,
    status: &UploadStatus,
    error: Option<&Error>,
) -> serde_json::Value {
    json!({
        "path": path,
        "uri": uri,
        "complete": status.is_complete,
        "recording_ended": status.is_finished,
        "arrived_files": status.arrived_files,
        "arrived_bytes": status.arrived_bytes,
        "waiting_files": status.waiting_files,
        "waiting_bytes": status.waiting_bytes,
        "deleted_before_upload": status.deleted_unsent,
        "error": error.map(ToString::to_string),
    })
}
