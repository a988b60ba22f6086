//! What somebody may have meant who typed a name that there is not.

/// The nearest of some names to what was typed, to stand behind it: ` (did you mean ...?)`, or nothing where none is near.
pub(crate) fn did_you_mean(typed: &str, names: &[impl AsRef<str>]) -> String {
    let names = names.iter().map(AsRef::as_ref);
    let nearest = names.map(|name| (distance(typed, name), name)).min();
    match nearest {
        // A third of the letters may be wrong: further away it is another word.
        Some((changes, name)) if changes * 3 <= typed.chars().count().max(3) => {
            format!(" (did you mean `{name}`?)")
        }
        _ => String::new(),
    }
}

/// How many letters have to be left out, put in, changed, or exchanged with the next one.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let changed = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, distance};

    #[test]
    fn a_change_is_a_letter_or_two_that_changed_places() {
        let cases = [("", "", 0), ("", "abc", 3), ("salsa", "slasa", 1), ("lockd", "locked", 1)];
        for (from, to, changes) in cases {
            assert_eq!((distance(from, to), distance(to, from)), (changes, changes), "{from} {to}");
        }
    }

    #[test]
    fn what_is_near_is_suggested_and_what_is_far_is_not() {
        let names = ["locked", "locked-batch", "salsa", "rtrb"];
        assert_eq!(did_you_mean("lockd", &names), " (did you mean `locked`?)");
        assert_eq!(did_you_mean("slasa", &names), " (did you mean `salsa`?)");
        assert_eq!(did_you_mean("locked-bach", &names), " (did you mean `locked-batch`?)");
        assert_eq!(did_you_mean("dance", &names), "");
        assert_eq!(did_you_mean("x", &["y"]), " (did you mean `y`?)");
        assert_eq!(did_you_mean("x", &[""; 0]), "");
    }
}
