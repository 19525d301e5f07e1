//! Files and functions stay short enough to be read in one go.

use super::source::{RustFile, is_name, rust_files};
use std::io;
use std::path::Path;

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 80;

pub(super) fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in rust_files(root)? {
        let lines = file.text.lines().count();
        if lines > FILE_LINES {
            findings.push(format!(
                "{}: {lines} lines, the limit is {FILE_LINES}: split it by concept",
                file.path
            ));
        }
        findings.append(&mut long_functions(&file));
    }
    Ok(findings)
}

fn long_functions(file: &RustFile) -> Vec<String> {
    let long = functions(&file.code)
        .into_iter()
        .filter(|function| function.lines > FUNCTION_LINES);
    let finding = |Function { name, line, lines }: Function| {
        format!(
            "{}:{line}: fn {name} has {lines} lines, the limit is {FUNCTION_LINES}",
            file.path
        )
    };
    long.map(finding).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// Line of the word `fn`, from 1.
    line: usize,
    /// From `fn` to the closing brace.
    lines: usize,
}

/// Every function with a body, nested ones too. `code` has no comments and literals.
fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].chars().next_back().is_some_and(is_name) {
            continue;
        }
        let name: String = code[at + 3..]
            .trim_start()
            .chars()
            .take_while(|&c| is_name(c))
            .collect();
        let Some(length) = body_end(&code[at..]) else {
            continue;
        };
        if !name.is_empty() {
            let line = 1 + code[..at].matches('\n').count();
            let lines = 1 + code[at..at + length].matches('\n').count();
            found.push(Function { name, line, lines });
        }
    }
    found
}

/// Where the body that follows a signature ends; none for a signature without a body.
fn body_end(code: &str) -> Option<usize> {
    let mut brackets = 0_i32;
    let mut braces = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if brackets == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                // A `}` before any `{` closes what the signature stands in: a function type, no function.
                match braces {
                    0 if brackets == 0 => return Some(at),
                    ..0 => return None,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::code_only;
    use crate::tidy::tree::Tree;

    fn function_of(lines: usize) -> String {
        format!(
            "fn long() {{\n{}}}\n",
            "    work(\"}\");\n".repeat(lines - 2)
        )
    }

    #[test]
    fn a_file_at_the_limit_passes_and_above_it_fails() {
        let (fits, long) = ("// line\n".repeat(500), "// line\n".repeat(501));
        let tree = Tree::new(&[
            ("a/fits.rs", &fits),
            ("a/long.rs", &long),
            ("a/long.txt", &long),
        ]);
        let findings = check(tree.root()).unwrap();
        assert_eq!(
            findings,
            ["a/long.rs: 501 lines, the limit is 500: split it by concept"]
        );
    }

    #[test]
    fn a_function_at_the_limit_passes_and_above_it_fails() {
        let (fits, long) = (function_of(80), format!("// why\n{}", function_of(81)));
        let tree = Tree::new(&[("fits.rs", &fits), ("long.rs", &long)]);
        let findings = check(tree.root()).unwrap();
        assert_eq!(
            findings,
            ["long.rs:2: fn long has 81 lines, the limit is 80"]
        );
    }

    #[test]
    fn build_and_hidden_folders_are_not_ours() {
        let long = "// line\n".repeat(501);
        let tree = Tree::new(&[
            ("target/a.rs", &long),
            ("target-x/a.rs", &long),
            (".venv/a.rs", &long),
        ]);
        assert!(check(tree.root()).unwrap().is_empty());
    }

    #[test]
    fn bodies_are_found_by_their_braces() {
        let code = code_only(
            "trait T {\n    fn none(&self) -> [u8; 2];\n    fn short(&self) {}\n}\n\
             fn outer(f: fn(u8) -> u8)\nwhere\n    T: U,\n{\n    fn inner() { '}'; }\n    struct S { f: fn () }\n}\n",
        );
        let found: Vec<_> = functions(&code)
            .into_iter()
            .map(|f| (f.name, f.line, f.lines))
            .collect();
        let expected = [("short", 3, 1), ("outer", 5, 7), ("inner", 9, 1)];
        assert_eq!(
            found,
            expected.map(|(name, line, lines)| (name.to_owned(), line, lines))
        );
    }
}
