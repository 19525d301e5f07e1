//! The ROS distributions whose layouts differ.

use std::str::FromStr;

/// A ROS 2 distribution, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Distro {
    /// Humble Hawksbill, 2022.
    Humble,
    /// Jazzy Jalisco, 2024.
    #[default]
    Jazzy,
    /// Kilted Kaiju, 2025.
    Kilted,
    /// Lyrical Luth, 2026.
    Lyrical,
    /// Rolling, the newest.
    Rolling,
}

impl Distro {
    /// All distributions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::Humble,
        Self::Jazzy,
        Self::Kilted,
        Self::Lyrical,
        Self::Rolling,
    ];

    /// The name as `ROS_DISTRO` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Humble => "humble",
            Self::Jazzy => "jazzy",
            Self::Kilted => "kilted",
            Self::Lyrical => "lyrical",
            Self::Rolling => "rolling",
        }
    }
}

impl FromStr for Distro {
    type Err = crate::Error;

    fn from_str(text: &str) -> crate::Result<Self> {
        Self::ALL
            .into_iter()
            .find(|distro| distro.as_str() == text)
            .ok_or_else(|| crate::Error::Name {
                what: "distribution",
                name: text.to_owned(),
                reason: "expected humble, jazzy, kilted, lyrical or rolling",
            })
    }
}
