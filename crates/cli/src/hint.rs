//! From an error to what the user can do about it.

use std::io::ErrorKind;
use std::path::Path;

use timeloom_bag::Error;
use timeloom_bag::metadata::METADATA_FILE;

use crate::failure::Failure;

/// The way out of an error, if one is known.
pub(crate) fn hint_for(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let own = cause
            .downcast_ref::<Failure>()
            .and_then(|failure| failure.hint_text().map(str::to_owned));
        own.or_else(|| cause.downcast_ref::<Error>().and_then(of_bag_error))
    })
}

fn of_bag_error(error: &Error) -> Option<String> {
    Some(match error {
        Error::Io { action, .. } if matches!(*action, "create" | "write") => {
            "check that the directory above it exists, that you may write there, and that the disk is not full".into()
        }
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            "check the path: a bag is a directory with metadata.yaml, or one .mcap or .db3 file".into()
        }
        Error::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            "check the permissions of the file and of its directory".into()
        }
        Error::NotABag { .. } | Error::BadMagic { .. } => {
            "a bag is a directory with metadata.yaml, or one .mcap or .db3 file".into()
        }
        Error::Sqlite { source, .. } if source.to_string().contains("no such table") => {
            "it is an sqlite3 database, but none that rosbag2 wrote".into()
        }
        Error::Truncated { path, .. }
        | Error::Record { path, .. }
        | Error::Crc { path, .. }
        | Error::Compression { path, .. }
        | Error::Sqlite { path, .. } => recover(&bag_of(path)),
        Error::Exists { .. } => {
            "choose another output, or remove this one: bags are never overwritten".into()
        }
        _ => return None,
    })
}

/// How to get a damaged bag back.
pub(crate) fn recover(bag: &Path) -> String {
    format!(
        "run `timeloom recover {}` to get back all that it holds",
        quoted(bag)
    )
}

/// How to rebuild the metadata of a bag.
pub(crate) fn reindex(bag: &Path) -> String {
    format!(
        "run `timeloom reindex {}` to rebuild metadata.yaml",
        quoted(bag)
    )
}

/// The bag that a file belongs to: its directory, when that is a bag.
fn bag_of(file: &Path) -> std::path::PathBuf {
    let parent = file
        .parent()
        .filter(|parent| parent.join(METADATA_FILE).is_file());
    parent.unwrap_or(file).to_path_buf()
}

/// A path that can be pasted into a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_a_shell() {
        assert_eq!(
            quoted(Path::new("/tmp/my_bag-1.mcap")),
            "/tmp/my_bag-1.mcap"
        );
        assert_eq!(quoted(Path::new("it's here")), r"'it'\''s here'");
        assert_eq!(quoted(Path::new("")), "''");
    }

    #[test]
    fn causes_are_searched_for_a_hint() {
        let error = Error::Exists { path: "out".into() };
        let error = anyhow::Error::new(error).context("cannot convert");
        assert!(hint_for(&error).unwrap().contains("never overwritten"));
        let error = anyhow::Error::new(Failure::new("no").hint("do this"));
        assert_eq!(hint_for(&error).unwrap(), "do this");
        assert_eq!(hint_for(&anyhow::anyhow!("no")), None);
    }
}
