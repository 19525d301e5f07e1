//! Names of the files of a bag, in both schemes of rosbag2.

/// The naming scheme of the files of a bag.
#[derive(Default)]
pub enum FileNaming {
    /// `<bag>_<number>`, as rosbag2 up to Kilted.
    #[default]
    Numbered,
    /// `<number>_<prefix>_<time>`, as rosbag2 since Lyrical; the function gives `YYYY_MM_DD-HH_MM_SS` at each split.
    Timed(Box<dyn FnMut() -> String + Send>),
}

impl FileNaming {
    /// The name of a file without its extension.
    pub(super) fn stem(&mut self, bag: &str, number: usize) -> String {
        match self {
            Self::Numbered => format!("{bag}_{number}"),
            Self::Timed(time) => {
                let prefix = without_time(bag).unwrap_or(bag);
                format!("{number}_{prefix}_{}", time())
            }
        }
    }
}

/// A name without the time that rosbag2 puts behind it; `None` when there is none.
fn without_time(name: &str) -> Option<&str> {
    const TIME: &str = "dddd_dd_dd-dd_dd_dd";
    let at = name.len().checked_sub(TIME.len())?;
    let tail = name.as_bytes().get(at..)?;
    let matches = tail
        .iter()
        .zip(TIME.bytes())
        .all(|(byte, pattern)| match pattern {
            b'd' => byte.is_ascii_digit(),
            other => *byte == other,
        });
    matches
        .then(|| name.get(..at))?
        .map(|prefix| prefix.strip_suffix('_').unwrap_or(prefix))
}

/// The number of a split file by its name without extension, in either scheme.
pub(super) fn split_number(stem: &str) -> Option<u64> {
    if without_time(stem).is_some() {
        let (number, _) = stem.split_once('_')?;
        return number.parse().ok();
    }
    let (_, number) = stem.rsplit_once('_')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_give_their_number() {
        assert_eq!(split_number("lab_run_12"), Some(12));
        assert_eq!(split_number("3_lab_run_2026_04_14-10_11_12"), Some(3));
        assert_eq!(split_number("talker"), None);
        let mut timed = FileNaming::Timed(Box::new(|| "2026_04_14-10_11_12".into()));
        assert_eq!(
            timed.stem("rosbag2_2026_04_14-09_00_00", 7),
            "7_rosbag2_2026_04_14-10_11_12"
        );
        assert_eq!(FileNaming::Numbered.stem("lab_run", 0), "lab_run_0");
    }
}
