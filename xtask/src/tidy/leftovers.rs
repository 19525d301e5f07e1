//! No unfinished code, and no test that is switched off.

use super::source::rust_files;
use std::io;
use std::path::Path;

const LEFTOVERS: [&str; 3] = ["todo!(", "unimplemented!(", "#[ignore"];

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in rust_files(root)? {
        for (index, line) in file.code.lines().enumerate() {
            let left = LEFTOVERS
                .iter()
                .filter(|leftover| line.contains(**leftover));
            findings.extend(left.map(|leftover| {
                format!(
                    "{}:{}: `{leftover}`: finish it or take it out",
                    file.path,
                    index + 1
                )
            }));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn each_leftover_is_found() {
        for leftover in LEFTOVERS {
            let tree = Tree::new(&[("a/src/b.rs", &format!("\n{leftover} )]\n"))]);
            let expected = format!("a/src/b.rs:2: `{leftover}`: finish it or take it out");
            assert_eq!(check(tree.root()).unwrap(), [expected]);
        }
    }

    #[test]
    fn words_in_comments_and_strings_are_fine() {
        let tree = Tree::new(&[(
            "a.rs",
            "// todo!()\nlet a = \"#[ignore]\";\n/* unimplemented!() */\n",
        )]);
        assert!(check(tree.root()).unwrap().is_empty());
    }
}
