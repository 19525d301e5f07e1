//! Definitions of the packages that are installed on this machine.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::{DefinitionSource, FoundDefinition};
use crate::{Error, InterfaceKind, Result, TypeName};

/// Largest definition file that is read.
const MAX_FILE: u64 = 4 << 20;

/// The prefixes of `AMENT_PREFIX_PATH`: definitions are in `<prefix>/share/<package>/msg/<Name>.msg`.
///
/// [`DefinitionSource::find`] reads files and blocks on the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AmentIndex {
    prefixes: Vec<PathBuf>,
}

impl AmentIndex {
    /// Reads the value of `AMENT_PREFIX_PATH`; earlier prefixes win.
    pub fn from_prefix_path(value: &str) -> Self {
        let separator = if cfg!(windows) { ';' } else { ':' };
        let prefixes = value
            .split(separator)
            .filter(|p| !p.is_empty())
            .map(PathBuf::from)
            .collect();
        Self { prefixes }
    }

    /// Whether there is no prefix to search.
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }
}

impl DefinitionSource for AmentIndex {
    fn find(&self, name: &TypeName) -> Result<Option<FoundDefinition>> {
        let folder = name.kind().as_str();
        let ros = match name.kind() {
            InterfaceKind::Msg => "msg",
            InterfaceKind::Srv => "srv",
            InterfaceKind::Action => "action",
        };
        for prefix in &self.prefixes {
            let base = prefix.join("share").join(name.package()).join(folder);
            if let Some(text) = read(&base.join(format!("{}.{ros}", name.name())))? {
                return Ok(Some(FoundDefinition::Ros(text)));
            }
            if let Some(text) = read(&base.join(format!("{}.idl", name.name())))? {
                return Ok(Some(FoundDefinition::Idl(text)));
            }
        }
        Ok(None)
    }
}

fn read(path: &std::path::Path) -> Result<Option<String>> {
    let fail = |reason: String| Error::Read {
        path: path.display().to_string(),
        reason,
    };
    let size = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error.to_string())),
    };
    if size > MAX_FILE {
        return Err(fail(format!("{size} bytes, the limit is {MAX_FILE}")));
    }
    fs::read_to_string(path)
        .map(Some)
        .map_err(|error| fail(error.to_string()))
}
