//! Where labels go when many want the same place.

/// Moves the heights apart until neighbours have at least `pitch` between them, none leaves
/// `top..=bottom`, and the whole has moved as little as possible. Where there is no room for `pitch`
/// they are spaced evenly.
///
/// The heights must be ascending. With `pitch * i` taken off the i-th, "at least `pitch` apart"
/// becomes "not descending", and the least movement is what pooling adjacent violators gives.
pub(super) fn apart(heights: &[f64], pitch: f64, top: f64, bottom: f64) -> Vec<f64> {
    let gaps = heights.len().saturating_sub(1) as f64;
    let pitch = if gaps > 0.0 { pitch.min((bottom - top) / gaps) } else { pitch };
    // Blocks of labels that touch: the sum of their wishes, and how many they are.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (at, height) in heights.iter().enumerate() {
        blocks.push((height - pitch * at as f64, 1));
        while let [.., before, last] = blocks[..]
            && before.0 / before.1 as f64 > last.0 / last.1 as f64
        {
            blocks.pop();
            blocks.pop();
            blocks.push((before.0 + last.0, before.1 + last.1));
        }
    }
    let lowest = (bottom - pitch * gaps).max(top);
    let wishes = blocks.iter().flat_map(|&(sum, count)| vec![sum / count as f64; count]);
    wishes.enumerate().map(|(at, wish)| wish.clamp(top, lowest) + pitch * at as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn labels_that_do_not_touch_stay() {
        assert_eq!(apart(&[10.0, 30.0, 50.0], 12.0, 0.0, 100.0), [10.0, 30.0, 50.0]);
        assert!(apart(&[], 12.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn labels_that_touch_move_evenly() {
        assert_eq!(apart(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0), [40.0, 50.0, 60.0]);
    }

    #[test]
    fn labels_stay_inside() {
        assert_eq!(apart(&[0.0, 1.0, 2.0], 10.0, 0.0, 100.0), [0.0, 10.0, 20.0]);
        assert_eq!(apart(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
        assert_eq!(apart(&[-20.0], 10.0, 0.0, 100.0), [0.0]);
    }

    #[test]
    fn too_many_labels_share_the_room() {
        assert_eq!(apart(&[50.0; 5], 40.0, 0.0, 100.0), [0.0, 25.0, 50.0, 75.0, 100.0]);
    }
}
