//! Conditions of a query on time, bag, topic and type.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

use super::column::{Column, Source};

/// Conditions that are answered by the index of a bag, before a message is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bounds {
    /// Earliest log time, inclusive.
    pub(crate) start_ns: Option<i64>,
    /// Latest log time, inclusive.
    pub(crate) end_ns: Option<i64>,
    pub(crate) bags: Option<BTreeSet<String>>,
    pub(crate) topics: Option<BTreeSet<String>>,
    pub(crate) types: Option<BTreeSet<String>>,
}

/// The contents of a bounded column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    LogTime,
    Bag,
    Topic,
    Type,
}

impl Bounds {
    /// The exact bounds of a condition; `None` when the index cannot answer it.
    pub(crate) fn of(condition: &Expr, columns: &[Column]) -> Option<Self> {
        match condition {
            Expr::BinaryExpr(binary) if binary.op == Operator::And => {
                let left = Self::of(&binary.left, columns)?;
                Some(left.and(Self::of(&binary.right, columns)?))
            }
            Expr::BinaryExpr(binary) if binary.op == Operator::Or => {
                Self::of(&binary.left, columns)?.or(Self::of(&binary.right, columns)?)
            }
            Expr::BinaryExpr(binary) => {
                let (column, op, literal) = match bound(&binary.left, columns) {
                    Some(column) => (column, binary.op, &binary.right),
                    None => (
                        bound(&binary.right, columns)?,
                        binary.op.swap()?,
                        &binary.left,
                    ),
                };
                Self::compare(column, op, literal)
            }
            Expr::Between(between) if !between.negated => {
                let column = bound(&between.expr, columns)?;
                let low = Self::compare(column, Operator::GtEq, &between.low)?;
                Some(low.and(Self::compare(column, Operator::LtEq, &between.high)?))
            }
            Expr::InList(list) if !list.negated => {
                let column = bound(&list.expr, columns)?;
                let texts = list.list.iter().map(text).collect::<Option<_>>()?;
                Self::one_of(column, texts)
            }
            _ => None,
        }
    }

    fn compare(column: Bound, op: Operator, literal: &Expr) -> Option<Self> {
        if column != Bound::LogTime {
            let texts = (op == Operator::Eq).then(|| text(literal))??;
            return Self::one_of(column, BTreeSet::from([texts]));
        }
        let time = nanos(literal)?;
        let (start_ns, end_ns) = match op {
            Operator::Eq => (Some(time), Some(time)),
            Operator::GtEq => (Some(time), None),
            // Beyond the last time there is nothing, and no bound can say that: leave it to the engine.
            Operator::Gt => (Some(time.checked_add(1)?), None),
            Operator::LtEq => (None, Some(time)),
            Operator::Lt => (None, Some(time.checked_sub(1)?)),
            _ => return None,
        };
        Some(Self {
            start_ns,
            end_ns,
            ..Self::default()
        })
    }

    fn one_of(column: Bound, texts: BTreeSet<String>) -> Option<Self> {
        let mut bounds = Self::default();
        *bounds.texts_mut(column)? = Some(texts);
        Some(bounds)
    }

    fn texts_mut(&mut self, column: Bound) -> Option<&mut Option<BTreeSet<String>>> {
        match column {
            Bound::LogTime => None,
            Bound::Bag => Some(&mut self.bags),
            Bound::Topic => Some(&mut self.topics),
            Bound::Type => Some(&mut self.types),
        }
    }

    /// Both conditions together.
    pub(crate) fn and(self, other: Self) -> Self {
        let both = |a: Option<BTreeSet<String>>, b: Option<BTreeSet<String>>| match (a, b) {
            (Some(a), Some(b)) => Some(a.intersection(&b).cloned().collect()),
            (a, b) => a.or(b),
        };
        Self {
            start_ns: self.start_ns.into_iter().chain(other.start_ns).max(),
            end_ns: self.end_ns.into_iter().chain(other.end_ns).min(),
            bags: both(self.bags, other.bags),
            topics: both(self.topics, other.topics),
            types: both(self.types, other.types),
        }
    }

    /// Either condition, when both are about the names of the same column only.
    fn or(mut self, mut other: Self) -> Option<Self> {
        [Bound::Bag, Bound::Topic, Bound::Type]
            .into_iter()
            .find_map(|column| {
                let own = self.texts_mut(column)?.take();
                let others = other.texts_mut(column)?.take();
                match (own, others) {
                    (Some(a), Some(b)) => Some((column, a.union(&b).cloned().collect())),
                    (None, None) => None,
                    // Put one of them back, so that the check below finds the difference.
                    (own, others) => {
                        *self.texts_mut(column)? = own.or(others);
                        None
                    }
                }
            })
            .filter(|_| self == Self::default() && other == Self::default())
            .and_then(|(column, texts)| Self::one_of(column, texts))
    }

