//! What an experiment cannot do, said before anything is run.

use crate::peer;
use crate::typo::did_you_mean;
use cantina_lab::experiment::{pollers, rooms_stack, scheduling, single_producer};
use cantina_lab::registry;
use cantina_record::Shape;

/// Whether an experiment has these shapes.
///
/// # Errors
/// One line that says what is allowed.
pub(super) fn check_shapes(experiment: &str, shapes: &[Shape]) -> Result<(), String> {
    for shape in shapes {
        if experiment == single_producer::NAME && shape.producers != 1 {
            return Err(format!(
                "{experiment} has one producer, and {shape} more; allowed: shapes such as 1P/4C"
            ));
        }
        if has_workers(experiment) && shape.producers != shape.consumers {
            return Err(format!(
                "{experiment} has workers, which put and get, and {shape} has not as many of each; \
                 allowed: shapes such as 2P/2C, for two workers"
            ));
        }
    }
    Ok(())
}

/// Whether those who put in an experiment are those who get.
pub(super) fn has_workers(experiment: &str) -> bool {
    [pollers::NAME, rooms_stack::NAME].contains(&experiment) || scheduling::has_workers(experiment)
}

/// Whether an experiment without tasks was asked for none of some size.
///
/// # Errors
/// One line that says what is allowed.
pub(super) fn refuse_payloads(experiment: &str, payloads: &[u64]) -> Result<(), String> {
    match scheduling::NAMES.contains(&experiment) && !payloads.is_empty() {
        true => Err(format!("{experiment} has operations, not tasks; allowed: no --payload")),
        false => Ok(()),
    }
}

/// Whether an experiment that fills trees was left to do so.
///
/// # Errors
/// One line that says what is allowed.
pub(super) fn refuse_threads(
    experiment: &str,
    shapes: &[Shape],
    tasks: Option<u64>,
) -> Result<(), String> {
    if shapes.is_empty() && tasks.is_none() {
        return Ok(());
    }
    Err(format!(
        "{experiment} has its own threads and fills trees; allowed: neither --shape, --threads nor --tasks"
    ))
}

/// Whether all of these pools take part in an experiment.
///
/// # Errors
/// One line that says which do.
pub(super) fn check_pools(
    experiment: &str,
    typed: &[String],
    allowed: &[String],
) -> Result<(), String> {
    let Some(stranger) = typed.iter().find(|name| !allowed.contains(name)) else { return Ok(()) };
    let base = stranger.strip_suffix("-batch").unwrap_or(stranger);
    let is_known = registry::facts().iter().any(|facts| facts.name == base);
    // Those of batches have names of their own.
    let is_peer = peer::all().iter().any(|peer| peer.name() == stranger)
        || peer::scheduling::all().any(|peer| peer.name == stranger);
    let suggestion = did_you_mean(stranger, allowed);
    let allowed = allowed.join(", ");
    Err(match (is_known, is_peer) {
        (true, _) => format!("{stranger} takes no part in {experiment}; allowed: {allowed}"),
        (false, true) => {
            format!(
                "{stranger} is a peer that takes no part in {experiment} here; allowed: {allowed}"
            )
        }
        (false, false) => format!("no pool is called `{stranger}`{suggestion}; allowed: {allowed}"),
    })
}

#[cfg(test)]
mod tests {
    use super::check_pools;

    #[test]
    fn a_peer_that_an_experiment_does_not_run_is_known_all_the_same() {
        let allowed = ["salsa", "rtrb-batch"].map(str::to_owned);
        let refused = |name: &str| {
            check_pools("fairness", &[name.to_owned()], &allowed).unwrap_err().replace('`', "")
        };
        for peer in ["rtrb", "kanal-batch", "forte"] {
            let expected =
                format!("{peer} is a peer that takes no part in fairness here; allowed: ");
            assert!(refused(peer).starts_with(&expected), "{}", refused(peer));
        }
        for pool in ["cafe", "cafe-batch"] {
            assert!(refused(pool).starts_with(&format!("{pool} takes no part in fairness; ")));
        }
        assert!(refused("salza").starts_with("no pool is called salza"));
        assert_eq!(check_pools("fairness", &allowed, &allowed), Ok(()));
    }
}
