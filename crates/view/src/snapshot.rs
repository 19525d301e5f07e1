use serde::{Serialize, Serializer};

/// The current state of a source, as the page and `/status.json` get it in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The title of the page.
    pub title: String,
    /// What is shown.
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

/// What kind of thing is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SnapshotKind {
    /// A bag that is played.
    Player,
    /// A running robot.
    #[default]
    Graph,
}

/// The stretch of time of a bag. Moments are seconds since its beginning, which a script reads without loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// When it begins, in nanoseconds since 1970; as a text, since scripts have no such numbers.
    #[serde(serialize_with = "as_text")]
    pub start_ns: i64,
    /// How long it is.
    pub duration: f64,
    /// Where the playback is.
    pub now: f64,
    /// The rate that was asked for.
    pub rate: f64,
    /// The rate that is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_rate: Option<f64>,
    /// Up to where messages are read ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<f64>,
    /// The beginning of the part to repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_a: Option<f64>,
    /// Its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_b: Option<f64>,
    /// How many messages there are in each of equal parts of it: what the timeline draws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub density: Vec<u64>,
    /// The stretches in which messages were lost: begin, end, and how many.
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
    /// What is there, for people.
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
    /// Messages that were lost on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_wire: Option<u64>,
    /// Messages that were lost in the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_recorder: Option<u64>,
}

/// A fact with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is about.
    pub name: String,
    /// What it says.
    pub value: String,
    /// Whether it needs attention.
    pub mood: Mood,
}

/// Whether a fact is good news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Mood {
    /// Normal.
    #[default]
    Calm,
    /// It needs attention.
    Alarm,
}

impl Fact {
    /// A normal fact.
    pub fn calm(name: impl Into<String>, value: impl std::fmt::Display) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            mood: Mood::Calm,
        }
    }

    /// A fact that needs attention.
    pub fn alarm(name: impl Into<String>, value: impl std::fmt::Display) -> Self {
        Self {
            mood: Mood::Alarm,
            ..Self::calm(name, value)
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
