//! Texts from outside, made harmless inside a page.

use std::fmt;

/// A text that stands in HTML or SVG, between tags or in a quoted attribute, and means itself.
pub(in crate::view) struct Escaped<T>(pub(in crate::view) T);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Neither HTML nor XML has these.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_str("\u{fffd}")?;
                }
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// JSON that stands inside a script element. The characters that could end it, or open a comment,
/// only occur in JSON's strings and can be written as escapes there.
pub(in crate::view) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let hostile = "<script>\"a\" & 'b'</script>\u{0}\u{1b}\u{ffff}";
        let expected =
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\u{fffd}\u{fffd}\u{fffd}";
        assert_eq!(Escaped(hostile).to_string(), expected);
    }

    #[test]
    fn json_stays_what_it_was_and_cannot_end_the_script() {
        let json = r#"{"pool": "</script><!-- & -->"}"#;
        let inside = json_in_script(json);
        assert!(!inside.contains(['<', '>', '&']), "{inside}");
        let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&inside), read(json));
    }
}
