/// A name in which `*` stands for any characters.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    text: String,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_any(&self) -> bool {
        self.text == "*"
    }

    /// Whether the name matches. A field pattern also matches the fields below it: `pose` matches `pose.x`.
    pub(super) fn matches(&self, name: &str) -> bool {
        let ends = name.match_indices('.').map(|(at, _)| at);
        let mut candidates = ends.chain([name.len()]);
        candidates.any(|end| {
            name.get(..end)
                .is_some_and(|name| is_match(self.text.as_bytes(), name.as_bytes()))
        })
    }
}

/// Whether a pattern matches a whole name, in time proportional to the product of their lengths.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut index) = (0, 0);
    // Where to go on after a mismatch: behind the last star, one letter further.
    let mut retry = None;
    while index < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, index));
                at += 1;
            }
            Some(letter) if name.get(index) == Some(letter) => {
                at += 1;
                index += 1;
            }
            _ => {
                let Some((behind_star, from)) = retry else {
                    return false;
                };
                retry = Some((behind_star, from + 1));
                at = behind_star;
                index = from + 1;
            }
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|letter| *letter == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(matches("pose.*", "pose.position.x"));
        assert!(matches("*.x", "pose.position.x"));
        assert!(matches("*.x", "a.x.b.x"));
        assert!(matches("p*n.x", "pose.position.x"));
        assert!(!matches("*.x", "pose.xy"));
        assert!(!matches("pose", "poses"));
        assert!(matches("*", "anything"));
        assert!(!matches("/a", "/ab"));
    }

    #[test]
    fn a_field_matches_the_fields_below_it() {
        assert!(Pattern::new("pose").matches("pose.position.x"));
        assert!(Pattern::new("header").matches("header.stamp"));
        assert!(!Pattern::new("pose").matches("twist.pose"));
    }
}
