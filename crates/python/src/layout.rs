//! The fields of a message type as Python objects need them: built once for each type, shared by all messages.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use timeloom_msg::SkipProgram;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Element, SchemaType, StructType};

/// The names and types of the fields.
#[derive(Debug)]
pub(crate) struct Layout {
    name: String,
    fields: Vec<LayoutField>,
    /// Steps over a whole message.
    skip: SkipProgram,
}

/// A field.
#[derive(Debug)]
pub(crate) struct LayoutField {
    /// Interned, as names of attributes in Python code are: most look-ups compare addresses.
    pub(crate) name: Py<PyString>,
    text: String,
    /// `None` for a message that was made in Python.
    pub(crate) ty: Option<SchemaType>,
    /// Steps over the field.
    pub(crate) skip: SkipProgram,
    /// The type of nested messages.
    pub(crate) nested: Option<Arc<Layout>>,
}

impl Layout {
    /// The layout of a type.
    pub(crate) fn of(py: Python<'_>, ty: &Arc<StructType>) -> Self {
        let fields = ty.fields().iter().map(|field| LayoutField {
            name: PyString::intern(py, field.name()).unbind(),
            text: field.name().to_owned(),
            ty: Some(field.ty().clone()),
            skip: SkipProgram::compile([field.ty()]),
            nested: match &field.ty().element {
                Element::Struct(inner) => Some(Arc::new(Self::of(py, inner))),
                _ => None,
            },
        });
        let message = SchemaType {
            element: Element::Struct(Arc::clone(ty)),
            shape: ArrayShape::Single,
        };
        Self {
            name: ty.name().to_string(),
            fields: fields.collect(),
            skip: SkipProgram::compile([&message]),
        }
    }

    /// The layout of a message that was made in Python.
    pub(crate) fn untyped(py: Python<'_>, name: String, fields: Vec<String>) -> Self {
        let fields = fields.into_iter().map(|text| LayoutField {
            name: PyString::intern(py, &text).unbind(),
            text,
            ty: None,
            skip: SkipProgram::compile([]),
            nested: None,
        });
        Self {
            name,
            fields: fields.collect(),
            skip: SkipProgram::compile([]),
        }
    }

    /// The full name of the type.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Steps over a message of this type.
    pub(crate) fn skip(&self) -> &SkipProgram {
        &self.skip
    }

    pub(crate) fn fields(&self) -> &[LayoutField] {
        &self.fields
    }

    /// The number of the field with a name.
    pub(crate) fn find(&self, name: &Bound<'_, PyString>) -> Option<usize> {
        let same = |field: &LayoutField| field.name.is(name);
        let found = self.fields.iter().position(same);
        found.or_else(|| {
            // Names of attributes are interned; those that a program puts together need not be.
            let text = name.to_cow().ok()?;
            let equal = |field: &LayoutField| field.text == text;
            self.fields.iter().position(equal)
        })
    }
}
