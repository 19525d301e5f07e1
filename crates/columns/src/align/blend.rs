//! Values between two messages.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array as _, ArrayRef, FixedSizeListArray, PrimitiveArray, StructArray};
use arrow_schema::{ArrowError, DataType, Fields};

use super::Partner;

type Result<T> = std::result::Result<T, ArrowError>;

/// Replaces floating point numbers of `taken` by values between the two messages; all other values stay.
///
/// A message with the fields x, y, z and w is a rotation: it keeps its length, and goes the shorter way.
pub(super) fn blend(
    taken: &ArrayRef,
    source: &ArrayRef,
    partners: &[Option<Partner>],
) -> Result<ArrayRef> {
    match (taken.data_type(), source.data_type()) {
        (DataType::Float32, _) => Ok(Arc::new(numbers::<Float32Type>(taken, source, partners))),
        (DataType::Float64, _) => Ok(Arc::new(numbers::<Float64Type>(taken, source, partners))),
        (DataType::Struct(fields), _) if is_rotation(fields) => rotations(taken, source, partners),
        (DataType::Struct(fields), _) => {
            let (taken, source) = (taken.as_struct(), source.as_struct());
            let children = taken.columns().iter().zip(source.columns());
            let children = children
                .map(|(taken, source)| blend(taken, source, partners))
                .collect::<Result<Vec<_>>>()?;
            let nulls = taken.nulls().cloned();
            let message =
                StructArray::try_new_with_length(fields.clone(), children, nulls, taken.len())?;
            Ok(Arc::new(message))
        }
        (DataType::FixedSizeList(item, size), _) if item.data_type().is_floating() => {
            let lists = (taken.as_fixed_size_list(), source.as_fixed_size_list());
            let elements = spread(partners, *size);
            let values = blend(lists.0.values(), lists.1.values(), &elements)?;
            let nulls = taken.nulls().cloned();
            let list = FixedSizeListArray::try_new(Arc::clone(item), *size, values, nulls)?;
            Ok(Arc::new(list))
        }
        _ => Ok(Arc::clone(taken)),
    }
}

/// The partners of the elements of arrays of a fixed size.
fn spread(partners: &[Option<Partner>], size: i32) -> Vec<Option<Partner>> {
    let size = u32::try_from(size).unwrap_or(0);
    let of_row = |partner: &Option<Partner>| {
        let partner = *partner;
        (0..size).map(move |element| {
            let partner = partner?;
            Some(Partner {
                before: partner.before.checked_mul(size)?.checked_add(element)?,
                after: partner.after.checked_mul(size)?.checked_add(element)?,
                fraction: partner.fraction,
            })
        })
    };
    partners.iter().flat_map(of_row).collect()
}

fn numbers<T: ArrowPrimitiveType>(
    taken: &ArrayRef,
    source: &ArrayRef,
    partners: &[Option<Partner>],
) -> PrimitiveArray<T>
where
    T::Native: Into<f64> + FromDouble,
{
    let (taken, source) = (taken.as_primitive::<T>(), source.as_primitive::<T>());
    let value = |row: u32| -> Option<f64> {
        let row = row as usize;
        (row < source.len() && source.is_valid(row)).then(|| source.value(row).into())
    };
    let between = |partner: &Option<Partner>| {
        let partner = (*partner)?;
        let (before, after) = (value(partner.before)?, value(partner.after)?);
        Some(T::Native::from_double(
            before + (after - before) * partner.fraction,
        ))
    };
    let blended: PrimitiveArray<T> = partners.iter().map(between).collect();
    debug_assert_eq!(taken.len(), blended.len());
    blended
}

/// Rounds to the type of the column.
trait FromDouble {
    fn from_double(value: f64) -> Self;
}

impl FromDouble for f64 {
    fn from_double(value: f64) -> Self {
        value
    }
}

impl FromDouble for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a value between two float32 is a float32"
    )]
    fn from_double(value: f64) -> Self {
        value as Self
    }
}

fn is_rotation(fields: &Fields) -> bool {
    let names = fields.iter().map(|field| field.name().as_str());
    names.eq(["x", "y", "z", "w"])
        && fields
            .iter()
            .all(|field| *field.data_type() == DataType::Float64)
}

fn rotations(
    taken: &ArrayRef,
    source: &ArrayRef,
    partners: &[Option<Partner>],
) -> Result<ArrayRef> {
    let source = source.as_struct();
    let parts: Vec<_> = source
        .columns()
        .iter()
        .map(AsArray::as_primitive::<Float64Type>)
        .collect();
    let at = |row: u32| -> Option<[f64; 4]> {
        let row = row as usize;
        let mut rotation = [0.0; 4];
        for (place, part) in rotation.iter_mut().zip(&parts) {
            *place = (row < part.len() && part.is_valid(row)).then(|| part.value(row))?;
        }
        Some(rotation)
    };
    let blended: Vec<Option<[f64; 4]>> = partners
        .iter()
        .map(|partner| {
            let partner = (*partner)?;
            Some(between(
                at(partner.before)?,
                at(partner.after)?,
                partner.fraction,
            ))
        })
        .collect();
    let column = |index: usize| -> ArrayRef {
        let values = blended
            .iter()
            .map(|it| it.and_then(|it| it.get(index).copied()));
        Arc::new(values.collect::<PrimitiveArray<Float64Type>>())
    };
    let taken = taken.as_struct();
    let (fields, nulls) = (taken.fields().clone(), taken.nulls().cloned());
    Ok(Arc::new(StructArray::try_new(
        fields,
        (0..4).map(column).collect(),
        nulls,
    )?))
}

/// The normalised mean of two rotations, the shorter way around.
fn between(before: [f64; 4], after: [f64; 4], fraction: f64) -> [f64; 4] {
    if fraction == 0.0 {
        return before;
    }
    let dot: f64 = before.iter().zip(&after).map(|(a, b)| a * b).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let mut sum = [0.0; 4];
    for (place, (a, b)) in sum.iter_mut().zip(before.iter().zip(&after)) {
        *place = a * (1.0 - fraction) + sign * b * fraction;
    }
    let length = sum.iter().map(|it| it * it).sum::<f64>().sqrt();
    if length > 0.0 {
        sum.map(|it| it / length)
    } else {
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_goes_the_shorter_way_and_keeps_its_length() {
        let none = [0.0, 0.0, 0.0, 1.0];
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let quarter_turn = [0.0, 0.0, -half, -half];
        let middle = between(none, quarter_turn, 0.5);
        let angle = 2.0 * middle[2].atan2(middle[3]);
        assert!(
            (angle - std::f64::consts::FRAC_PI_4).abs() < 1e-12,
            "{angle}"
        );
        let begin = between(none, quarter_turn, 0.0);
        assert!(begin.iter().eq(&none), "{begin:?}");
    }
}
