//! The parser of IDL: a position in the tokens and its moves.

use std::collections::BTreeMap;

use super::lexer::{Placed, Token};
use crate::Result;
use crate::definition::{Constant, FieldType, MessageDefinition, Source};
use crate::name::is_identifier;

/// Deepest accepted nesting of modules; ROS uses three.
const MAX_MODULES: usize = 8;

/// The state of a parse.
pub(super) struct Parser<'a> {
    name: &'a str,
    tokens: &'a [Placed<'a>],
    at: usize,
    /// The names of the open modules.
    pub(super) scopes: Vec<&'a str>,
    /// Types by their scoped name, such as `p::msg::double__9`.
    pub(super) typedefs: BTreeMap<String, FieldType>,
    /// Constants by the struct that they belong to.
    pub(super) constants: BTreeMap<String, Vec<Constant>>,
    pub(super) messages: Vec<MessageDefinition>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(name: &'a str, tokens: &'a [Placed<'a>]) -> Self {
        Self {
            name,
            tokens,
            at: 0,
            scopes: Vec::new(),
            typedefs: BTreeMap::new(),
            constants: BTreeMap::new(),
            messages: Vec::new(),
        }
    }

    pub(super) fn parse(mut self) -> Result<Vec<MessageDefinition>> {
        while self.peek().is_some() {
            if !self.scopes.is_empty() && self.accept('}') {
                self.accept(';');
                self.scopes.pop();
            } else {
                self.definition()?;
            }
        }
        if !self.scopes.is_empty() {
            return Err(self.expected("`}`"));
        }
        for message in &mut self.messages {
            if let Some(constants) = self.constants.remove(message.name.name()) {
                message.constants = constants;
            }
        }
        Ok(self.messages)
    }

    fn definition(&mut self) -> Result<()> {
        self.annotations()?;
        match self.peek() {
            Some(Token::Word("module")) => {
                self.at += 1;
                let name = self.word()?;
                self.expect('{')?;
                self.scopes.push(name);
                if self.scopes.len() > MAX_MODULES {
                    return Err(self.expected(&format!("at most {MAX_MODULES} nested modules")));
                }
                Ok(())
            }
            Some(Token::Word("struct")) => self.structure(),
            Some(Token::Word("typedef")) => self.typedef(),
            Some(Token::Word("const")) => self.constant(),
            _ => Err(self.expected("`module`, `struct`, `typedef` or `const`")),
        }
    }

    /// The current token.
    pub(super) fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    /// Steps over the current token and returns it.
    pub(super) fn advance(&mut self) -> Option<&'a Token<'a>> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    /// Steps over `c` if it is the current token.
    pub(super) fn accept(&mut self, c: char) -> bool {
        let here = self.peek() == Some(&Token::Punctuation(c));
        self.at += usize::from(here);
        here
    }

    pub(super) fn expect(&mut self, c: char) -> Result<()> {
        if self.accept(c) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{c}`")))
        }
    }

    /// A keyword or a name.
    pub(super) fn word(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(Token::Word(word)) if !is_identifier(word) => {
                Err(self.expected("a name of at most 255 characters"))
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected("a name")),
        }
    }

    /// The position of the current token, or of the last one at the end.
    pub(super) fn source(&self) -> Source<'a> {
        let placed = self.tokens.get(self.at).or(self.tokens.last());
        Source {
            name: self.name,
            line: placed.map_or(1, |placed| placed.line),
        }
    }

    pub(super) fn expected(&self, expected: &str) -> crate::Error {
        let found = self.peek().map(Token::excerpt).unwrap_or_default();
        self.source().expected(expected, &found)
    }
}
