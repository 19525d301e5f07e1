//! A `QoS` profile as text in liveliness tokens: only the differences from the defaults of `rmw_zenoh`.

use std::fmt::{Display, Write as _};

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};

/// The meaning of empty fields.
const DEFAULT: QosProfile = QosProfile {
    history: History::KeepLast,
    depth: 42,
    reliability: Reliability::Reliable,
    durability: Durability::Volatile,
    deadline: QosDuration::INFINITE,
    lifespan: QosDuration::INFINITE,
    liveliness: Liveliness::Automatic,
    liveliness_lease_duration: QosDuration::INFINITE,
    avoid_ros_namespace_conventions: false,
};

/// The effective profile of an endpoint: policies left to the middleware take the defaults of `rmw_zenoh`.
///
/// Best available is the strongest: on Zenoh, all profiles match.
pub(crate) fn adapt(qos: &QosProfile) -> QosProfile {
    let limited = |duration: QosDuration| {
        if duration.limit().is_some() {
            duration
        } else {
            QosDuration::INFINITE
        }
    };
    QosProfile {
        history: match qos.history {
            History::KeepAll => History::KeepAll,
            _ => History::KeepLast,
        },
        depth: if qos.depth == 0 {
            DEFAULT.depth
        } else {
            qos.depth
        },
        reliability: match qos.reliability {
            Reliability::BestEffort => Reliability::BestEffort,
            _ => Reliability::Reliable,
        },
        durability: match qos.durability {
            Durability::TransientLocal | Durability::BestAvailable => Durability::TransientLocal,
            _ => Durability::Volatile,
        },
        deadline: limited(qos.deadline),
        lifespan: limited(qos.lifespan),
        liveliness: match qos.liveliness {
            Liveliness::ManualByTopic => Liveliness::ManualByTopic,
            _ => Liveliness::Automatic,
        },
        liveliness_lease_duration: limited(qos.liveliness_lease_duration),
        avoid_ros_namespace_conventions: qos.avoid_ros_namespace_conventions,
    }
}

/// `reliability:durability:history,depth:deadline:lifespan:liveliness,lease`, durations as `seconds,nanoseconds`.
pub(crate) fn encode(qos: &QosProfile) -> String {
    let mut text = String::new();
    let mut place = |differs: bool, value: &dyn Display, end: &str| {
        if differs {
            // Writing to a string cannot fail.
            write!(text, "{value}").ok();
        }
        text.push_str(end);
    };
    place(
        qos.reliability != DEFAULT.reliability,
        &qos.reliability.number(),
        ":",
    );
    place(
        qos.durability != DEFAULT.durability,
        &qos.durability.number(),
        ":",
    );
    place(qos.history != DEFAULT.history, &qos.history.number(), ",");
    place(qos.depth != DEFAULT.depth, &qos.depth, ":");
    let mut duration = |duration: QosDuration, end: &str| {
        place(
            duration.sec != QosDuration::INFINITE.sec,
            &duration.sec,
            ",",
        );
        place(
            duration.nsec != QosDuration::INFINITE.nsec,
            &duration.nsec,
            end,
        );
    };
    duration(qos.deadline, ":");
    duration(qos.lifespan, ":");
    place(
        qos.liveliness != DEFAULT.liveliness,
        &qos.liveliness.number(),
        ",",
    );
    let lease = qos.liveliness_lease_duration;
    place(lease.sec != QosDuration::INFINITE.sec, &lease.sec, ",");
    place(lease.nsec != QosDuration::INFINITE.nsec, &lease.nsec, "");
    text
}

/// Reads the profile of a peer; `None` if it is invalid.
pub(crate) fn decode(text: &str) -> Option<QosProfile> {
    let mut parts = text.split(':');
    let reliability = policy(
        parts.next()?,
        DEFAULT.reliability,
        Reliability::ALL,
        Reliability::number,
    )?;
    let durability = policy(
        parts.next()?,
        DEFAULT.durability,
        Durability::ALL,
        Durability::number,
    )?;
    let (history, depth) = parts.next()?.split_once(',')?;
    let deadline = duration(parts.next()?)?;
    let lifespan = duration(parts.next()?)?;
    let (liveliness, lease) = parts.next()?.split_once(',')?;
    Some(QosProfile {
        history: policy(history, DEFAULT.history, History::ALL, History::number)?,
        depth: number(depth, DEFAULT.depth)?,
        reliability,
        durability,
        deadline,
        lifespan,
        liveliness: policy(
            liveliness,
            DEFAULT.liveliness,
            Liveliness::ALL,
            Liveliness::number,
        )?,
        liveliness_lease_duration: duration(lease)?,
        avoid_ros_namespace_conventions: false,
    })
}

fn policy<T: Copy>(text: &str, default: T, all: &[T], number: fn(T) -> u8) -> Option<T> {
    if text.is_empty() {
        return Some(default);
    }
    let wanted: u8 = text.parse().ok()?;
    all.iter().copied().find(|value| number(*value) == wanted)
}

fn number(text: &str, default: u64) -> Option<u64> {
    if text.is_empty() {
        Some(default)
    } else {
        text.parse().ok()
    }
}

fn duration(text: &str) -> Option<QosDuration> {
    let (sec, nsec) = text.split_once(',')?;
    Some(QosDuration {
        sec: number(sec, QosDuration::INFINITE.sec)?,
        nsec: number(nsec, QosDuration::INFINITE.nsec)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn defaults_are_left_out() {
        assert_eq!(encode(&DEFAULT), "::,:,:,:,,");
        assert_eq!(encode(&adapt(&QosProfile::DEFAULT)), "::,10:,:,:,,");
        assert_eq!(decode("::,:,:,:,,"), Some(DEFAULT));
    }

    #[test]
    fn every_policy_is_encoded_in_its_field() {
        let qos = QosProfile {
            history: History::KeepAll,
            depth: 7,
            reliability: Reliability::BestEffort,
            durability: Durability::TransientLocal,
            deadline: QosDuration::from_nanos(250_000_000),
            lifespan: QosDuration { sec: 10, nsec: 0 },
            liveliness: Liveliness::ManualByTopic,
            liveliness_lease_duration: QosDuration::from_nanos(1_500_000_000),
            avoid_ros_namespace_conventions: false,
        };
        assert_eq!(encode(&qos), "2:1:2,7:0,250000000:10,0:3,1,500000000");
        assert_eq!(decode(&encode(&qos)), Some(qos));
    }

    #[test]
    fn policies_left_to_the_middleware_are_resolved() {
        let best = QosProfile {
            history: History::SystemDefault,
            depth: 0,
            reliability: Reliability::BestAvailable,
            durability: Durability::BestAvailable,
            deadline: QosDuration::UNSPECIFIED,
            liveliness: Liveliness::BestAvailable,
            ..DEFAULT
        };
        assert_eq!(encode(&adapt(&best)), ":1:,:,:,:,,");
    }

    #[test]
    fn invalid_profiles_are_refused() {
        for text in [
            "",
            ":",
            "::,:,:",
            "9::,:,:,:,,",
            "::,-1:,:,:,,",
            "::,10:,:,:,",
            "::,x:,:,:,,",
            "::,99999999999999999999999:,:,:,,",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9:,-]{0,40}") {
            if let Some(qos) = decode(&text) {
                prop_assert_eq!(decode(&encode(&qos)), Some(qos));
            }
        }
    }
}
