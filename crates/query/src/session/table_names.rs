//! Tables that a query names and that do not exist: said before it is planned, with those that do.

use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::resolve::resolve_table_references;

use super::Session;
use crate::{Error, Result};

impl Session {
    pub(super) fn check_tables(&self, sql: &str) -> Result<()> {
        let Ok(statements) = DFParser::parse_sql(sql) else {
            // What is wrong with the text is said by the planner.
            return Ok(());
        };
        for statement in &statements {
            for name in names(statement) {
                self.check_table(&name)?;
            }
        }
        Ok(())
    }

    fn check_table(&self, name: &str) -> Result<()> {
        let registered = &self.registered;
        let is_function = || self.context.state().table_functions().contains_key(name);
        if registered.tables.iter().any(|table| table == name) || is_function() {
            return Ok(());
        }
        if let Some(tables) = registered.several.get(name) {
            return Err(Error::SeveralTypes {
                topic: name.to_owned(),
                tables: tables.clone(),
            });
        }
        Err(Error::UnknownTable {
            name: name.to_owned(),
            tables: registered.tables.clone(),
        })
    }
}

/// The bare names of tables; `information_schema.tables` and its like are not ours to judge.
fn names(statement: &Statement) -> Vec<String> {
    let Ok((tables, _)) = resolve_table_references(statement, true) else {
        return Vec::new();
    };
    let bare = tables.into_iter().filter(|table| table.schema().is_none());
    bare.map(|table| table.table().to_owned()).collect()
}
