//! The hosts of a merged bag, for people.

use std::fmt::Write as _;

use timeloom_bag::MergedHost;
use timeloom_text::offset;

/// A line for each host; nothing if the bag is not merged.
pub(super) fn lines(custom_data: &[(String, String)]) -> String {
    let mut lines = String::new();
    for host in MergedHost::read(custom_data) {
        // Writing to a text never fails.
        let _written = writeln!(lines, "Host {}: {}", host.name, words(&host));
    }
    lines
}

fn words(host: &MergedHost) -> String {
    let times = if host.corrected {
        "times are corrected"
    } else {
        "times are as recorded"
    };
    if host.evidence.is_empty() {
        return "its clock is the timeline".to_owned();
    }
    let side = |bound: Option<i64>| bound.map_or_else(|| "unknown".to_owned(), offset);
    format!(
        "{times}; its clock plus {} is the timeline, at least {}, at most {}; {}",
        side(host.offset_ns),
        side(host.lower_ns),
        side(host.upper_ns),
        host.evidence.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_bounds_and_evidence_are_on_one_line() {
        let hosts = [
            MergedHost {
                name: "car".into(),
                offset_ns: Some(0),
                ..MergedHost::default()
            },
            MergedHost {
                name: "arm".into(),
                corrected: true,
                offset_ns: Some(-5_000_000),
                upper_ns: Some(-4_000_000),
                evidence: vec!["messages one way (9 from it): /a".into()],
                ..MergedHost::default()
            },
        ];
        let text = lines(&[MergedHost::custom_data(&hosts)]);
        let expected = "Host car: its clock is the timeline\nHost arm: times are corrected; its clock plus -5.000 ms is the \
            timeline, at least unknown, at most -4.000 ms; messages one way (9 from it): /a\n";
        assert_eq!(text, expected);
        assert_eq!(lines(&[]), "");
    }
}
