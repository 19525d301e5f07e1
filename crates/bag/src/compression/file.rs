//! A finished file becomes `<file>.zstd`.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::metadata::{create_afresh, sync_directory};
use crate::{Error, Result};

/// Compresses a file to `<file>.zstd` and removes the original when that is safely on disk.
///
/// The result is one frame that states its size: rosbag2 allocates what the first frame states and reads no other.
pub fn compress_file(path: &Path, level: i32) -> Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(".zstd");
    let target = PathBuf::from(name);
    let mut name = target.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    pack(path, &temporary, level).map_err(Error::io(path, "compress"))?;
    fs::rename(&temporary, &target).map_err(Error::io(&target, "create"))?;
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        sync_directory(directory)?;
    }
    fs::remove_file(path).map_err(Error::io(path, "remove"))?;
    Ok(target)
}

fn pack(from: &Path, to: &Path, level: i32) -> io::Result<()> {
    let input = File::open(from)?;
    let size = input.metadata()?.len();
    let mut encoder = zstd::stream::write::Encoder::new(create_afresh(to)?, level)?;
    encoder.set_pledged_src_size(Some(size))?;
    encoder.include_contentsize(true)?;
    io::copy(&mut BufReader::with_capacity(1 << 20, input), &mut encoder)?;
    let mut file = encoder.finish()?;
    file.flush()?;
    file.sync_all()
}
