//! The real binary, at the boundary of its process: exit code, stdout and stderr.

mod bad_input;
mod cat;
mod convert;
mod export;
mod help;
mod info;
mod list;
mod options_file;
mod repair;
mod support;
