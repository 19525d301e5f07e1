//! The one error type of this crate.

use datafusion::error::DataFusionError;

/// Errors of queries.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A bag could not be opened.
    #[error("{bag}: {source}")]
    Bag {
        /// The bag as it was given.
        bag: String,
        /// The reason.
        source: timeloom_bag::Error,
    },
    /// No bag was given.
    #[error("there is no bag to query")]
    NoBags,
    /// A query names a table that does not exist.
    #[error("there is no table {name}")]
    UnknownTable {
        /// The name in the query.
        name: String,
        /// All tables.
        tables: Vec<String>,
    },
    /// A topic has several types, so that it is several tables.
    #[error("topic {topic} has {} types in these bags", tables.len())]
    SeveralTypes {
        /// The topic.
        topic: String,
        /// Its tables, one for each type.
        tables: Vec<String>,
    },
    /// The text is not a query that can be planned.
    #[error("{message}")]
    Sql {
        /// What is wrong with it.
        message: String,
    },
    /// The query needs more memory than it may have.
    #[error("the query needs more memory than it may have: {message}")]
    Memory {
        /// The missing resource.
        message: String,
    },
    /// The query failed while it ran.
    #[error("the query failed: {message}")]
    Run {
        /// Why.
        message: String,
    },
    /// The result could not be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] std::io::Error),
    /// The threads for the query could not be started.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
}

/// Shorthand for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the engine before anything ran.
    pub(crate) fn plan(error: &DataFusionError) -> Self {
        Self::Sql {
            message: text(error),
        }
    }

    /// An error of the engine while rows came.
    pub(crate) fn run(error: &DataFusionError) -> Self {
        let message = text(error);
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => Self::Memory { message },
            _ => Self::Run { message },
        }
    }
}

/// The first line of what the engine says, without its own names for kinds of errors.
fn text(error: &DataFusionError) -> String {
    let message = match error.find_root() {
        DataFusionError::SQL(error, _) => error.to_string(),
        other => other.message().into_owned(),
    };
    let line = message.lines().next().unwrap_or_default().trim();
    line.strip_suffix('.').unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::parser::ParserError;

    use super::*;

    #[test]
    fn the_kind_of_an_error_of_datafusion_is_kept() {
        let error = DataFusionError::ResourcesExhausted("10 bytes".into());
        assert!(matches!(Error::run(&error), Error::Memory { .. }));
        let error = DataFusionError::Plan("No field named x.\nDid you".into());
        assert_eq!(Error::plan(&error).to_string(), "No field named x");
        let error = ParserError::ParserError("Expected: x".into());
        let error = DataFusionError::SQL(Box::new(error), None);
        assert_eq!(
            Error::plan(&error).to_string(),
            "sql parser error: Expected: x"
        );
    }
}
