//! The file of `--qos-profile-overrides-path`: topic names with the policies to use.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::document::from_yaml;
use super::{Durability, History, Liveliness, QosDuration, QosProfile, Reliability};
use crate::name::validate_full_topic_name;
use crate::{Error, Result};

/// Reads an override file: a map from full topic names to policies, as `ros2 bag` accepts it.
///
/// # Errors
/// As `ros2 bag` does, with the topic in the message: an unknown key or policy, a duration without `sec` and `nsec`,
/// neither history nor depth, or `keep_last` without a depth.
pub fn parse_overrides(text: &str) -> Result<BTreeMap<String, QosProfile>> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let raw: Option<BTreeMap<String, Override>> = from_yaml(text)?;
    raw.unwrap_or_default()
        .into_iter()
        .map(|(topic, policies)| {
            validate_full_topic_name(&topic)?;
            let profile = policies.profile().map_err(|reason| Error::Qos {
                reason: format!("{topic}: {reason}"),
            })?;
            Ok((topic, profile))
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Override {
    history: Option<History>,
    depth: Option<u64>,
    reliability: Option<Reliability>,
    durability: Option<Durability>,
    deadline: Option<OverrideDuration>,
    lifespan: Option<OverrideDuration>,
    liveliness: Option<Liveliness>,
    liveliness_lease_duration: Option<OverrideDuration>,
    avoid_ros_namespace_conventions: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideDuration {
    sec: Option<u64>,
    nsec: Option<u64>,
}

impl Override {
    fn profile(self) -> Result<QosProfile, &'static str> {
        let (history, depth) = match (self.history, self.depth) {
            (None, None) => return Err("history or depth is required"),
            (Some(History::KeepLast), None) => return Err("keep_last needs a depth"),
            (history, depth) => (history.unwrap_or(History::KeepLast), depth.unwrap_or(0)),
        };
        let default = QosProfile::DEFAULT;
        Ok(QosProfile {
            history,
            depth,
            reliability: self.reliability.unwrap_or(default.reliability),
            durability: self.durability.unwrap_or(default.durability),
            deadline: duration(self.deadline.as_ref())?,
            lifespan: duration(self.lifespan.as_ref())?,
            liveliness: self.liveliness.unwrap_or(default.liveliness),
            liveliness_lease_duration: duration(self.liveliness_lease_duration.as_ref())?,
            avoid_ros_namespace_conventions: self.avoid_ros_namespace_conventions.unwrap_or(false),
        })
    }
}

fn duration(raw: Option<&OverrideDuration>) -> Result<QosDuration, &'static str> {
    match raw {
        None => Ok(QosDuration::UNSPECIFIED),
        Some(OverrideDuration {
            sec: Some(sec),
            nsec: Some(nsec),
        }) => Ok(QosDuration {
            sec: *sec,
            nsec: *nsec,
        }),
        Some(_) => Err("a duration needs both sec and nsec"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_and_a_long_entry() {
        let text = "/a:\n  history: keep_all\n  depth: 0\n  reliability: best_effort\n/b:\n  depth: 3\n  deadline:\n    # comment\n    sec: 1\n    nsec: 5\n";
        let overrides = parse_overrides(text).unwrap();
        assert_eq!(overrides["/a"].history, History::KeepAll);
        assert_eq!(overrides["/a"].reliability, Reliability::BestEffort);
        assert_eq!(overrides["/b"].deadline, QosDuration { sec: 1, nsec: 5 });
        assert_eq!(overrides["/b"].history, History::KeepLast);
        assert!(parse_overrides("").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_topic() {
        let cases = [
            ("/t: {history: keep_last}", "keep_last needs a depth"),
            (
                "/t: {reliability: reliable}",
                "history or depth is required",
            ),
            (
                "/t: {depth: 1, deadline: {sec: 2}}",
                "a duration needs both sec and nsec",
            ),
        ];
        for (text, reason) in cases {
            let error = parse_overrides(text).unwrap_err().to_string();
            assert_eq!(error, format!("invalid qos profile: /t: {reason}"));
        }
        for bad in [
            "/t: {depth: -1}",
            "/t: {depth: 1, colour: red}",
            "t: {depth: 1}",
            "/t: {depth: 1, history: maybe}",
            "[]",
        ] {
            assert!(parse_overrides(bad).is_err(), "{bad}");
        }
    }
}
