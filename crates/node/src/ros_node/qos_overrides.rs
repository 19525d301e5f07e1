//! Parameters that override the `QoS` of an endpoint from outside, named as in rclcpp.

use std::collections::BTreeMap;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Reliability};

use crate::{Error, Result};
use timeloom_msg::ParameterValue;

/// The endpoint whose policies are overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Publisher,
    Subscription,
}

/// A policy that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overridable {
    Depth,
    Durability,
    History,
    Reliability,
}

impl Overridable {
    pub(super) const ALL: [Self; 4] = [
        Self::Depth,
        Self::Durability,
        Self::History,
        Self::Reliability,
    ];

    /// The parameter for an endpoint of that full name.
    pub(super) fn parameter(self, topic: &str, endpoint: Endpoint) -> String {
        let policy = match self {
            Self::Depth => "depth",
            Self::Durability => "durability",
            Self::History => "history",
            Self::Reliability => "reliability",
        };
        let endpoint = match endpoint {
            Endpoint::Publisher => "publisher",
            Endpoint::Subscription => "subscription",
        };
        format!("qos_overrides.{topic}.{endpoint}.{policy}")
    }

    /// The value of the policy in a profile.
    pub(super) fn of(self, qos: &QosProfile) -> ParameterValue {
        match self {
            Self::Depth => i64::try_from(qos.depth).unwrap_or(i64::MAX).into(),
            Self::Durability => qos.durability.name().into(),
            Self::History => qos.history.name().into(),
            Self::Reliability => qos.reliability.name().into(),
        }
    }

    /// Sets the policy in a profile; the error has the expected values.
    pub(super) fn apply(
        self,
        qos: &mut QosProfile,
        value: &ParameterValue,
    ) -> std::result::Result<(), String> {
        let text = match value {
            ParameterValue::String(text) => text.as_str(),
            _ => "",
        };
        match (self, value) {
            (Self::Depth, ParameterValue::Integer(depth)) => {
                let depth = u64::try_from(*depth).ok();
                qos.depth = depth.ok_or("expected a number, 0 or more")?;
            }
            (Self::Durability, _) => {
                qos.durability = Durability::parse(text).ok_or_else(|| one_of(Durability::ALL))?;
            }
            (Self::History, _) => {
                qos.history = History::parse(text).ok_or_else(|| one_of(History::ALL))?;
            }
            (Self::Reliability, _) => {
                let found = Reliability::parse(text);
                qos.reliability = found.ok_or_else(|| one_of(Reliability::ALL))?;
            }
            (Self::Depth, _) => return Err("expected a whole number".to_owned()),
        }
        Ok(())
    }
}

/// The `QoS` of a publisher, with the overrides of the start parameters.
pub(super) fn publisher_qos(
    mut qos: QosProfile,
    topic: &str,
    given: &BTreeMap<String, ParameterValue>,
) -> Result<QosProfile> {
    for policy in Overridable::ALL {
        let name = policy.parameter(topic, Endpoint::Publisher);
        if let Some(value) = given.get(&name) {
            let applied = policy.apply(&mut qos, value);
            applied.map_err(|reason| Error::Parameter { name, reason })?;
        }
    }
    Ok(qos)
}

fn one_of(all: &[impl ToString]) -> String {
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    format!("expected one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_is_read_and_written() {
        let mut qos = QosProfile::CLOCK;
        for policy in Overridable::ALL {
            let mut same = qos;
            policy.apply(&mut same, &policy.of(&qos)).unwrap();
            assert_eq!(same, qos, "{policy:?}");
        }
        let (reliability, depth) = (Overridable::Reliability, Overridable::Depth);
        assert_eq!(
            reliability.parameter("/clock", Endpoint::Subscription),
            "qos_overrides./clock.subscription.reliability"
        );
        reliability.apply(&mut qos, &"reliable".into()).unwrap();
        depth.apply(&mut qos, &7_i64.into()).unwrap();
        assert_eq!((qos.reliability, qos.depth), (Reliability::Reliable, 7));
    }

    #[test]
    fn an_unknown_policy_value_is_refused_with_the_known_ones() {
        let mut qos = QosProfile::CLOCK;
        let refused = Overridable::Reliability.apply(&mut qos, &"often".into());
        assert!(refused.unwrap_err().contains("reliable, best_effort"));
        assert!(
            Overridable::Depth
                .apply(&mut qos, &(-1_i64).into())
                .is_err()
        );
        assert!(Overridable::Depth.apply(&mut qos, &"many".into()).is_err());
        assert_eq!(qos, QosProfile::CLOCK);
    }
}
