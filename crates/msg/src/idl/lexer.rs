//! Tokens of IDL.

use crate::Result;
use crate::definition::Source;

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a str),
    /// A number, with its sign.
    Number(&'a str),
    /// The value of a string literal.
    Text(String),
    /// A single character, or `::` as `:`.
    Punctuation(char),
}

/// A token and its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed<'a> {
    pub(super) token: Token<'a>,
    pub(super) line: u32,
}

impl Token<'_> {
    /// The token as an error shows it.
    pub(super) fn excerpt(&self) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => (*text).to_owned(),
            Self::Text(text) => format!("\"{text}\""),
            Self::Punctuation(':') => "::".to_owned(),
            Self::Punctuation(c) => c.to_string(),
        }
    }
}

/// Splits a text into tokens; comments and preprocessor lines are dropped.
pub(super) fn tokenize<'a>(name: &str, text: &'a str, first: u32) -> Result<Vec<Placed<'a>>> {
    let mut lexer = Lexer {
        name,
        rest: text,
        line: first,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank()?;
        let line = lexer.line;
        match lexer.next_token()? {
            Some(token) => tokens.push(Placed { token, line }),
            None => return Ok(tokens),
        }
    }
}

struct Lexer<'n, 'a> {
    name: &'n str,
    rest: &'a str,
    line: u32,
}

impl<'a> Lexer<'_, 'a> {
    fn source(&self) -> Source<'_> {
        Source {
            name: self.name,
            line: self.line,
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        let newlines = head.bytes().filter(|b| *b == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        self.rest = tail;
        head
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn skip_blank(&mut self) -> Result<()> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.take_while(|c| c != '\n');
            } else if let Some(body) = self.rest.strip_prefix("/*") {
                let missing = || self.source().expected("`*/` at the end of the comment", "");
                let end = body.find("*/").ok_or_else(missing)?;
                self.take(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn next_token(&mut self) -> Result<Option<Token<'a>>> {
        let Some(c) = self.rest.chars().next() else {
            return Ok(None);
        };
        if self.rest.starts_with("L\"") {
            self.take(1);
            return self.string('"').map(Some);
        }
        let token = match c {
            'a'..='z' | 'A'..='Z' | '_' => {
                Token::Word(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'))
            }
            '0'..='9' | '+' | '-' | '.' => Token::Number(self.number()),
            '"' | '\'' => self.string(c)?,
            ':' if self.rest.starts_with("::") => {
                self.take(2);
                Token::Punctuation(':')
            }
            '{' | '}' | '(' | ')' | '[' | ']' | '<' | '>' | '@' | ',' | ';' | '=' => {
                self.take(1);
                Token::Punctuation(c)
            }
            _ => return Err(self.source().expected("a token of IDL", &c.to_string())),
        };
        Ok(Some(token))
    }

    fn number(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        while let Some(&b) = bytes.get(end) {
            let sign = matches!(b, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            if !sign && !b.is_ascii_alphanumeric() && b != b'.' {
                break;
            }
            end += 1;
        }
        self.take(end)
    }

    fn string(&mut self, quote: char) -> Result<Token<'a>> {
        let start = self.source();
        let mut value = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        let end = loop {
            match chars.next() {
                Some((at, c)) if c == quote => break at,
                Some((_, '\\')) => match chars.next() {
                    Some((_, escaped)) => value.push(unescape(escaped)),
                    None => return Err(start.expected("a closing quote", "")),
                },
                Some((_, c)) => value.push(c),
                None => return Err(start.expected("a closing quote", "")),
            }
        };
        self.take(end + 1);
        Ok(Token::Text(value))
    }
}

fn unescape(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        other => other,
    }
}
