//! Random values of random types through CDR and back.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::test_runner::TestRng;
use timeloom_msg::cdr::{EncodeOptions, Endian, WideChars};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::value::{Array, Struct, Text, WideText};
use timeloom_msg::{Definitions, FieldProgram, Schema, TypeName, Value};

const BASES: [&str; 17] = [
    "bool",
    "byte",
    "char",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
    "string",
    "string<=8",
    "wstring",
    "wstring<=8",
];

/// A definition of a few levels, as a concatenated text.
fn definition() -> impl Strategy<Value = String> {
    let field = (0..BASES.len() + 2, 0..4_u8);
    proptest::collection::vec(proptest::collection::vec(field, 0..6), 3).prop_map(|levels| {
        let mut text = String::new();
        for (level, fields) in levels.iter().enumerate() {
            if level > 0 {
                let _ok = writeln!(text, "====\nMSG: p/L{level}");
            }
            for (index, (base, shape)) in fields.iter().enumerate() {
                let nested = format!("L{}", level + 1);
                let base = match BASES.get(*base) {
                    Some(base) => base,
                    None if level < 2 => nested.as_str(),
                    None => "uint8",
                };
                let shape = ["", "[]", "[<=3]", "[2]"][usize::from(*shape)];
                let _ok = writeln!(text, "{base}{shape} f{index}");
            }
        }
        text
    })
}

/// A random value of a type.
fn random(rng: &mut TestRng, ty: &SchemaType) -> Value {
    let count = match ty.shape {
        ArrayShape::Single => return element(rng, &ty.element),
        ArrayShape::Fixed(n) => n as usize,
        ArrayShape::Bounded(n) => rng.random_range(0..=n) as usize,
        ArrayShape::Unbounded => rng.random_range(0..5),
    };
    let items: Vec<Value> = (0..count).map(|_| element(rng, &ty.element)).collect();
    macro_rules! collect {
        ($($variant:ident),+) => {
            match element(rng, &ty.element) {
                $(Value::$variant(_) => Array::$variant(
                    items.into_iter().map(|item| if let Value::$variant(v) = item { v } else { unreachable!() }).collect(),
                ),)+
                Value::Array(_) => unreachable!(),
            }
        };
    }
    Value::Array(collect!(
        Bool, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64, Float32, Float64, String,
        WString, Struct
    ))
}

fn element(rng: &mut TestRng, element: &Element) -> Value {
    match element {
        Element::Primitive(primitive) => match primitive {
            Primitive::Bool => Value::Bool(rng.random()),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                Value::Uint8(rng.random())
            }
            Primitive::Int8 => Value::Int8(rng.random()),
            Primitive::Int16 => Value::Int16(rng.random()),
            Primitive::Uint16 => Value::Uint16(rng.random()),
            Primitive::Int32 => Value::Int32(rng.random()),
            Primitive::Uint32 => Value::Uint32(rng.random()),
            Primitive::Int64 => Value::Int64(rng.random()),
            Primitive::Uint64 => Value::Uint64(rng.random()),
            // Not NaN, which is not equal to itself.
            Primitive::Float32 => Value::Float32(rng.random()),
            Primitive::Float64 => Value::Float64(rng.random()),
        },
        Element::String(_) => {
            let bytes = (0..rng.random_range(0..9))
                .map(|_| rng.random_range(0..=255_u8))
                .collect();
            Value::String(Text::from_bytes(bytes))
        }
        Element::WString(_) => {
            let units = (0..rng.random_range(0..9))
                .map(|_| rng.random_range(0..=0xffff_u16))
                .collect();
            Value::WString(WideText::from_units(units))
        }
        Element::Struct(ty) => Value::Struct(message(rng, ty)),
    }
}

fn message(rng: &mut TestRng, ty: &std::sync::Arc<StructType>) -> Struct {
    let values = ty
        .fields()
        .iter()
        .map(|field| random(rng, field.ty()))
        .collect();
    Struct::new(std::sync::Arc::clone(ty), values)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_survive_cdr(text in definition(), rng in any::<u64>().prop_perturb(|_, rng| rng)) {
        let mut rng = rng;
        let schema = Schema::parse_ros2msg("p/msg/L0", &text).unwrap();
        let value = Value::Struct(message(&mut rng, schema.root()));
        for endian in [Endian::Little, Endian::Big] {
            for wide in [WideChars::FourBytes, WideChars::TwoBytes] {
                let payload = schema.encode_with(&value, EncodeOptions { endian, wide }).unwrap();
                prop_assert_eq!(&schema.decode_with(&payload, wide).unwrap(), &(value.clone(), 0));
                for cut in (0..payload.len()).rev().take(24) {
                    prop_assert!(schema.decode_with(&payload[..cut], wide).is_err());
                }
                let mut same = payload.clone();
                same.extend([0; 9]);
                prop_assert_eq!(schema.decode_with(&same, wide).unwrap().1, 9);
            }
            let payload = schema.encode_with(&value, EncodeOptions { endian, wide: WideChars::FourBytes }).unwrap();
            for field in schema.root().fields() {
                // A wide string before the field is the only reason for no program.
                if let Ok(program) = FieldProgram::compile(&schema, field.name()) {
                    prop_assert_eq!(Some(program.read(&payload).unwrap()), value.get(field.name()));
                }
            }
        }
        serde_json::from_str::<serde_json::Value>(&value.to_json()).unwrap();
    }

    #[test]
    fn definitions_survive_text_and_description(text in definition()) {
        let name = TypeName::parse("p/msg/L0").unwrap();
        let schema = Schema::parse_ros2msg("p/msg/L0", &text).unwrap();
        let again = schema.ros2msg().unwrap();
        prop_assert_eq!(&Definitions::parse_ros2msg(&name, &again).unwrap(), schema.definitions());
        let description = schema.type_description().unwrap();
        let back = Schema::from_description(&description).unwrap();
        prop_assert_eq!(back.type_hash().unwrap(), schema.type_hash().unwrap());
    }

    #[test]
    fn random_bytes_never_panic(text in definition(), payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        let schema = Schema::parse_ros2msg("p/msg/L0", &text).unwrap();
        let mut payload = payload;
        if let Some(header) = payload.first_chunk_mut::<4>() {
            *header = [0, 1, 0, 0];
        }
        if let Ok((value, rest)) = schema.decode_with(&payload, WideChars::FourBytes) {
            let written = schema.encode(&value).unwrap();
            prop_assert_eq!(schema.decode(&written).unwrap().to_json(), value.to_json());
            prop_assert!(rest <= payload.len());
        }
    }
}
