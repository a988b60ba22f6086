//! What was got while everybody was at work.
//!
//! A run begins with empty caches and pools and ends with threads that have nothing left to do. Between that, from a fifth of the way on and until
//! the first producer is done, lies the window that counts. Its two halves tell whether the run was long enough: if it was, they are alike.

use machine::time::Duration;

/// The part of the time until the first producer is done that is cut off: one in so many.
const CUT_OFF: u64 = 5;
/// How many marks a consumer makes that gets its share.
const MARKS: u64 = 128;
/// How far the halves of a window may be apart.
const TOLERANCE: f64 = 0.10;

/// How many tasks a consumer had got, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    got: u64,
    at: u64,
}

/// The marks of a consumer.
#[derive(Debug)]
pub(super) struct Marks {
    every: u64,
    next: u64,
    all: Vec<Mark>,
}

/// What was got in two halves of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How long each half is.
    pub half: Duration,
    /// Tasks that were got in the first.
    pub first: u64,
    /// And in the second.
    pub second: u64,
}

impl Marks {
    /// How many tasks lie between two marks, where so many consumers get so many in all.
    pub(super) fn every(tasks: u64, consumers: usize) -> u64 {
        (tasks / (MARKS * consumers as u64)).max(1)
    }

    /// No marks yet; there will be one after `every` tasks, if there are as many.
    pub(super) fn new(every: u64) -> Self {
        let room = if every == u64::MAX { 0 } else { 2 * MARKS as usize };
        Self { every, next: every, all: Vec::with_capacity(room) }
    }

    /// At how many tasks the next one is due.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Makes one.
    pub(super) fn note(&mut self, got: u64, at: u64) {
        self.all.push(Mark { got, at });
        self.next = got.saturating_add(self.every);
    }

    pub(super) fn into_all(self) -> Vec<Mark> {
        self.all
    }
}

impl Window {
    /// The window of a run that began at `start` and of which the first producer was done at `first_done`. None where nobody made marks.
    pub(super) fn between(start: u64, first_done: u64, marks: &[Vec<Mark>]) -> Option<Self> {
        if marks.iter().all(Vec::is_empty) {
            return None;
        }
        let length = first_done.saturating_sub(start);
        let half = (length - length / CUT_OFF) / 2;
        let [begin, middle, end] = [2, 1, 0].map(|halves| first_done - halves * half);
        let got = |at| marks.iter().map(|marks| got_until(at, start, marks)).sum::<f64>();
        let [before, first, second] = [begin, middle, end].map(got);
        let (first, second) = ((first - before).round() as u64, (second - first).round() as u64);
        (half > 0).then(|| Self { half: Duration::from_nanos(half), first, second })
    }

    /// Tasks per nanosecond.
    pub fn rate(&self) -> f64 {
        (self.first + self.second) as f64 / (2.0 * self.half.as_nanos() as f64)
    }

    /// How much was got in the second half beside what was got in the first: 1 where it was as much. None where nothing was.
    pub fn second_to_first(&self) -> Option<f64> {
        (self.first > 0 && self.second > 0).then(|| self.second as f64 / self.first as f64)
    }

    /// The same of the window among these whose halves are least alike. None where there is none of one of them.
    pub fn least_alike(windows: impl Iterator<Item = Option<Self>>) -> Option<f64> {
        let apart = |ratio: &f64| ratio.max(1.0 / ratio);
        let ratios = windows.map(|window| window.and_then(|window| window.second_to_first()));
        let ratios: Vec<f64> = ratios.collect::<Option<_>>()?;
        ratios.into_iter().max_by(|a, b| apart(a).total_cmp(&apart(b)))
    }

    /// Whether halves of which the second has so many times what the first has are alike.
    pub fn are_alike(second_to_first: f64) -> bool {
        second_to_first.max(1.0 / second_to_first) <= 1.0 + TOLERANCE
    }
}

