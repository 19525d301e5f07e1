//! The fields of a type that are read, and those that are skipped.

use std::sync::Arc;

use timeloom_msg::cdr::Cursor;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::{Schema, SkipProgram};

use crate::{Column, Error, Result};

/// One step through a payload, in wire order.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Reads a field into the column with this index.
    Read(usize),
    /// Steps over fields.
    Skip(SkipProgram),
}

/// The columns of a type and the steps that fill them.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) names: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) steps: Vec<Step>,
}

impl Layout {
    /// All fields of a type, or those at the given paths; a path becomes one column of that name.
    pub(crate) fn new(schema: &Schema, fields: Option<&[String]>) -> Result<Self> {
        let root = schema.root();
        let all: Vec<String> = root
            .fields()
            .iter()
            .map(|it| it.name().to_owned())
            .collect();
        let mut paths = fields.map_or(all, <[String]>::to_vec);
        let mut seen = std::collections::BTreeSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        check_overlap(&paths)?;
        let mut columns = Vec::with_capacity(paths.len());
        for path in &paths {
            columns.push(Column::new(find(root, path)?));
        }
        let mut steps = Steps::default();
        steps.add(root, "", &paths);
        Ok(Self {
            names: paths,
            columns,
            steps: steps.list,
        })
    }
}

fn check_overlap(paths: &[String]) -> Result<()> {
    for path in paths {
        let whole = paths.iter().find(|whole| {
            path.strip_prefix(whole.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        });
        if let Some(whole) = whole {
            return Err(Error::Overlap {
                path: path.clone(),
                whole: whole.clone(),
            });
        }
    }
    Ok(())
}

/// The type of the field at a path.
fn find<'a>(root: &'a Arc<StructType>, path: &str) -> Result<&'a SchemaType> {
    let mut message = root;
    let mut names = path.split('.').peekable();
    loop {
        let name = names.next().unwrap_or_default();
        let unknown = || Error::UnknownField {
            type_name: root.name().to_string(),
            path: path.to_owned(),
            known: message
                .fields()
                .iter()
                .map(|it| it.name().to_owned())
                .collect(),
        };
        let (_, field) = message.field(name).ok_or_else(unknown)?;
        if names.peek().is_none() {
            return Ok(field.ty());
        }
        match (&field.ty().element, field.ty().shape) {
            (Element::Struct(inner), ArrayShape::Single) => message = inner,
            _ => return Err(unknown()),
        }
    }
}

/// Steps as they are collected; fields after the last one that is read are never skipped.
#[derive(Default)]
struct Steps<'a> {
    list: Vec<Step>,
    skipped: Vec<&'a SchemaType>,
}

impl<'a> Steps<'a> {
    fn add(&mut self, message: &'a StructType, prefix: &str, paths: &[String]) {
        for field in message.fields() {
            let path = format!("{prefix}{}", field.name());
            if let Some(column) = paths.iter().position(|wanted| *wanted == path) {
                if !self.skipped.is_empty() {
                    let skipped = self.skipped.drain(..);
                    self.list.push(Step::Skip(SkipProgram::compile(skipped)));
                }
                self.list.push(Step::Read(column));
                continue;
            }
            let below = format!("{path}.");
            match &field.ty().element {
                Element::Struct(inner) if paths.iter().any(|it| it.starts_with(&below)) => {
                    self.add(inner, &below, paths);
                }
                _ => self.skipped.push(field.ty()),
            }
        }
    }
}

/// Reads a payload along the steps.
pub(crate) fn read(
    steps: &[Step],
    columns: &mut [Column],
    cursor: &mut Cursor<'_>,
) -> timeloom_msg::Result<()> {
    for step in steps {
        match step {
            Step::Read(column) => {
                if let Some(column) = columns.get_mut(*column) {
                    column.read(cursor)?;
                }
            }
            Step::Skip(fields) => cursor.skip(fields)?,
        }
    }
    Ok(())
}
