use serde_json::json;

/// Severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Information.
    Info,
    /// Not as requested.
    Warning,
    /// Failed, or data was lost.
    Error,
}

/// A status message for the user; it replaces one with the same id.
pub fn status(level: Level, message: &str, id: Option<&str>) -> String {
    let level = match level {
        Level::Info => 0,
        Level::Warning => 1,
        Level::Error => 2,
    };
    let mut text = json!({ "op": "status", "level": level, "message": message });
    if let (Some(id), Some(object)) = (id, text.as_object_mut()) {
        object.insert("id".into(), id.into());
    }
    text.to_string()
}

/// The message that withdraws a notice.
pub fn remove_status(ids: &[&str]) -> String {
    json!({ "op": "removeStatus", "statusIds": ids }).to_string()
}
