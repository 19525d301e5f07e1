use std::fmt;

/// The identity of an endpoint or participant: 16 bytes, a GUID on DDS.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// No identity.
    pub const UNKNOWN: Self = Self([0; 16]);

    /// The first twelve bytes: on DDS, the participant.
    pub fn prefix(&self) -> [u8; 12] {
        let mut prefix = [0; 12];
        prefix.copy_from_slice(&self.0[..12]);
        prefix
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if n == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gid({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_ros2_topic_info_does() {
        let mut gid = Gid::UNKNOWN;
        gid.0[0] = 1;
        gid.0[15] = 0xfe;
        assert_eq!(
            gid.to_string(),
            "01.00.00.00.00.00.00.00.00.00.00.00.00.00.00.fe"
        );
    }
}
