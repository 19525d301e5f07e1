//! Payloads of lineage: tags, publish times, notifications, and many tags through the engine.

use timeloom_time::Duration;
use timeloom_trace::{
    AnyTag, Deadline, DeadlineNotification, Engine, EngineOptions, MessageTrackingTag, Plan,
    PublishedTime, TagView,
};

/// Reads a payload as each of them; what was understood is written and read back the same. Then the data as pieces of
/// at most 200 bytes, each of them a tag if it is one, through an engine: every source's messages add up.
pub fn fuzz_tag(data: &[u8]) {
    if let Ok(AnyTag::Full(tag)) = AnyTag::parse(data) {
        check_tag(&tag);
    }
    if let Ok(notification) = DeadlineNotification::decode(data) {
        assert!(notification.sources.len() * 21 <= data.len());
    }
    let _noted = PublishedTime::decode(data);
    let _plan = Plan::parse(&String::from_utf8_lossy(data));
    let deadline = Deadline {
        name: "any".into(),
        source: None,
        via: Vec::new(),
        target: "/c".into(),
        limit: Duration::from_millis(1),
    };
    let mut engine = Engine::new(EngineOptions {
        messages: 20,
        paths: 8,
        deadlines: vec![deadline],
        ..EngineOptions::default()
    });
    let mut fed = 0;
    for (now, piece) in (0_i64..).zip(pieces(data)) {
        if let Ok(AnyTag::Full(tag)) = AnyTag::parse(piece) {
            engine.tag(&tag, now.saturating_mul(1_000_000));
            fed += 1;
        }
    }
    let report = engine.report();
    assert_eq!(report.tags, fed);
    assert!(engine.remembered() <= 30);
    for source in report.targets.iter().flat_map(|target| &target.sources) {
        assert_eq!(source.published, source.outcomes.total());
    }
}

/// Times that a message cannot hold are cut to the nearest that it can; all else stays.
fn check_tag(tag: &TagView<'_>) {
    let owned = tag.to_owned();
    let written = owned.encode();
    let again = MessageTrackingTag::decode(&written).expect("a written tag reads");
    assert_eq!(again.encode(), written);
    assert_eq!(again.inputs.len(), owned.inputs.len());
    assert_eq!(
        (&again.output.topic, again.output.sequence),
        (&owned.output.topic, owned.output.sequence)
    );
}

/// A byte says how long a piece is.
fn pieces(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (length, behind) = rest.split_first()?;
        let (piece, left) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = left;
        Some(piece)
    })
}
