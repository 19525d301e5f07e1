//! One line of a `.msg` file.

use super::{ArrayShape, BaseType, Constant, Field, FieldType, Literal, Primitive, Source};
use crate::name::is_identifier;
use crate::{InterfaceKind, Result, TypeName};

/// The declaration on a line.
pub(super) enum Member {
    Field(Field),
    Constant(Constant),
}

/// Reads one line; `None` when it holds only a comment or nothing.
pub(super) fn parse_line(source: Source<'_>, package: &str, line: &str) -> Result<Option<Member>> {
    let line = strip_comment(line).trim();
    if line.is_empty() {
        return Ok(None);
    }
    let (type_text, rest) = match line.split_once(char::is_whitespace) {
        Some((type_text, rest)) => (type_text, rest.trim_start()),
        None => (line, ""),
    };
    let ty = parse_type(source, package, type_text)?;
    let name_end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let (name, tail) = rest.split_at(name_end);
    if !is_identifier(name) {
        return Err(source.expected("a field name", rest));
    }
    let separated = tail.is_empty() || tail.starts_with(char::is_whitespace);
    let tail = tail.trim();
    let name = name.to_owned();
    if let Some(value) = tail.strip_prefix('=') {
        return constant(source, ty, name, value.trim()).map(|c| Some(Member::Constant(c)));
    }
    if !separated {
        return Err(source.expected("a blank or `=` after the name", tail));
    }
    let default = if tail.is_empty() {
        None
    } else {
        Some(Literal::parse(source, &ty, tail)?)
    };
    Ok(Some(Member::Field(Field { name, ty, default })))
}

fn constant(source: Source<'_>, ty: FieldType, name: String, value: &str) -> Result<Constant> {
    if ty.shape != ArrayShape::Single || matches!(ty.base, BaseType::Message(_)) {
        return Err(source.expected("a primitive or string type for a constant", &ty.to_string()));
    }
    if value.is_empty() && matches!(ty.base, BaseType::Primitive(_)) {
        return Err(source.expected("a value after `=`", ""));
    }
    let value = Literal::parse(source, &ty, value)?;
    Ok(Constant {
        name,
        ty: ty.base,
        value,
    })
}

/// Removes the comment: from the first `#` that is not inside a quoted string.
fn strip_comment(line: &str) -> &str {
    let mut rest = 0;
    while let Some(found) = line[rest..].find(['#', '"', '\'']) {
        let at = rest + found;
        let c = line.as_bytes()[at];
        if c == b'#' {
            return &line[..at];
        }
        // A quote inside a word is an apostrophe.
        let opens = line[..at].ends_with(|c: char| c.is_whitespace() || "=[,".contains(c));
        let close = if opens {
            closing_quote(line, at, c)
        } else {
            None
        };
        rest = close.unwrap_or(at) + 1;
    }
    line
}

/// As rosidl reads it: a quote is escaped by the backslash before it, which nothing escapes.
fn closing_quote(line: &str, open: usize, quote: u8) -> Option<usize> {
    let mut pairs = line.as_bytes()[open..].windows(2);
    let found = pairs.position(|pair| pair[1] == quote && pair[0] != b'\\');
    found.map(|at| open + at + 1)
}

/// Reads a type: `float64[36]`, `string<=5[<=10]`, `Header`, `std_msgs/Header`, `std_msgs/msg/Header`.
fn parse_type(source: Source<'_>, package: &str, text: &str) -> Result<FieldType> {
    let (base, shape) = match text.split_once('[') {
        None => (text, ArrayShape::Single),
        Some((base, bracket)) => {
            let inner = bracket
                .strip_suffix(']')
                .ok_or_else(|| source.expected("`]` at the end of the type", text))?;
            let shape = match (inner.is_empty(), inner.strip_prefix("<=")) {
                (true, _) => ArrayShape::Unbounded,
                (false, Some(bound)) => ArrayShape::Bounded(parse_size(source, bound)?),
                (false, None) => ArrayShape::Fixed(parse_size(source, inner)?),
            };
            (base, shape)
        }
    };
    Ok(FieldType {
        base: parse_base(source, package, base)?,
        shape,
    })
}

