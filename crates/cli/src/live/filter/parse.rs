//! From text to an expression, by recursive descent with a bound on its depth.

use super::{Comparison, Expression, Operand};

/// Parentheses and negations that stand inside each other at most.
const DEEPEST: usize = 64;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(Operand),
    Text(String),
    /// A word, or a path such as `m.points[0].x`.
    Word(String),
    Sign(&'static str),
}

const SIGNS: [&str; 8] = ["==", "!=", "<=", ">=", "<", ">", "(", ")"];

pub(super) fn expression(text: &str) -> Result<Expression, String> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    let expression = parser.any()?;
    match parser.tokens.get(parser.next) {
        None => Ok(expression),
        Some(token) => Err(format!("unexpected {}", name(token))),
    }
}

fn name(token: &Token) -> String {
    match token {
        Token::Number(Operand::Whole(number)) => number.to_string(),
        Token::Number(Operand::Real(number)) => number.to_string(),
        Token::Number(_) => "a number".to_owned(),
        Token::Text(text) => format!("'{text}'"),
        Token::Word(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign))
        {
            (Token::Sign(sign), sign.len())
        } else if first == '\'' || first == '"' {
            let inner = &rest[1..];
            let end = inner.find(first).ok_or("a text has no end")?;
            (Token::Text(inner[..end].to_owned()), end + 2)
        } else if first.is_ascii_digit() || matches!(first, '-' | '+' | '.') {
            number(rest)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let inside = |letter: char| letter.is_ascii_alphanumeric() || "_.[]".contains(letter);
            let end = rest.find(|letter| !inside(letter)).unwrap_or(rest.len());
            (Token::Word(rest[..end].to_owned()), end)
        } else {
            return Err(format!("`{first}` is not understood"));
        };
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let bytes = rest.as_bytes();
    let mut end = 1;
    while let Some(byte) = bytes.get(end) {
        let exponent = matches!(bytes[end - 1], b'e' | b'E') && matches!(byte, b'-' | b'+');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || exponent) {
            break;
        }
        end += 1;
    }
    let text = &rest[..end];
    let operand = match (text.parse(), text.parse()) {
        (Ok(whole), _) => Operand::Whole(whole),
        (_, Ok(real)) => Operand::Real(real),
        _ => return Err(format!("`{text}` is not a number")),
    };
    Ok((Token::Number(operand), end))
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn word(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.next) == Some(&Token::Word(word.to_owned()));
        self.next += usize::from(found);
        found
    }

    fn sign(&mut self, sign: &'static str) -> bool {
        let found = self.tokens.get(self.next) == Some(&Token::Sign(sign));
        self.next += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.all()?];
        while self.word("or") {
            parts.push(self.all()?);
        }
        Ok(alone_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.negation()?];
        while self.word("and") {
            parts.push(self.negation()?);
        }
        Ok(alone_or(parts, Expression::All))
    }

    fn negation(&mut self) -> Result<Expression, String> {
        if !self.word("not") {
            return self.comparison();
        }
        self.deeper()?;
        let inner = self.negation()?;
        self.depth -= 1;
        Ok(Expression::Not(Box::new(inner)))
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} levels"));
        }
        Ok(())
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        let left = self.term()?;
        let known = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let mut found = known.into_iter().find(|(sign, _)| self.sign(sign));
        if found.is_none() && self.word("in") {
            found = Some(("in", Comparison::In));
        }
        let Some((_, comparison)) = found else {
            return Ok(left);
        };
        let right = self.term()?;
        Ok(Expression::Compare(
            Box::new(left),
            comparison,
            Box::new(right),
        ))
    }

    fn term(&mut self) -> Result<Expression, String> {
        if self.sign("(") {
            return self.enclosed();
        }
        if self.word("len") {
            if !self.sign("(") {
                return Err("expected `(` after len".to_owned());
            }
            return Ok(Expression::Length(Box::new(self.enclosed()?)));
        }
        let token = self.tokens.get(self.next).cloned();
        self.next += 1;
        match token {
            Some(Token::Number(number)) => Ok(Expression::Constant(number)),
            Some(Token::Text(text)) => Ok(Expression::Constant(Operand::Text(text))),
            Some(Token::Word(word)) => of_word(&word),
            Some(token) => Err(format!("unexpected {}", name(&token))),
            None => Err("something is missing at the end".to_owned()),
        }
    }

    /// The expression in parentheses; the opening one was read.
    fn enclosed(&mut self) -> Result<Expression, String> {
        self.deeper()?;
        let inner = self.any()?;
        self.depth -= 1;
        if self.sign(")") {
            Ok(inner)
        } else {
            Err("a `)` is missing".to_owned())
        }
    }
}

fn alone_or(
    mut parts: Vec<Expression>,
    many: impl Fn(Vec<Expression>) -> Expression,
) -> Expression {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        many(parts)
    }
}

fn of_word(word: &str) -> Result<Expression, String> {
    match word {
        "True" | "true" => Ok(Expression::Constant(Operand::Bool(true))),
        "False" | "false" => Ok(Expression::Constant(Operand::Bool(false))),
        "m" => Ok(Expression::Field(String::new())),
        _ => match word.strip_prefix("m.") {
            Some(path) if !path.is_empty() => Ok(Expression::Field(path.to_owned())),
            _ => Err(format!("`{word}` is not understood")),
        },
    }
}
