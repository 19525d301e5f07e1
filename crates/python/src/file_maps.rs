//! Files of bags in the memory of Python, as arrays of bytes that cannot be changed; views of them keep them there.

use std::path::Path;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};

use crate::value::numpy;

/// Files that are mapped at a time. Python holds a file descriptor for each, and a process may have 1024 of them.
const MOST_FILES: usize = 64;
/// Files that stay mapped for further views: several bags that are read as one take turns.
const RECENT_FILES: usize = 16;

/// Files that were mapped, the newest last.
#[derive(Default)]
pub(crate) struct FileMaps {
    /// `None` for a file that cannot be mapped.
    recent: Vec<(Arc<Path>, Option<Py<PyAny>>)>,
    /// Weak references to all of them: views keep a map that is not in use here any more.
    all: Vec<Py<PyAny>>,
}

impl FileMaps {
    /// A range of a file, without a copy; `None` if the file cannot be mapped.
    pub(crate) fn view<'py>(
        &mut self,
        py: Python<'py>,
        path: &Path,
        start: u64,
        length: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.is_known(path) {
            let map = self.map(py, path)?;
            self.add(path, map);
        }
        let found = self.recent.iter().find(|(known, _)| **known == *path);
        let map = found.and_then(|(_, map)| map.as_ref());
        map.map(|map| slice(map.bind(py), start, length))
            .transpose()
    }

    /// The same, where the file has these bytes: another one may be at its path by now.
    pub(crate) fn view_of<'py>(
        &mut self,
        py: Python<'py>,
        path: &Path,
        start: u64,
        bytes: &[u8],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_known = self.is_known(path);
        let view = self.view(py, path, start, bytes.len())?;
        if let (Some(view), false) = (&view, is_known) {
            // Once for each file: the rest of it is of the same recording.
            let found = view.call_method0(intern!(py, "tobytes"))?;
            if found.cast::<PyBytes>()?.as_bytes() != bytes {
                self.recent.pop();
                self.add(path, None);
                return Ok(None);
            }
        }
        Ok(view)
    }

    fn is_known(&self, path: &Path) -> bool {
        self.recent.iter().any(|(known, _)| **known == *path)
    }

    fn add(&mut self, path: &Path, map: Option<Py<PyAny>>) {
        if self.recent.len() == RECENT_FILES {
            self.recent.remove(0);
        }
        self.recent.push((path.into(), map));
    }

    /// Maps a file unless too many are.
    fn map(&mut self, py: Python<'_>, path: &Path) -> PyResult<Option<Py<PyAny>>> {
        let mut alive = Vec::new();
        for map in self.all.drain(..) {
            if !map.bind(py).call0()?.is_none() {
                alive.push(map);
            }
        }
        self.all = alive;
        if self.all.len() >= MOST_FILES {
            return Ok(None);
        }
        // What cannot be mapped is read in another way, with errors of its own.
        let Ok(map) = map(py, path) else {
            return Ok(None);
        };
        let weak = py.import("weakref")?.call_method1("ref", (&map,))?;
        self.all.push(weak.unbind());
        Ok(Some(map.unbind()))
    }
}

fn slice<'py>(map: &Bound<'py, PyAny>, start: u64, length: usize) -> PyResult<Bound<'py, PyAny>> {
    let index = |at: u64| isize::try_from(at).unwrap_or(isize::MAX);
    let end = start.saturating_add(length as u64);
    map.get_item(PySlice::new(map.py(), index(start), index(end), 1))
}

/// A file as an array of bytes.
fn map<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("mmap")?;
    let file = py.import("io")?.call_method1("open", (path, "rb"))?;
    let options = PyDict::new(py);
    options.set_item("access", module.getattr("ACCESS_READ")?)?;
    let number = file.call_method0("fileno")?;
    let map = module.getattr("mmap")?.call((number, 0), Some(&options));
    file.call_method0("close")?;
    numpy(py)?.call_method1(intern!(py, "frombuffer"), (map?, "u1"))
}
