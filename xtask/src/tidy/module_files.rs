//! No `mod.rs`: a module is `foo.rs` with its children in `foo/`, so that a tab's title says what it is.

use super::source::rust_files;
use std::io;
use std::path::Path;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let files = rust_files(root)?;
    let paths = files.iter().map(|file| &*file.path);
    let named_mod = paths.filter(|path| path.rsplit('/').next() == Some("mod.rs"));
    Ok(named_mod
        .map(|path| format!("{path}: name it after its folder, beside the folder"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_mod_rs_is_found() {
        let tree = Tree::new(&[
            ("a/src/b/mod.rs", ""),
            ("a/src/b.rs", ""),
            ("a/src/not_mod.rs", ""),
        ]);
        assert_eq!(
            check(tree.root()).unwrap(),
            ["a/src/b/mod.rs: name it after its folder, beside the folder"]
        );
    }
}
