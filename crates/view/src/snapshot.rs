use serde::{Serialize, Serializer};

/// The current state of a source, as the page and `/status.json` get it in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The title of the page.
    pub title: String,
    /// The kind of source.
    pub kind: SnapshotKind,
    /// Its state in one word: `playing`, `paused`, `ended`, `live`.
    pub state: String,
    /// The time range of a bag, or the last minutes of a running robot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The topics, by name.
    pub topics: Vec<TopicRow>,
    /// Single facts, each with its name.
    pub facts: Vec<Fact>,
}

/// The kind of source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SnapshotKind {
    /// A bag that is played.
    Player,
    /// A running robot.
    #[default]
    Graph,
}

/// The time range of a bag. Times are seconds since its start, which JavaScript represents without loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// Start in nanoseconds since 1970; a string, because JavaScript numbers are not exact enough.
    #[serde(serialize_with = "as_text")]
    pub start_ns: i64,
    /// Length in seconds.
    pub duration: f64,
    /// The playback time.
    pub now: f64,
    /// The requested rate.
    pub rate: f64,
    /// The achieved rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_rate: Option<f64>,
    /// The end of the read-ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<f64>,
    /// The start of the A–B range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_a: Option<f64>,
    /// The end of the A–B range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_b: Option<f64>,
    /// Message counts of equal parts of the range, for the timeline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub density: Vec<u64>,
    /// Time ranges with losses: start, end, count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<(f64, f64, u64)>,
    /// Places that need attention, such as violations of a contract.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// A place of a timeline that needs attention.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineMark {
    /// Where it begins, in seconds since the beginning.
    pub from: f64,
    /// Where it ends; the same for a moment.
    pub to: f64,
    /// Description for the user.
    pub text: String,
}

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TopicRow {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Messages so far: played, recorded or heard.
    pub count: u64,
    /// Their payload, in bytes.
    pub bytes: u64,
    /// Messages per second now, if the source measures it; otherwise the page does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz: Option<f64>,
    /// Messages in the bag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<u64>,
    /// Messages lost in transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_wire: Option<u64>,
    /// Messages lost in the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_recorder: Option<u64>,
}

/// A named fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it needs attention.
    pub level: FactLevel,
}

/// Whether a fact needs attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FactLevel {
    /// Normal.
    #[default]
    Normal,
    /// It needs attention.
    Warning,
}

impl Fact {
    /// A normal fact.
    pub fn new(name: impl Into<String>, value: impl std::fmt::Display) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            level: FactLevel::Normal,
        }
    }

    /// A fact that needs attention.
    pub fn warning(name: impl Into<String>, value: impl std::fmt::Display) -> Self {
        Self {
            level: FactLevel::Warning,
            ..Self::new(name, value)
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
fn as_text<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Nanoseconds as seconds since `start_ns`.
pub fn seconds_since(start_ns: i64, time_ns: i64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "within a bag, far below the 104 days that a double holds to the nanosecond"
    )]
    let nanoseconds = time_ns.saturating_sub(start_ns) as f64;
    nanoseconds / 1e9
}
