//! Each task once: what was put beside what was got.

use super::finding::Finding;
use std::collections::BTreeMap;

/// How many of a long list a finding shows.
const SHOWN: usize = 8;

/// `Ok` if the same tasks were put and got, each as often.
pub(super) fn balance(
    put: impl IntoIterator<Item = u64>,
    got: impl IntoIterator<Item = u64>,
) -> Result<(), Finding> {
    let mut tasks = BTreeMap::<u64, (usize, usize)>::new();
    put.into_iter().for_each(|task| tasks.entry(task).or_default().0 += 1);
    got.into_iter().for_each(|task| tasks.entry(task).or_default().1 += 1);
    let wrong: Vec<String> = tasks
        .iter()
        .filter(|(_, (put, got))| put != got)
        .map(|(task, (put, got))| format!("task {task} put {put} and got {got} times"))
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let more = wrong.len().saturating_sub(SHOWN);
    let mut seen = wrong[..wrong.len().min(SHOWN)].join(", ");
    if more > 0 {
        seen.push_str(&format!(", and {more} more"));
    }
    Err(Finding::new(format!("each of {} tasks to be got as often as put", tasks.len()), seen))
}

#[cfg(test)]
mod tests {
    use super::balance;

    #[test]
    fn tasks_lost_doubled_and_invented_are_named() {
        assert!(balance([1, 2, 2], [2, 1, 2]).is_ok());
        let finding = balance([1, 2], [2, 2, 3]).unwrap_err().to_string();
        assert!(finding.contains("task 1 put 1 and got 0 times"));
        assert!(finding.contains("task 2 put 1 and got 2 times"));
        assert!(finding.contains("task 3 put 0 and got 1 times"));
    }

    #[test]
    fn a_long_list_is_cut() {
        let finding = balance(0..100, []).unwrap_err().to_string();
        assert!(finding.contains("task 7 ") && !finding.contains("task 8 "));
        assert!(finding.ends_with("and 92 more"));
    }
}
