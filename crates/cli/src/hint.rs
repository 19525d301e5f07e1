//! From an error to what the user can do about it.

use std::io::ErrorKind;
use std::path::Path;

use timeloom_bag::Error;
use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::place::is_address;

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
            "this is an sqlite3 database, but rosbag2 did not write it".into()
        }
        Error::Truncated { path, .. }
        | Error::Record { path, .. }
        | Error::Crc { path, .. }
        | Error::Compression { path, .. }
        | Error::Sqlite { path, .. } => recover(&bag_of(path)),
        Error::Exists { .. } => {
            "choose another output, or remove this one: bags are never overwritten".into()
        }
        #[cfg(feature = "remote")]
        Error::Place { source } => return of_remote_error(source.downcast_ref()?),
        _ => return None,
    })
}

#[cfg(feature = "remote")]
fn of_remote_error(error: &timeloom_remote::Error) -> Option<String> {
    use timeloom_remote::Error;
    Some(match error {
        Error::NotFound { .. } => {
            "check the address: a bag is a folder with metadata.yaml, or one .mcap or .db3 file".into()
        }
        Error::Denied { uri, .. } if uri.starts_with("http") => {
            "the server requires a password, or the signature in the address has expired".into()
        }
        Error::Denied { uri, .. } if uri.starts_with("gs:") => {
            "check GOOGLE_APPLICATION_CREDENTIALS and that the account may read the bucket; \
             Google reports the same for a name that does not exist"
                .into()
        }
        Error::Denied { .. } => {
            "check the keys (AWS_ACCESS_KEY_ID) and AWS_REGION; S3 reports the same for a name that does not exist, \
             unless you may list the bucket"
                .into()
        }
        Error::NoCredentials { service: "S3", .. } => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket; \
             of a profile: `eval \"$(aws configure export-credentials --format env)\"`"
                .into()
        }
        Error::NoCredentials { .. } => {
            "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket; \
             or run `gcloud auth application-default login`"
                .into()
        }
        Error::NoCertificates { .. } => {
            "install them (the package ca-certificates), or set SSL_CERT_FILE to a file with the ones to trust".into()
        }
        Error::NotListable { .. } => {
            "name the .mcap or .db3 file itself, or put metadata.yaml beside it".into()
        }
        Error::Exists { .. } => "upload to another folder, or replace what is there with --overwrite".into(),
        Error::NotUploadable { .. } => {
            "give a bucket and a folder, such as s3://robots/r2; MinIO and Ceph speak S3 (AWS_ENDPOINT_URL)".into()
        }
        Error::Damaged { .. } => "run the command again: nothing was deleted here".into(),
        Error::ChangedHere { .. } => "it is still written to: run the command again when it is closed".into(),
        Error::Changed { .. } => "it was modified while it was read: run the command again".into(),
        Error::NoSpace { .. } => {
            "set TMPDIR to a directory on a larger disk, or convert the bag to MCAP on the server: MCAP files are read in parts"
                .into()
        }
        Error::Copy { .. } => "set TMPDIR to a directory that you may write".into(),
        Error::Status { status: 301 | 307 | 400, .. } => {
            "check the region of the bucket (AWS_REGION) and the server (AWS_ENDPOINT_URL)".into()
        }
        Error::Unreachable { uri, .. } if uri.starts_with("s3") => {
            "check the network, AWS_REGION and AWS_ENDPOINT_URL (with AWS_ALLOW_HTTP=true if it is http)".into()
        }
        Error::Unreachable { .. } | Error::Status { .. } | Error::Short { .. } => {
            "check the network and the server, then run the command again".into()
        }
        _ => return None,
    })
}

/// How to get a damaged bag back.
pub(crate) fn recover(bag: &Path) -> String {
    if is_address(bag) {
        return "copy the bag to this machine, then run `timeloom recover` to restore its messages"
            .into();
    }
    format!(
        "run `timeloom recover {}` to restore its messages",
        quoted(bag)
    )
}

/// How to get a bag that `ros2 bag` reads.
pub(crate) fn rewrite(bag: &Path) -> String {
    if is_address(bag) {
        return "copy the bag to this machine, then run `timeloom recover` to rewrite it for `ros2 bag`"
            .into();
    }
    format!(
        "run `timeloom recover {}` to rewrite it for `ros2 bag`",
        quoted(bag)
    )
}

/// How to rebuild the metadata of a bag.
pub(crate) fn reindex(bag: &Path) -> String {
    if is_address(bag) {
        return "copy the bag to this machine, then run `timeloom reindex` to rebuild metadata.yaml"
            .into();
    }
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
