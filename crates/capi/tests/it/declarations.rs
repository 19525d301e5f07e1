//! The C declarations of the sources, in the format of cbindgen; parses only the Rust that this crate uses.

use std::path::Path;

/// The declarations of all exported functions and types, without white space.
pub(crate) struct Declarations {
    pub(crate) functions: Vec<String>,
    pub(crate) types: Vec<String>,
    /// The lines of documentation of both.
    pub(crate) docs: Vec<String>,
}

impl Declarations {
    pub(crate) fn of_sources() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = Self {
            functions: Vec::new(),
            types: Vec::new(),
            docs: Vec::new(),
        };
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            let source = std::fs::read_to_string(path).expect("a source");
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            all.add_functions(source);
            all.add_types(source);
        }
        all
    }

    fn add_functions(&mut self, source: &str) {
        for (start, mark) in source.match_indices("extern \"C\" fn ") {
            let signature = &source[start + mark.len()..];
            let signature = signature.split('{').next().expect("a body");
            let (name, rest) = signature.split_once('(').expect("arguments");
            let (arguments, result) = rest.rsplit_once(')').expect("arguments");
            let arguments: Vec<String> = arguments.split(',').filter_map(field).collect();
            let arguments = match arguments.as_slice() {
                [] => "void".to_owned(),
                some => some.join(","),
            };
            let result = result
                .trim()
                .strip_prefix("->")
                .map_or("void".into(), c_type);
            self.functions
                .push(squeezed(&format!("{result}{name}({arguments});")));
            self.add_docs(&source[..start]);
        }
    }

    fn add_types(&mut self, source: &str) {
        for (start, mark) in source.match_indices("#[repr(C)]") {
            let item = &source[start + mark.len()..];
            let (head, rest) = item.split_once('{').expect("a body");
            let (body, _) = rest.split_once("\n}").expect("an end");
            let name = head.split_whitespace().last().expect("a name");
            let lines = body.lines().map(str::trim);
            let (docs, lines): (Vec<&str>, Vec<&str>) =
                lines.partition(|line| line.starts_with("///"));
            self.docs
                .extend(docs.iter().map(|line| line[3..].trim().to_owned()));
            let text = if head.contains("enum ") {
                let variants = lines.iter().filter(|line| !line.is_empty());
                let prefix = screaming(name);
                let variants = variants.map(|line| {
                    let (variant, number) = line.split_once('=').expect("a number");
                    format!("{prefix}_{}={number}", screaming(variant.trim()))
                });
                format!("typedef enum{{{}}}{name};", variants.collect::<String>())
            } else {
                let text: String = lines.concat();
                let fields = text.split(',').filter_map(field);
                let fields: Vec<String> = fields.collect();
                let fields = fields.join(";") + ";";
                format!("typedef struct{{{fields}}}{name};")
            };
            self.types.push(squeezed(&text));
            self.add_docs(&source[..start]);
        }
    }

    /// The documentation at the end of `before`.
    fn add_docs(&mut self, before: &str) {
        let lines = before.lines().rev();
        let lines = lines.skip_while(|line| !line.starts_with("///"));
        let docs = lines.take_while(|line| line.starts_with("///"));
        self.docs
            .extend(docs.map(|line| line[3..].trim().to_owned()));
    }
}

/// `pub name: type` in C; none for an empty line.
fn field(text: &str) -> Option<String> {
    let (name, rust) = text.split_once(':')?;
    let name = name.trim().trim_start_matches("pub ");
    Some(format!("{} {name}", c_type(rust)))
}

fn c_type(rust: &str) -> String {
    let rust = rust.trim();
    if let Some(inner) = rust.strip_prefix("*const ") {
        return format!("const {} *", c_type(inner));
    }
    if let Some(inner) = rust.strip_prefix("*mut ") {
        return format!("{} *", c_type(inner));
    }
    let known = match rust {
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "f64" => "double",
        "c_char" => "char",
        own => own,
    };
    known.to_owned()
}

/// `NullPointer` as `NULL_POINTER`.
fn screaming(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_uppercase());
    }
    out
}

/// The text without white space: cbindgen breaks lines as it likes.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
