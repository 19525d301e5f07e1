use super::condition::Operator;
use super::syntax_error::SyntaxError;

/// A word of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A topic or service, possibly with a field: `/battery.voltage`.
    Name(String),
    /// A keyword, a function or a bare word.
    Word(String),
    /// A number; an integer if it has neither point nor exponent.
    Integer(i128),
    Real(f64),
    /// A number with a unit of time, in nanoseconds.
    Span(i64),
    Text(String),
    Operator(Operator),
    Open,
    Close,
    Comma,
    End,
}

/// A token and the byte offset of its first character.
pub(super) type Placed = (Token, usize);

/// The longest condition; nesting is bounded by it, too.
const MOST_BYTES: usize = 4096;

pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, SyntaxError> {
    if text.len() > MOST_BYTES {
        let reason = format!("a condition has at most {MOST_BYTES} bytes");
        return Err(SyntaxError::new(text, MOST_BYTES, reason));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (token, length) = next(text, at, rest)?;
        tokens.push((token, at));
        at += length;
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

/// The token at the start of `rest`, with its length in bytes.
fn next(text: &str, at: usize, rest: &str) -> Result<(Token, usize), SyntaxError> {
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '(' => return Ok((Token::Open, 1)),
        ')' => return Ok((Token::Close, 1)),
        ',' => return Ok((Token::Comma, 1)),
        '"' | '\'' => return quoted(text, at, rest, first),
        '/' => return name(text, at, rest),
        _ => {}
    }
    let mut operators = Operator::ALL.into_iter();
    if let Some(operator) = operators.find(|operator| rest.starts_with(operator.sign())) {
        return Ok((Token::Operator(operator), operator.sign().len()));
    }
    if first.is_ascii_digit() || matches!(first, '-' | '+' | '.') {
        return number(text, at, rest);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = run(rest, |letter| {
            letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '/')
        });
        return Ok((
            Token::Word(rest.get(..length).unwrap_or(rest).to_owned()),
            length,
        ));
    }
    let error = SyntaxError::new(text, at, format!("unexpected character `{first}`"));
    Err(match first {
        '=' => error.hint("equality is `==`"),
        '&' => error.hint("write `and`"),
        '|' => error.hint("write `or`"),
        '!' => error.hint("write `not`"),
        _ => error,
    })
}

fn run(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|letter| !belongs(letter)).unwrap_or(rest.len())
}

fn name(text: &str, at: usize, rest: &str) -> Result<(Token, usize), SyntaxError> {
    let length = run(rest, |letter| {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '/' | '.' | '[' | ']')
    });
    let name = rest.get(..length).unwrap_or(rest);
    if name.ends_with(['/', '.']) {
        let reason = format!("`{name}` has no end");
        return Err(SyntaxError::new(text, at + length, reason));
    }
    Ok((Token::Name(name.to_owned()), length))
}

fn quoted(text: &str, at: usize, rest: &str, quote: char) -> Result<(Token, usize), SyntaxError> {
    let mut value = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((place, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter if letter == quote => return Ok((Token::Text(value), place + 1)),
            letter => value.push(letter),
        }
    }
    Err(SyntaxError::new(text, at, "the text has no closing quote"))
}

fn number(text: &str, at: usize, rest: &str) -> Result<(Token, usize), SyntaxError> {
    let is_exponent = |place: usize| {
        let before = rest.get(..place).unwrap_or_default();
        before.ends_with(['e', 'E'])
            && before
                .trim_end_matches(['e', 'E'])
                .ends_with(|c: char| c.is_ascii_digit() || c == '.')
    };
    let mut length = 0;
    for (place, letter) in rest.char_indices() {
        let sign = matches!(letter, '-' | '+') && (place == 0 || is_exponent(place));
        if !(sign || letter.is_ascii_alphanumeric() || matches!(letter, '.' | 'µ')) {
            break;
        }
        length = place + letter.len_utf8();
    }
    let word = rest.get(..length).unwrap_or(rest);
    if let Ok(value) = word.parse::<i128>() {
        return Ok((Token::Integer(value), length));
    }
    if let Some(digits) = word.strip_prefix("0x")
        && let Ok(value) = i128::from_str_radix(digits, 16)
    {
        return Ok((Token::Integer(value), length));
    }
    if let Ok(value) = word.parse::<f64>()
        && value.is_finite()
    {
        return Ok((Token::Real(value), length));
    }
    if let Ok(span) = timeloom_trace::parse_span(word) {
        return Ok((Token::Span(span.nanos()), length));
    }
    let reason = format!("`{word}` is neither a number nor a duration");
    Err(SyntaxError::new(text, at, reason).hint("durations are 200us, 80ms, 1.5s or 2min"))
}