    /// Whether there is no bound of time.
    pub(crate) fn is_all_time(&self) -> bool {
        self.start_ns.is_none() && self.end_ns.is_none()
    }

    pub(crate) fn takes_bag(&self, name: &str) -> bool {
        takes(self.bags.as_ref(), name)
    }

    pub(crate) fn takes_topic(&self, name: &str, type_name: &str) -> bool {
        takes(self.topics.as_ref(), name) && takes(self.types.as_ref(), type_name)
    }
}

fn takes(names: Option<&BTreeSet<String>>, name: &str) -> bool {
    names.is_none_or(|names| names.contains(name))
}

/// The column of an expression, if a bound can be put on it; as a number or as a time.
fn bound(expr: &Expr, columns: &[Column]) -> Option<Bound> {
    match expr {
        Expr::Column(column) => {
            let found = columns.iter().find(|known| known.name == column.name)?;
            match found.source {
                Source::LogTime => Some(Bound::LogTime),
                Source::Bag => Some(Bound::Bag),
                Source::Topic => Some(Bound::Topic),
                Source::Type => Some(Bound::Type),
                _ => None,
            }
        }
        Expr::Cast(cast) if *cast.field.data_type() == DataType::Int64 => {
            bound(&cast.expr, columns).filter(|bound| *bound == Bound::LogTime)
        }
        _ => None,
    }
}

fn nanos(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(
            ScalarValue::TimestampNanosecond(Some(time), _) | ScalarValue::Int64(Some(time)),
            _,
        ) => Some(*time),
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{cast, col, lit};

    use super::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("bag", Source::Bag),
            Column::new("topic", Source::Topic),
            Column::new("log_time", Source::LogTime),
            Column::new("size", Source::Size),
        ]
    }

    fn of(condition: &Expr) -> Option<Bounds> {
        Bounds::of(condition, &columns())
    }

    fn time(nanos: i64) -> Expr {
        lit(ScalarValue::TimestampNanosecond(Some(nanos), None))
    }

    #[test]
    fn times_become_inclusive_bounds() {
        let both = col("log_time").gt(time(4)).and(time(9).gt(col("log_time")));
        let bounds = of(&both).unwrap();
        assert_eq!((bounds.start_ns, bounds.end_ns), (Some(5), Some(8)));
        let between = of(&col("log_time").between(time(1), time(2))).unwrap();
        assert_eq!((between.start_ns, between.end_ns), (Some(1), Some(2)));
        let number = of(&cast(col("log_time"), DataType::Int64).eq(lit(7_i64))).unwrap();
        assert_eq!((number.start_ns, number.end_ns), (Some(7), Some(7)));
    }

    #[test]
    fn names_become_sets() {
        let either = col("bag").eq(lit("a")).or(col("bag").eq(lit("b")));
        let bounds = of(&either).unwrap();
        assert!(bounds.takes_bag("a") && bounds.takes_bag("b") && !bounds.takes_bag("c"));
        let none = of(&either.and(col("bag").eq(lit("c")))).unwrap();
        assert!(!none.takes_bag("a") && !none.takes_bag("c"));
        let list = of(&col("topic").in_list(vec![lit("/a")], false)).unwrap();
        assert!(list.takes_topic("/a", "") && !list.takes_topic("/b", ""));
    }

    #[test]
    fn other_conditions_are_left_to_the_engine() {
        let size = col("size").gt(lit(3_i64));
        assert_eq!(of(&size), None);
        assert_eq!(of(&col("bag").not_eq(lit("a"))), None);
        assert_eq!(of(&col("bag").eq(lit("a")).or(size)), None);
        let mixed = col("bag").eq(lit("a")).or(col("log_time").eq(time(1)));
        assert_eq!(of(&mixed), None);
        let narrowed = col("bag").eq(lit("a")).and(col("log_time").eq(time(1)));
        assert_eq!(of(&narrowed.or(col("bag").eq(lit("b")))), None);
        assert_eq!(of(&col("log_time").gt(time(i64::MAX))), None);
        assert_eq!(of(&col("bag").in_list(vec![lit("a")], true)), None);
    }
}