fn parse_base(source: Source<'_>, package: &str, text: &str) -> Result<BaseType> {
    if let Some(primitive) = Primitive::parse(text) {
        return Ok(BaseType::Primitive(primitive));
    }
    let (name, bound) = match text.split_once("<=") {
        Some((name, bound)) => (name, Some(parse_size(source, bound)?)),
        None => (text, None),
    };
    match (name, bound) {
        ("string", _) => Ok(BaseType::String(bound)),
        ("wstring", _) => Ok(BaseType::WString(bound)),
        (_, Some(_)) => Err(source.expected("`string` or `wstring` before `<=`", text)),
        (_, None) => parse_reference(source, package, text).map(BaseType::Message),
    }
}

fn parse_reference(source: Source<'_>, package: &str, text: &str) -> Result<TypeName> {
    let name = if text.contains('/') {
        TypeName::parse(text)
    } else {
        TypeName::new(package, InterfaceKind::Msg, text)
    };
    name.ok().ok_or_else(|| source.expected("a type", text))
}

fn parse_size(source: Source<'_>, text: &str) -> Result<u32> {
    let wrong = || source.expected("a size from 1 to 4294967295", text);
    text.parse().ok().filter(|size| *size > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(line: &str) -> Field {
        match parse_line(
            Source {
                name: "p/msg/T",
                line: 1,
            },
            "p",
            line,
        ) {
            Ok(Some(Member::Field(field))) => field,
            Ok(_) => panic!("not a field: {line}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn error(line: &str) -> String {
        match parse_line(
            Source {
                name: "p/msg/T",
                line: 7,
            },
            "p",
            line,
        ) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("no error: {line}"),
        }
    }

    #[test]
    fn every_form_of_type() {
        for (line, spelling) in [
            ("float64[36] covariance", "float64[36]"),
            ("string<=5[<=10] names", "string<=5[<=10]"),
            ("wstring w", "wstring"),
            ("Other[] others", "Other[]"),
            ("std_msgs/msg/Header header", "std_msgs/Header"),
            ("byte\t b # tab", "byte"),
        ] {
            assert_eq!(field(line).ty.spelling("p"), spelling);
        }
    }

    #[test]
    fn comments_and_quotes() {
        assert_eq!(
            field("string s \"a # b\" # c").default,
            Some(Literal::Text("a # b".to_owned()))
        );
        assert_eq!(field("int8 x # it's").name, "x");
        assert_eq!(
            field(r#"string s "C:\\" # c"#).default,
            Some(Literal::Text(r"C:\\".to_owned()))
        );
        // Found by libFuzzer: a backslash before a quote, written and read again, lost the text behind the `#`.
        let both = r#"'a "b\"c#d""#;
        let text = Literal::Text(both.to_owned());
        assert_eq!(field(&format!("string s {text}")).default, Some(text));
        assert_eq!(strip_comment("string X=it's # c"), "string X=it's ");
        assert_eq!(strip_comment("string X=don't # can't"), "string X=don't ");
        assert!(matches!(
            parse_line(Source { name: "t", line: 1 }, "p", "  # only"),
            Ok(None)
        ));
    }

    #[test]
    fn constants_need_a_simple_type_and_a_value() {
        let parsed =
            parse_line(Source { name: "t", line: 1 }, "p", "int32 FOO = -5 # five").unwrap();
        assert!(matches!(
            parsed,
            Some(Member::Constant(Constant {
                value: Literal::Int(-5),
                ..
            }))
        ));
        assert_eq!(
            error("int32[] FOO=1"),
            "line 7 of p/msg/T: expected a primitive or string type for a constant, found `int32[]`"
        );
        assert_eq!(
            error("int32 FOO="),
            "line 7 of p/msg/T: expected a value after `=`, found nothing"
        );
    }

    #[test]
    fn errors_name_the_expected_token() {
        assert_eq!(
            error("int32"),
            "line 7 of p/msg/T: expected a field name, found nothing"
        );
        assert_eq!(
            error("int32 1x"),
            "line 7 of p/msg/T: expected a field name, found `1x`"
        );
        assert_eq!(
            error("int32[x] y"),
            "line 7 of p/msg/T: expected a size from 1 to 4294967295, found `x`"
        );
        assert_eq!(
            error("int32[ y"),
            "line 7 of p/msg/T: expected `]` at the end of the type, found `int32[`"
        );
        assert_eq!(
            error("a/b/c/D y"),
            "line 7 of p/msg/T: expected a type, found `a/b/c/D`"
        );
        assert_eq!(
            error("int32 x-y"),
            "line 7 of p/msg/T: expected a blank or `=` after the name, found `-y`"
        );
        assert_eq!(
            error("--- x"),
            "line 7 of p/msg/T: expected a type, found `---`"
        );
    }
}
