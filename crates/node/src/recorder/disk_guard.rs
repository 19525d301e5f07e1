use std::io;
use std::path::{Path, PathBuf};

/// The free space to keep on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskGuard {
    /// The bytes to keep free.
    pub min_free_bytes: u64,
    /// The percentage of the disk to keep free.
    pub min_free_percent: u8,
    /// The action when less is free.
    pub action: LowSpaceAction,
}

/// The action when the disk is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum LowSpaceAction {
    /// End the recording.
    #[default]
    Stop,
    /// Delete the oldest files of this recording; if there are none, end it.
    DeleteOldestFiles,
}

/// The space of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes available to this process.
    pub available: u64,
    /// Total bytes.
    pub capacity: u64,
}

/// A low disk space event and what was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LowSpace {
    pub(super) space: DiskSpace,
    pub(super) wanted: u64,
    pub(super) deleted: Vec<PathBuf>,
    pub(super) stopped: bool,
}

impl DiskSpace {
    /// The space of the disk that holds a path.
    ///
    /// # Errors
    /// When the operating system reports an error.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = rustix::fs::statvfs(path)?;
        Ok(Self {
            available: found.f_bavail.saturating_mul(found.f_frsize),
            capacity: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }
}

impl DiskGuard {
    /// The bytes to keep free on a disk.
    pub fn wanted(&self, space: &DiskSpace) -> u64 {
        let percent = u128::from(space.capacity) * u128::from(self.min_free_percent) / 100;
        self.min_free_bytes
            .max(u64::try_from(percent).unwrap_or(u64::MAX))
    }

    /// Whether a disk has less free space than that.
    pub fn is_low(&self, space: &DiskSpace) -> bool {
        space.available < self.wanted(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_of_the_two_limits_counts() {
        let guard = DiskGuard {
            min_free_bytes: 100,
            min_free_percent: 20,
            action: LowSpaceAction::Stop,
        };
        let space = |available, capacity| DiskSpace {
            available,
            capacity,
        };
        assert!(guard.is_low(&space(99, 100)));
        assert!(!guard.is_low(&space(100, 500)));
        assert!(guard.is_low(&space(199, 1000)));
        assert!(!guard.is_low(&space(200, 1000)));
    }

    #[test]
    fn the_disk_of_a_directory_has_a_size() {
        let directory = tempfile::tempdir().unwrap();
        let space = DiskSpace::of(directory.path()).unwrap();
        assert!(space.capacity >= space.available);
        assert!(DiskSpace::of(Path::new("/no/such/place")).is_err());
    }
}
