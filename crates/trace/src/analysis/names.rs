use std::collections::HashMap;

/// Limit of names, against corrupt input; all others share one.
const MOST: usize = 1 << 16;

/// Names as small numbers.
#[derive(Debug)]
pub(crate) struct Names {
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

/// The number of all names beyond the limit.
const OTHERS: u32 = 0;

impl Default for Names {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            names: vec!["(too many names)".into()],
        }
    }
}

impl Names {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let Some(number) = u32::try_from(self.names.len())
            .ok()
            .filter(|_| self.names.len() < MOST)
        else {
            return OTHERS;
        };
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        usize::try_from(number)
            .ok()
            .and_then(|index| self.names.get(index))
            .map_or("", |name| name)
    }

    /// One more than the largest number.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// The index of a number in a dense table.
pub(crate) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
