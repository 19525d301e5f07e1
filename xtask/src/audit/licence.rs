//! Licence expressions as crates write them: SPDX, and `MIT/Apache-2.0` of old.

use std::collections::BTreeSet;

/// Whether a licence expression can be met with the allowed licences; one that cannot be read is not.
pub(super) fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        allowed,
    };
    let met = parser.any();
    parser.words.is_empty() && met == Some(true)
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a BTreeSet<String>,
}

impl<'a> Parser<'a> {
    fn take(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.take();
        }
        found
    }

    /// Parts with `OR` between them; each is read, also behind one that is met.
    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.skip("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    /// Parts with `AND` between them, which binds closer.
    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.skip("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let met = self.any()?;
            return self.skip(")").then_some(met);
        }
        let mut name = self.take()?.to_owned();
        if matches!(name.as_str(), ")" | "OR" | "AND" | "WITH") {
            return None;
        }
        if self.skip("WITH") {
            name = format!("{name} WITH {}", self.take()?);
        }
        Some(self.allowed.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        let allowed = ["MIT", "BSD-3-Clause", "Apache-2.0 WITH LLVM-exception"];
        let allowed = allowed.map(str::to_owned).into_iter().collect();
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND BSD-3-Clause", true),
            ("MIT OR GPL-3.0 AND GPL-3.0", true),
            ("GPL-3.0 AND GPL-3.0 OR MIT", true),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT)", false),
            ("MIT MIT", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
        }
    }
}
