//! What was seen of the machine beside the runs.

use super::experiment::{Experiment, PING_PONG};
use super::number::short;
use cantina_record::Row;

/// A sentence on how near to each other the cores were, if the rows tell.
pub(super) fn ping_pong(experiment: &Experiment, rows: &[Row]) -> Option<String> {
    let own = rows.iter().filter(|row| row.experiment == experiment.name);
    let readings: Vec<f64> = own.filter_map(|row| row.number(PING_PONG)).collect();
    let low = readings.iter().copied().min_by(f64::total_cmp)?;
    let high = readings.iter().copied().max_by(f64::total_cmp)?;
    Some(format!(
        "Beside the runs a word took {} to {} ns from one core to another.",
        short(low),
        short(high)
    ))
}

#[cfg(test)]
mod tests {
    use super::ping_pong;
    use crate::view::samples::{HEIGHT, SPEED, speeds};

    #[test]
    fn the_range_of_all_rows_is_told() {
        assert_eq!(ping_pong(&SPEED, &speeds()), None);
        let mut rows = speeds();
        rows[0] = rows[0].clone().with("ping_pong_ns", 26.5);
        rows[1] = rows[1].clone().with("ping_pong_ns", 112.0);
        let told = ping_pong(&SPEED, &rows).unwrap();
        assert!(told.contains("took 26.5 to 112 ns"), "{told}");
        assert_eq!(ping_pong(&HEIGHT, &rows), None);
    }
}
