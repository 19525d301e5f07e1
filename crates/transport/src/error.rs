//! The one error type of this crate.

/// Why a domain cannot be joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The transport refuses.
    #[error(transparent)]
    Wire(#[from] timeloom_wire::Error),
    /// The environment asks for a transport that this build does not have.
    #[error("RMW_IMPLEMENTATION={rmw} selects Zenoh, which this build does not support")]
    NoZenoh {
        /// The variable as it was spelt.
        rmw: String,
    },
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What Cyclone DDS says at its start, and what to do about it.
const KNOWN: [(&str, &str); 3] = [
    (
        "failed to find interfaces",
        "no network interface is up, not even the loopback: `sudo ip link set lo up` is enough for this machine",
    ),
    (
        "free participant index",
        "without multicast there is room for 32 participants of one domain on a machine: stop some, choose another \
         ROS_DOMAIN_ID, or raise Discovery/MaxAutoParticipantIndex in CYCLONEDDS_URI",
    ),
    (
        "does not match an available interface",
        "CYCLONEDDS_URI names an interface that is not there: `timeloom doctor net` lists those that are",
    ),
];

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        let Self::Wire(error) = self else {
            return Some(
                "build with `--features zenoh` (released binaries and wheels have it), or unset RMW_IMPLEMENTATION to \
                 use DDS",
            );
        };
        let text = error.to_string();
        let known = KNOWN.into_iter();
        known
            .filter(|(words, _)| text.contains(words))
            .map(|(_, hint)| hint)
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_cyclone_have_hints() {
        let refused = |reason: &str| {
            Error::Wire(timeloom_wire::Error::Refused {
                transport: "Cyclone DDS",
                action: "join domain 7".to_owned(),
                reason: reason.to_owned(),
            })
        };
        let full = refused("Failed to find a free participant index for domain 7");
        assert!(full.hint().unwrap().contains("32 participants"));
        assert_eq!(refused("out of luck").hint(), None);
    }
}
