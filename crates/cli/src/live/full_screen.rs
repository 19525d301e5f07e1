//! Checks that a view can use the whole terminal.

use std::io::{self, IsTerminal as _};

use crate::context::Context;

/// Whether stdin and stdout are a terminal; prints a warning if not.
pub(crate) fn has_terminal(context: &mut Context) -> bool {
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !terminal {
        let text = "--tui needs a terminal; a status line is shown instead";
        context.printer.aside(text);
    }
    terminal
}
