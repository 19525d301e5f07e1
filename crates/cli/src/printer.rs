//! Data to stdout, everything else to stderr.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use clap::ValueEnum;

use crate::environment::{CLICOLOR_FORCE, NO_COLOR, TIMELOOM_NO_PROGRESS, is_set, text};
use crate::hint::hint_for;
use crate::log_level::LogLevel;
use crate::logging;
use crate::plain_text::plain_text;

const OUT_BUFFER: usize = 64 << 10;
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[1;36m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The two outputs of the process. Lines for people are lower-case and without a final period.
pub(crate) struct Printer {
    out: BufWriter<Stdout>,
    colors: bool,
    terminal: bool,
    level: LogLevel,
}

impl Printer {
    pub(crate) fn new(choice: ColorChoice) -> Self {
        let terminal = io::stderr().is_terminal();
        let colors = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if is_set(NO_COLOR) => false,
            ColorChoice::Auto if is_set(CLICOLOR_FORCE) => text(CLICOLOR_FORCE) != "0",
            ColorChoice::Auto => terminal,
        };
        Self {
            out: BufWriter::with_capacity(OUT_BUFFER, io::stdout()),
            colors,
            terminal,
            level: LogLevel::default(),
        }
    }

    /// Sets the level of messages on stderr.
    pub(crate) fn set_level(&mut self, level: LogLevel) {
        self.level = level;
        if self.shows(LogLevel::Debug) {
            logging::debug();
        }
    }

    /// Whether messages of that level are printed.
    pub(crate) fn shows(&self, level: LogLevel) -> bool {
        self.level <= level
    }

    /// Stdout, buffered.
    pub(crate) fn data(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Whether to use colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.colors
    }

    /// Whether stderr is a terminal that can show a progress line.
    pub(crate) fn shows_progress(&self) -> bool {
        self.terminal && !is_set(TIMELOOM_NO_PROGRESS)
    }

    /// The error with its causes, and the hint.
    pub(crate) fn error(&mut self, error: &anyhow::Error) {
        self.line("error", RED, &chain_text(error));
        if let Some(hint) = hint_for(error) {
            self.hint(&hint);
        }
    }

    /// A warning.
    pub(crate) fn warning(&mut self, text: &str) {
        if self.shows(LogLevel::Warn) {
            self.loss(text);
        }
    }

    /// A loss: printed at every log level, because the exit code promises the count.
    pub(crate) fn loss(&mut self, text: &str) {
        self.line("warning", YELLOW, text);
    }

    /// A detail for debugging.
    pub(crate) fn debug(&mut self, text: &str) {
        if self.shows(LogLevel::Debug) {
            self.line("debug", DIM, text);
        }
    }

    /// Several warnings.
    pub(crate) fn warnings(&mut self, texts: &[String]) {
        for text in texts {
            self.warning(text);
        }
    }

    /// A hint, after an empty line.
    pub(crate) fn hint(&mut self, text: &str) {
        self.write("\n");
        self.line("hint", CYAN, text);
    }

    /// A plain line.
    pub(crate) fn note(&mut self, text: &str) {
        if self.shows(LogLevel::Info) {
            self.write(&format!("{}\n", plain_text(text)));
        }
    }

    /// A plain line, dimmed on a terminal.
    pub(crate) fn aside(&mut self, text: &str) {
        if self.colors && self.shows(LogLevel::Info) {
            self.write(&format!("{DIM}{}{RESET}\n", plain_text(text)));
        } else {
            self.note(text);
        }
    }

    /// Prints tables and other text for people on stdout.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(plain_text(text).as_bytes())
    }

    fn line(&mut self, label: &str, color: &str, text: &str) {
        let text = plain_text(text);
        let line = if self.colors {
            format!("{color}{label}:{RESET} {text}\n")
        } else {
            format!("{label}: {text}\n")
        };
        self.write(&line);
    }

    fn write(&mut self, text: &str) {
        // Data first, so that both outputs on one terminal stay in order; a closed one must not hide the other.
        let _flushed = self.out.flush();
        let _written = io::stderr().write_all(text.as_bytes());
    }
}

/// An error and its causes, without those that the text before them ends with.
fn chain_text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = text + separator + &cause;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_cause_is_not_repeated() {
        let source = || io::Error::from(ErrorKind::NotFound);
        let error = timeloom_bag::Error::Io {
            path: "bag".into(),
            action: "open",
            source: source(),
        };
        let error = anyhow::Error::new(error).context("first");
        assert_eq!(
            chain_text(&error),
            format!("first: cannot open bag: {}", source())
        );
    }
}
