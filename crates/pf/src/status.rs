use std::fmt;

use timeloom_sync::DeviceStatus;

/// The status flags of a packet's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StatusFlags(pub u32);

/// Bits and their names, in the order of the bits.
const NAMES: [(u32, &str); 16] = [
    (0, "info"),
    (1, "new settings"),
    (2, "invalid data"),
    (3, "unstable rotation"),
    (4, "skipped packets"),
    (8, "warning"),
    (9, "lens contamination warning"),
    (10, "low temperature warning"),
    (11, "high temperature warning"),
    (12, "overload warning"),
    (16, "error"),
    (17, "lens contamination error"),
    (18, "low temperature error"),
    (19, "high temperature error"),
    (20, "overload error"),
    (30, "defect"),
];

/// The severity of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing, or something that is good to know.
    Normal,
    /// Something will go wrong.
    Warning,
    /// Measured data cannot be trusted.
    Error,
}

impl StatusFlags {
    /// Settings have just changed.
    pub const NEW_SETTINGS: Self = Self(1 << 1);
    /// The rotation is not at its set frequency.
    pub const UNSTABLE_ROTATION: Self = Self(1 << 3);
    /// The device could not send everything.
    pub const SKIPPED_PACKETS: Self = Self(1 << 4);

    /// Whether all of `flags` are set.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The severity: bits 16 and above are errors, 8 and above are warnings.
    pub const fn severity(self) -> Severity {
        if self.0 >> 16 != 0 {
            Severity::Error
        } else if self.0 >> 8 != 0 {
            Severity::Warning
        } else {
            Severity::Normal
        }
    }

    /// The status for an estimator: the vendor's averages restart at bits 1 and 3.
    pub(crate) const fn device_status(self) -> DeviceStatus {
        if self.has(Self::NEW_SETTINGS) || self.has(Self::UNSTABLE_ROTATION) {
            DeviceStatus::Unsettled
        } else {
            DeviceStatus::Normal
        }
    }

    /// The names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let set = move |(bit, _): &(u32, &str)| self.0 >> bit & 1 == 1;
        NAMES.into_iter().filter(set).map(|(_, name)| name)
    }
}

impl fmt::Display for StatusFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.pad("normal");
        }
        let names: Vec<&str> = self.names().collect();
        if names.is_empty() {
            return write!(f, "status {:#010x}", self.0);
        }
        f.pad(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_names_and_a_severity() {
        assert_eq!(StatusFlags(0).to_string(), "normal");
        assert_eq!(
            StatusFlags(0b1010).to_string(),
            "new settings, unstable rotation"
        );
        assert_eq!(StatusFlags(1 << 5).to_string(), "status 0x00000020");
        assert_eq!(StatusFlags(0b1010).severity(), Severity::Normal);
        assert_eq!(StatusFlags(1 << 11).severity(), Severity::Warning);
        assert_eq!(StatusFlags(1 << 30).severity(), Severity::Error);
        assert_eq!(StatusFlags(1).device_status(), DeviceStatus::Normal);
        assert_eq!(StatusFlags(2).device_status(), DeviceStatus::Unsettled);
    }
}
