//! Verdicts as the XML of `JUnit`, which CI servers show.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::plan::Verdict;

/// The verdicts of a check as a `JUnit` file: a test case for each limit, by budget. `problem` is a further problem,
/// such as parts of a bag that could not be read.
pub fn junit(verdicts: &[Verdict], name: &str, problem: Option<&str>) -> String {
    let missed = verdicts.iter().filter(|verdict| !verdict.kept).count();
    let tests = verdicts.len() + usize::from(problem.is_some());
    let errors = usize::from(problem.is_some());
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ok = writeln!(
        text,
        "<testsuites tests=\"{tests}\" failures=\"{missed}\" errors=\"{errors}\">\n  \
         <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{missed}\" errors=\"{errors}\">",
        escaped(name)
    );
    let mut names: BTreeMap<(String, String), usize> = BTreeMap::new();
    for verdict in verdicts {
        let case = if verdict.path.is_empty() {
            verdict.what.clone()
        } else {
            format!("{} of {}", verdict.what, verdict.path)
        };
        // CI servers merge cases of one name.
        let count = names
            .entry((verdict.budget.clone(), case.clone()))
            .or_default();
        *count += 1;
        let case = if *count > 1 {
            format!("{case} ({count})")
        } else {
            case
        };
        let _ok = write!(
            text,
            "    <testcase classname=\"{}\" name=\"{}\"",
            escaped(&verdict.budget),
            escaped(&case)
        );
        if verdict.kept {
            text.push_str("/>\n");
        } else {
            let _ok = writeln!(
                text,
                ">\n      <failure message=\"{}\">allowed {}, actual {}</failure>\n    </testcase>",
                escaped(&verdict.reason),
                escaped(&verdict.allowed),
                escaped(&verdict.actual)
            );
        }
    }
    if let Some(problem) = problem {
        let _ok = writeln!(
            text,
            "    <testcase classname=\"input\" name=\"read\">\n      <error message=\"{}\"/>\n    </testcase>",
            escaped(problem)
        );
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// Text for an attribute or between tags. XML has no control characters at all, so they are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            letter if letter.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_distinct_names_and_any_name_is_escaped() {
        let verdict = |kept: bool| Verdict {
            budget: "a<b".into(),
            path: "/a\u{1b}[31m → /b".into(),
            what: "latency max".into(),
            allowed: "≤ 1 ms".into(),
            actual: "2 ms".into(),
            kept,
            reason: if kept {
                String::new()
            } else {
                "\"slow\" & late".into()
            },
        };
        let text = junit(&[verdict(true), verdict(false)], "bag", Some("cut"));
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"3\" failures=\"1\" errors=\"1\">
  <testsuite name=\"bag\" tests=\"3\" failures=\"1\" errors=\"1\">
    <testcase classname=\"a&lt;b\" name=\"latency max of /a\u{fffd}[31m → /b\"/>
    <testcase classname=\"a&lt;b\" name=\"latency max of /a\u{fffd}[31m → /b (2)\">
      <failure message=\"&quot;slow&quot; &amp; late\">allowed ≤ 1 ms, actual 2 ms</failure>
    </testcase>
    <testcase classname=\"input\" name=\"read\">
      <error message=\"cut\"/>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(text, expected);
    }
}
