//! From layouts to steps.

use super::program::{Op, Program};
use crate::definition::ArrayShape;
use crate::schema::{Element, SchemaType, StructType};

/// Steps that are being collected.
pub(super) struct Builder {
    ops: Vec<Op>,
    max_align: u64,
}

impl Builder {
    /// A program that starts at the beginning of a payload.
    pub(super) fn new(max_align: u64) -> Self {
        Self {
            ops: vec![Op::Fixed {
                align: max_align,
                size: 0,
            }],
            max_align,
        }
    }

    /// A program that starts at any offset.
    pub(super) fn anywhere(max_align: u64) -> Self {
        Self {
            ops: Vec::new(),
            max_align,
        }
    }

    pub(super) fn finish(self) -> Program {
        Program::new(self.ops)
    }

    pub(super) fn into_ops(self) -> Box<[Op]> {
        self.ops.into()
    }

    /// Steps over one field; wide characters take four bytes each.
    pub(super) fn skip(&mut self, ty: &SchemaType) {
        match ty.shape {
            ArrayShape::Single => self.skip_element(&ty.element),
            ArrayShape::Fixed(n) => match self.element_ops(&ty.element).as_slice() {
                [Op::Fixed { align, size }] => {
                    let stride = size.checked_next_multiple_of(*align).unwrap_or(u64::MAX);
                    let before_last = u64::from(n).saturating_sub(1).saturating_mul(stride);
                    self.fixed(*align, before_last.saturating_add(*size));
                }
                ops => self.repeat(Some(n), &ty.element, ops),
            },
            ArrayShape::Bounded(_) | ArrayShape::Unbounded => {
                match self.element_ops(&ty.element).as_slice() {
                    [Op::Fixed { align, size }] => self.ops.push(Op::Sequence {
                        align: *align,
                        size: *size,
                    }),
                    ops => self.repeat(None, &ty.element, ops),
                }
            }
        }
    }

    fn skip_element(&mut self, element: &Element) {
        match element {
            Element::Primitive(primitive) => {
                let size = primitive.size() as u64;
                self.fixed(size.min(self.max_align), size);
            }
            Element::String(_) => self.ops.push(Op::String),
            Element::WString(_) => self.ops.push(Op::Sequence { align: 4, size: 4 }),
            Element::Struct(ty) => self.skip_struct(ty),
        }
    }

    fn skip_struct(&mut self, ty: &StructType) {
        if ty.fields().is_empty() {
            self.fixed(1, 1);
        }
        ty.fields().iter().for_each(|field| self.skip(field.ty()));
    }

    /// The steps over one element.
    fn element_ops(&self, element: &Element) -> Vec<Op> {
        let mut inner = Self::anywhere(self.max_align);
        inner.skip_element(element);
        inner.ops
    }

    /// Adds fixed bytes to the run before, if its alignment determines their offset.
    fn fixed(&mut self, align: u64, size: u64) {
        match self.ops.last_mut() {
            Some(Op::Fixed {
                align: base,
                size: sum,
            }) if align <= *base => {
                let start = sum.checked_next_multiple_of(align).unwrap_or(u64::MAX);
                *sum = start.saturating_add(size);
            }
            _ => self.ops.push(Op::Fixed { align, size }),
        }
    }

    fn repeat(&mut self, count: Option<u32>, element: &Element, ops: &[Op]) {
        self.ops.push(Op::Repeat {
            count,
            min_size: element.min_size(),
            body: ops.into(),
        });
    }
}