/// How many tasks a consumer had got at a moment: as if it had got them evenly between two marks.
fn got_until(at: u64, start: u64, marks: &[Mark]) -> f64 {
    let behind = marks.partition_point(|mark| mark.at <= at);
    let last = match behind {
        0 => Mark { got: 0, at: start },
        _ => marks[behind - 1],
    };
    let Some(next) = marks.get(behind) else { return last.got as f64 };
    let part = at.saturating_sub(last.at) as f64 / (next.at - last.at).max(1) as f64;
    last.got as f64 + part * (next.got - last.got) as f64
}

#[cfg(test)]
mod tests {
    use super::{Mark, Marks, Window};
    use crate::registry::{Family, Visitor, visit_all};
    use crate::workload::{Assignment, Shape, Single, run};
    use machine::time::Duration;

    fn marks(all: &[(u64, u64)]) -> Vec<Mark> {
        all.iter().map(|&(got, at)| Mark { got, at }).collect()
    }

    #[test]
    fn the_beginning_and_the_end_are_cut_off() {
        // From 1000 to 2000, of which the window is 1200 to 1600 and 1600 to 2000.
        let even = marks(&[(100, 1_100), (1_000, 2_000), (9_000, 2_100)]);
        let window = Window::between(1_000, 2_000, &[even]).unwrap();
        assert_eq!((window.first, window.second), (400, 400));
        assert_eq!((window.half, window.rate()), (Duration::from_nanos(400), 1.0));
        // Who comes to rest in the middle, beside who begins there.
        let (early, late) = (marks(&[(600, 1_600)]), marks(&[(1, 1_600), (401, 2_000)]));
        let window = Window::between(1_000, 2_000, &[early, late]).unwrap();
        assert_eq!((window.first, window.second), (401, 400));
    }

    #[test]
    fn without_marks_or_time_there_is_no_window() {
        assert_eq!(Window::between(0, 1_000, &[]), None);
        assert_eq!(Window::between(0, 1_000, &[Vec::new()]), None);
        assert_eq!(Window::between(5, 5, &[marks(&[(1, 6)])]), None);
    }

    #[test]
    fn halves_within_a_tenth_are_alike() {
        let half = Duration::from_nanos(100);
        let window = |first, second| Window { half, first, second };
        let ratio = |windows: &[Window]| Window::least_alike(windows.iter().copied().map(Some));
        assert_eq!(ratio(&[window(50, 60), window(100, 50)]), Some(0.5), "each for itself");
        assert_eq!(
            (ratio(&[]), ratio(&[window(0, 5)]), ratio(&[window(5, 0)])),
            (None, None, None)
        );
        assert_eq!(Window::least_alike([Some(window(5, 5)), None].into_iter()), None);
        let alike = [0.8, 0.92, 1.0, 1.09, 1.2].map(Window::are_alike);
        assert_eq!(alike, [false, true, true, true, false]);
    }

    #[test]
    fn marks_are_made_as_often_as_was_said() {
        assert_eq!(
            [(0, 1), (128_000, 10), (100, 4)].map(|(all, by)| Marks::every(all, by)),
            [1, 100, 1]
        );
        let mut marks = Marks::new(10);
        assert_eq!(marks.next(), 10);
        marks.note(14, 7);
        assert_eq!(marks.next(), 24);
        assert_eq!(marks.into_all(), [Mark { got: 14, at: 7 }]);
        assert_eq!(Marks::new(u64::MAX).next(), u64::MAX);
    }

    #[test]
    fn every_pool_has_a_window_where_it_is_watched_and_none_otherwise() {
        struct Run;
        impl Visitor for Run {
            fn visit<F: Family>(&mut self, family: F) {
                for watched in [true, false] {
                    let (shape, patience) = (Shape::new(2, 2), Duration::from_secs(60));
                    let assignment =
                        Assignment { shape, tasks: 4_000, pin: false, patience, watched };
                    let reading = run::<u64, _>(&Single(family.clone()), &assignment).unwrap();
                    let name = family.facts().name;
                    assert_eq!(reading.window.is_some(), watched, "{name}");
                    assert!(
                        reading.window.is_none_or(|it| it.first + it.second <= 4_000),
                        "{name}"
                    );
                }
            }
        }
        visit_all(&mut Run);
    }
}
