//! Rust source files, and their code without comments and literals.

use std::fs;
use std::io;
use std::path::Path;

/// One Rust file of the workspace.
pub(super) struct RustFile {
    /// Path from the root, with `/`.
    pub(super) path: String,
    /// The text as it is.
    pub(super) text: String,
    /// The text with every character of comments, strings and character literals turned into a space.
    pub(super) code: String,
}

impl RustFile {
    /// The room that the file belongs to: `time` for `crates/time/src/lib.rs`, `xtask` for `xtask/src/main.rs`.
    pub(super) fn room(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or_default()
    }

    /// Every line that has `word` in its code, as number (from 1) and full text.
    pub(super) fn lines_with<'a>(
        &'a self,
        word: &'a str,
    ) -> impl Iterator<Item = (usize, &'a str)> {
        let lines = self.code.lines().zip(self.text.lines()).enumerate();
        lines.filter_map(move |(index, (code, text))| {
            has_word(code, word).then_some((index + 1, text))
        })
    }
}

/// All Rust files under `root`, sorted by path; hidden folders and build folders are left out.
pub(super) fn rust_files(root: &Path) -> io::Result<Vec<RustFile>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(root: &Path, folder: &str, files: &mut Vec<RustFile>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let build = name.starts_with('.') || name == "target" || name.starts_with("target-");
            if !build {
                collect(root, &path, files)?;
            }
        } else if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            let text = fs::read_to_string(entry.path())?;
            let code = code_only(&text);
            files.push(RustFile { path, text, code });
        }
    }
    Ok(())
}

/// Whether `word` stands in `line` on its own, not as a part of a longer name.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let alone = |at: usize| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    };
    line.match_indices(word).any(|(at, _)| alone(at))
}

/// Whether `c` may be a part of a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Blanks comments, strings and character literals; line breaks and the number of characters stay.
pub(super) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match blank_length(&chars, at) {
            0 => {
                code.push(c);
                at += 1;
            }
            length => {
                let end = (at + length).min(chars.len());
                code.extend(
                    chars[at..end]
                        .iter()
                        .map(|&c| if c == '\n' { '\n' } else { ' ' }),
                );
                at = end;
            }
        }
    }
    code
}

/// Length of a comment or literal that starts at `at`; 0 without one.
fn blank_length(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    match rest {
        ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => block_comment(rest),
        ['"', ..] => quoted(rest, '"'),
        ['\'', '\\', ..] => quoted(rest, '\''),
        ['\'', _, '\'', ..] => 3,
        ['r', '"' | '#', ..] if starts_literal(chars, at) => raw_string(rest),
        _ => 0,
    }
}

/// An `r` starts a raw string unless it ends a name; `b` and `c` may stand before it.
fn starts_literal(chars: &[char], at: usize) -> bool {
    let before = &chars[..at];
    match before {
        [.., name, 'b' | 'c'] => !is_name(*name),
        ['b' | 'c'] | [] => true,
        [.., last] => !is_name(*last),
    }
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// 0 for `r#name`, which is no string.
fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let start = 2 + hashes;
    let closes = |at: usize| {
        let after = &rest[at + 1..];
        rest[at] == '"' && after.len() >= hashes && after[..hashes].iter().all(|&c| c == '#')
    };
    let end = (start..rest.len()).find(|&at| closes(at));
    end.map_or(rest.len(), |end| end + 1 + hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_spaces() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"a "b \" c" d"#, "a          d"),
            (r"a '{' b", "a     b"),
            (r"a '\'' b", "a      b"),
            ("a r\"b\" c", "a      c"),
            ("a br#\"b\" c\"# d", "a b          d"),
            ("a \"b\nc\" d", "a   \n   d"),
        ];
        for (text, code) in cases {
            assert_eq!(code_only(text), code, "{text}");
        }
    }

    #[test]
    fn lifetimes_and_raw_names_stay() {
        for text in [
            "fn a<'a>(b: &'a str) {}",
            "let r#fn = 1;",
            "for x in bar {}",
            "'a: loop { break 'a; }",
        ] {
            assert_eq!(code_only(text), text);
        }
    }

    #[test]
    fn an_open_literal_ends_with_the_file() {
        for text in ["/* a", "\"a", "r#\"a\"", "'\\", "\"a\\"] {
            assert_eq!(code_only(text).trim(), "", "{text}");
        }
    }

    #[test]
    fn words_stand_alone() {
        assert!(has_word("x(unsafe { })", "unsafe"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(has_word("not_unsafe unsafe", "unsafe"));
        assert!(has_word("std::time::Instant::now()", "Instant::now"));
        assert!(!has_word("MyInstant::now()", "Instant::now"));
    }
}
