//! Reads the `offered_qos_profiles` of a bag, in every form that rosbag2 ever wrote.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::{Durability, History, Liveliness, QosDuration, QosProfile, Reliability};
use crate::{Error, Result};

/// Longest accepted YAML text of a list of profiles.
const MAX_TEXT: usize = 16 << 20;

/// A list of profiles inside a larger YAML document: a sequence, a text that holds YAML, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QosProfiles(pub Vec<QosProfile>);

/// Reads a list of profiles from YAML text; policies may be numbers or names, an empty text is no profile.
pub fn parse_profiles(text: &str) -> Result<Vec<QosProfile>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    Ok(from_yaml::<Option<Vec<QosProfile>>>(text)?.unwrap_or_default())
}

pub(super) fn from_yaml<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T> {
    if text.len() > MAX_TEXT {
        let (actual, limit) = (text.len() as u64, MAX_TEXT as u64);
        return Err(Error::Limit {
            name: "qos profiles".to_owned(),
            what: "text length",
            actual,
            limit,
        });
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| Error::Qos {
        reason: error.to_string(),
    })
}

/// The keys of a recorded profile. Recorders have always written all of them; missing ones are unknown.
#[derive(Deserialize)]
struct Recorded {
    history: History,
    #[serde(default)]
    depth: u64,
    reliability: Reliability,
    durability: Durability,
    #[serde(default)]
    deadline: QosDuration,
    #[serde(default)]
    lifespan: QosDuration,
    #[serde(default = "unknown_liveliness")]
    liveliness: Liveliness,
    #[serde(default)]
    liveliness_lease_duration: QosDuration,
    #[serde(default)]
    avoid_ros_namespace_conventions: bool,
}

fn unknown_liveliness() -> Liveliness {
    Liveliness::Unknown
}

impl<'de> Deserialize<'de> for QosProfile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Recorded::deserialize(deserializer)?;
        Ok(Self {
            history: raw.history,
            depth: raw.depth,
            reliability: raw.reliability,
            durability: raw.durability,
            deadline: raw.deadline,
            lifespan: raw.lifespan,
            liveliness: raw.liveliness,
            liveliness_lease_duration: raw.liveliness_lease_duration,
            avoid_ros_namespace_conventions: raw.avoid_ros_namespace_conventions,
        })
    }
}

impl<'de> Deserialize<'de> for QosProfiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor).map(Self)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = Vec<QosProfile>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of qos profiles, or a text that holds one")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        parse_profiles(text).map_err(E::custom)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut profiles = Vec::new();
        while let Some(profile) = list.next_element()? {
            profiles.push(profile);
        }
        Ok(profiles)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{QosSpelling, profiles_to_yaml};
    use super::*;

    #[test]
    fn both_spellings_round_trip() {
        let profiles = [QosProfile::DEFAULT, QosProfile::ROSOUT, QosProfile::CLOCK];
        for spelling in [QosSpelling::Names, QosSpelling::Numbers] {
            let text = profiles_to_yaml(&profiles, spelling);
            assert_eq!(parse_profiles(&text).unwrap(), profiles);
        }
    }

    #[test]
    fn an_empty_text_has_no_profile() {
        for text in ["", "  \n", "[]", "~", "null"] {
            assert_eq!(parse_profiles(text).unwrap(), [], "{text:?}");
        }
    }

    #[test]
    fn inside_a_document_as_text_or_as_list() {
        #[derive(Deserialize)]
        struct Topic {
            offered_qos_profiles: QosProfiles,
        }
        let number = "offered_qos_profiles: \"- history: 3\\n  depth: 0\\n  reliability: 1\\n  durability: 2\"";
        let topic: Topic = from_yaml(number).unwrap();
        assert_eq!(topic.offered_qos_profiles.0[0].history, History::Unknown);
        let list = "offered_qos_profiles:\n  - {history: keep_all, depth: 0, reliability: best_effort, durability: volatile}";
        let topic: Topic = from_yaml(list).unwrap();
        assert_eq!(topic.offered_qos_profiles.0[0].history, History::KeepAll);
        for empty in [
            "offered_qos_profiles: ''",
            "offered_qos_profiles: ~",
            "offered_qos_profiles: []",
        ] {
            assert_eq!(
                from_yaml::<Topic>(empty).unwrap().offered_qos_profiles.0,
                []
            );
        }
    }

    #[test]
    fn wrong_input_is_an_error_with_the_reason() {
        let error = parse_profiles("- history: 7\n  reliability: 1\n  durability: 1")
            .unwrap_err()
            .to_string();
        assert!(error.contains("history policy"), "{error}");
        assert!(parse_profiles("- history: -1\n  reliability: 1\n  durability: 1").is_err());
        assert!(parse_profiles("history: 1").is_err());
        assert!(parse_profiles("- a").is_err());
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
            let text = format!("{}{}", open.repeat(20_000), close.repeat(20_000));
            assert!(parse_profiles(&text).is_err());
        }
    }
}
