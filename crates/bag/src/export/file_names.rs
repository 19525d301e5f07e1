//! Names of the files of an export.

use std::collections::BTreeSet;

/// Gives each topic a file name of its own.
///
/// ```
/// use timeloom_bag::export::FileNames;
///
/// let mut names = FileNames::default();
/// assert_eq!(names.name("/imu/data"), "imu__data");
/// assert_eq!(names.name("/Imu/data"), "Imu__data-2");
/// ```
#[derive(Debug, Default)]
pub struct FileNames {
    taken: BTreeSet<String>,
}

impl FileNames {
    /// A file name for a topic, without an extension: `/imu/data` is `imu__data`; a name in use gets a number.
    pub fn name(&mut self, topic: &str) -> String {
        let letter = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        };
        let plain: String = topic
            .trim_start_matches('/')
            .replace('/', "__")
            .chars()
            .map(letter)
            .collect();
        let mut name = plain.clone();
        let mut number = 2;
        // File systems may be case-insensitive.
        while !self.taken.insert(name.to_ascii_lowercase()) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        name
    }
}
