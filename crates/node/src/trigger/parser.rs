use super::condition::{Condition, DiagnosticLevel, FieldName, Operator, Quantity, Test};
use super::lexer::{Placed, Token, tokens};
use super::scalar::Scalar;
use super::syntax_error::SyntaxError;

/// How deep parentheses and `not` may be nested.
const DEEPEST: usize = 64;
/// The time over which messages are counted for `rate(/topic)`.
const RATE_SPAN_NS: i64 = 1_000_000_000;
/// Words with a meaning, for suggestions.
const FUNCTIONS: [&str; 9] = [
    "changed",
    "received",
    "silent",
    "absent",
    "deadline_missed",
    "lost",
    "diagnostics",
    "called",
    "rate",
];

/// Parses a condition.
///
/// ```text
/// or        = and ("or" and)*
/// and       = lasting ("and" lasting)*
/// lasting   = unary ["for" DURATION]
/// unary     = "not" unary | "(" or ")" | test
/// test      = quantity ("<" | "<=" | ">" | ">=" | "==" | "!=") value | function
/// ```
pub(super) fn parse(text: &str) -> Result<Condition, SyntaxError> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    let condition = parser.or()?;
    match parser.peek() {
        (Token::End, _) => Ok(condition),
        (token, at) => Err(parser.error(*at, format!("{} is not expected here", name_of(token)))),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Placed>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Placed {
        const END: Placed = (Token::End, usize::MAX);
        self.tokens.get(self.next).unwrap_or(&END)
    }

    fn take(&mut self) -> Placed {
        let placed = self.peek().clone();
        self.next += 1;
        placed
    }

    fn error(&self, at: usize, reason: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.text, at, reason)
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), (Token::Word(found), _) if found == word);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, wanted: &Token, name: &str) -> Result<(), SyntaxError> {
        match self.take() {
            (token, _) if token == *wanted => Ok(()),
            (token, at) => {
                let reason = format!("expected {name}, found {}", name_of(&token));
                Err(self.error(at, reason))
            }
        }
    }

    fn or(&mut self) -> Result<Condition, SyntaxError> {
        let mut parts = vec![self.and()?];
        while self.accept_word("or") {
            parts.push(self.and()?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    fn and(&mut self) -> Result<Condition, SyntaxError> {
        let mut parts = vec![self.lasting()?];
        while self.accept_word("and") {
            parts.push(self.lasting()?);
        }
        Ok(one_or(parts, Condition::All))
    }

    fn lasting(&mut self) -> Result<Condition, SyntaxError> {
        let condition = self.unary()?;
        let at = self.peek().1;
        if !self.accept_word("for") {
            return Ok(condition);
        }
        let nanos = self.span()?;
        if condition.is_momentary() {
            let reason =
                "`for` needs a condition that lasts, and this one is true for a moment only";
            return Err(self
                .error(at, reason)
                .hint("compare a field, or leave out `for`"));
        }
        Ok(Condition::Lasts {
            condition: Box::new(condition),
            nanos,
        })
    }

    fn unary(&mut self) -> Result<Condition, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let at = self.peek().1;
            return Err(self.error(at, format!("nested deeper than {DEEPEST} levels")));
        }
        let condition = if self.accept_word("not") {
            Condition::Not(Box::new(self.unary()?))
        } else if matches!(self.peek(), (Token::Open, _)) {
            self.next += 1;
            let inner = self.or()?;
            self.expect(&Token::Close, "`)`")?;
            inner
        } else {
            Condition::Test(self.test()?)
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn test(&mut self) -> Result<Test, SyntaxError> {
        match self.take() {
            (Token::Name(name), at) => {
                let field = self.field_name(&name, at)?;
                self.compare(Quantity::Field(field))
            }
            (Token::Word(word), at) if matches!(self.peek(), (Token::Open, _)) => {
                self.next += 1;
                self.function(&word, at)
            }
            (Token::Word(word), at) => Err(self.unknown_word(&word, at)),
            (token, at) => {
                let reason = format!("expected a condition, found {}", name_of(&token));
                let error = self.error(at, reason);
                Err(error.hint("for example `/battery.voltage < 11.5` or `silent(/scan, 1s)`"))
            }
        }
    }

    fn unknown_word(&self, word: &str, at: usize) -> SyntaxError {
        if word.contains(['.', '/']) {
            let reason = format!("`{word}` is not a topic: topics begin with /");
            return self.error(at, reason).hint(format!("write /{word}"));
        }
        let error = self.error(at, format!("unknown word `{word}`"));
        let words = FUNCTIONS.into_iter().chain(["and", "or", "not", "for"]);
        match timeloom_text::nearest(word, words) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("expected one of {}", FUNCTIONS.join(", "))),
        }
    }

    fn function(&mut self, word: &str, at: usize) -> Result<Test, SyntaxError> {
        let test = match word {
            "changed" => {
                let (name, at) = self.name()?;
                Test::Changed(self.field_name(&name, at)?)
            }
            "received" => Test::Received(self.topic()?),
            "called" => Test::Called {
                service: self.topic()?,
            },
            "silent" => Test::Silent {
                topic: self.topic()?,
                nanos: self.span_argument()?,
            },
            "absent" => Test::Absent {
                topic: self.topic()?,
                nanos: self.span_argument()?,
            },
            "deadline_missed" => Test::DeadlineMissed {
                topic: self.topic()?,
                nanos: self.optional_span()?,
            },
            "diagnostics" => self.diagnostics()?,
            "lost" => {
                let any = matches!(self.peek(), (Token::Close, _));
                let topic = if any { None } else { Some(self.topic()?) };
                self.expect(&Token::Close, "`)`")?;
                if matches!(self.peek(), (Token::Operator(_), _)) {
                    return self.compare(Quantity::Lost { topic });
                }
                return Ok(Test::Lost { topic });
            }
            "rate" => {
                let quantity = self.rate()?;
                self.expect(&Token::Close, "`)`")?;
                return self.compare(quantity);
            }
            word => return Err(self.unknown_word(word, at)),
        };
        self.expect(&Token::Close, "`)`")?;
        Ok(test)
    }

    fn rate(&mut self) -> Result<Quantity, SyntaxError> {
        let (name, at) = self.name()?;
        if name.contains('.') {
            return Ok(Quantity::ChangeRate(self.field_name(&name, at)?));
        }
        self.check_topic(&name, at)?;
        Ok(Quantity::MessageRate {
            topic: name,
            nanos: self.optional_span()?.unwrap_or(RATE_SPAN_NS),
        })
    }

    fn diagnostics(&mut self) -> Result<Test, SyntaxError> {
        let (token, at) = self.take();
        let level = match &token {
            Token::Word(word) => DiagnosticLevel::ALL
                .into_iter()
                .find(|level| level.name() == word.to_ascii_lowercase()),
            _ => None,
        };
        let level = level.ok_or_else(|| {
            let reason = format!("{} is not a diagnostics level", name_of(&token));
            self.error(at, reason)
                .hint("levels are warn, error and stale")
        })?;
        let name = if matches!(self.peek(), (Token::Comma, _)) {
            self.next += 1;
            match self.take() {
                (Token::Text(text), _) => Some(text),
                (token, at) => {
                    let reason = format!("expected a text in quotes, found {}", name_of(&token));
                    return Err(self.error(at, reason));
                }
            }
        } else {
            None
        };
        Ok(Test::Diagnostics { level, name })
    }

    fn compare(&mut self, quantity: Quantity) -> Result<Test, SyntaxError> {
        let operator = match self.take() {
            (Token::Operator(operator), _) => operator,
            (token, at) => {
                let reason = format!("expected a comparison, found {}", name_of(&token));
                let error = self.error(at, reason);
                return Err(error.hint(format!("for example `{quantity} < 1`")));
            }
        };
        let (token, at) = self.take();
        let value = match token {
            Token::Integer(value) => Scalar::Integer(value),
            Token::Real(value) => Scalar::Real(value),
            Token::Text(text) => Scalar::Text(text),
            Token::Word(word) if word == "true" => Scalar::Bool(true),
            Token::Word(word) if word == "false" => Scalar::Bool(false),
            token => {
                let reason = format!(
                    "expected a number, a text in quotes, true or false, found {}",
                    name_of(&token)
                );
                return Err(self.error(at, reason));
            }
        };
        let ordered = !matches!(operator, Operator::Equal | Operator::NotEqual);
        let is_number = matches!(value, Scalar::Integer(_) | Scalar::Real(_));
        if !is_number && !matches!(quantity, Quantity::Field(_)) {
            return Err(self.error(at, format!("{quantity} is a number")));
        }
        if ordered && matches!(value, Scalar::Bool(_)) {
            let reason = format!("`{}` needs a number", operator.sign());
            return Err(self
                .error(at, reason)
                .hint("truth values compare with == and !="));
        }
        Ok(Test::Compare {
            quantity,
            operator,
            value,
        })
    }

    fn name(&mut self) -> Result<(String, usize), SyntaxError> {
        match self.take() {
            (Token::Name(name), at) => Ok((name, at)),
            (Token::Word(word), at) => Err(self.unknown_word(&word, at)),
            (token, at) => {
                let reason = format!(
                    "expected a name that begins with /, found {}",
                    name_of(&token)
                );
                Err(self.error(at, reason))
            }
        }
    }

    fn topic(&mut self) -> Result<String, SyntaxError> {
        let (name, at) = self.name()?;
        if let Some((topic, _)) = name.split_once('.') {
            let reason = format!("expected a topic or service, found the field {name}");
            return Err(self.error(at, reason).hint(format!("write {topic}")));
        }
        self.check_topic(&name, at)?;
        Ok(name)
    }

    fn check_topic(&self, topic: &str, at: usize) -> Result<(), SyntaxError> {
        timeloom_msg::name::validate_full_topic_name(topic)
            .map_err(|error| self.error(at, error.to_string()))
    }

    fn field_name(&self, name: &str, at: usize) -> Result<FieldName, SyntaxError> {
        let Some((topic, path)) = name.split_once('.') else {
            let error = self.error(at, format!("{name} names no field"));
            return Err(error.hint(format!("write {name}.FIELD, or received({name})")));
        };
        self.check_topic(topic, at)?;
        if !super::field::is_path(path) {
            let reason = format!("`{path}` is not a field");
            return Err(self
                .error(at + topic.len() + 1, reason)
                .hint("fields are a.b or a[0].b"));
        }
        Ok(FieldName {
            topic: topic.to_owned(),
            path: path.to_owned(),
        })
    }

    fn span_argument(&mut self) -> Result<i64, SyntaxError> {
        self.expect(&Token::Comma, "`,` and a duration")?;
        self.span()
    }

    fn optional_span(&mut self) -> Result<Option<i64>, SyntaxError> {
        if matches!(self.peek(), (Token::Comma, _)) {
            return self.span_argument().map(Some);
        }
        Ok(None)
    }

    fn span(&mut self) -> Result<i64, SyntaxError> {
        match self.take() {
            (Token::Span(nanos), _) if nanos > 0 => Ok(nanos),
            (Token::Span(_), at) => Err(self.error(at, "a duration is more than zero")),
            (Token::Integer(number), at) => {
                let error = self.error(at, "a duration has a unit");
                Err(error.hint(format!("write {number}s or {number}ms")))
            }
            (token, at) => {
                let reason = format!("expected a duration, found {}", name_of(&token));
                Err(self.error(at, reason).hint("for example 2s or 100ms"))
            }
        }
    }
}

fn one_or(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            many(parts)
        }
    }
}

/// A token as an error names it.
fn name_of(token: &Token) -> String {
    match token {
        Token::Name(text) | Token::Word(text) => format!("`{text}`"),
        Token::Integer(number) => format!("`{number}`"),
        Token::Real(number) => format!("`{number}`"),
        Token::Span(nanos) => format!("`{}`", super::condition::span(*nanos)),
        Token::Text(text) => super::scalar::quoted(text),
        Token::Operator(operator) => format!("`{}`", operator.sign()),
        Token::Open => "`(`".to_owned(),
        Token::Close => "`)`".to_owned(),
        Token::Comma => "`,`".to_owned(),
        Token::End => "the end".to_owned(),
    }
}
