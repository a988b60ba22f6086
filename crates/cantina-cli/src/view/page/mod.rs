//! `report.html`: one page that holds everything and asks the network for nothing.
//!
//! It is complete without scripts; the little script there is adds tooltips and highlights. The
//! markup is well-formed XML as well as HTML, which a test can check.

pub(super) mod escape;
mod labels;
mod plot;
mod rest;
mod scale;
mod sheet;
#[cfg(test)]
mod tests;
mod tip;

use super::beside;
use super::experiment::{Experiment, SKIPPED};
use super::grid::{Chart, Panel, charts, constants};
use super::number::field;
use super::paper::comparisons;
use super::table::kind_name;
use cantina_record::{Kind, Record, Row, Value};
use escape::{Escaped, json_in_script};
use plot::{NARROW, WIDE, against, kind_class, mark, plot};
use scale::Scale;
use sheet::sheet;
use std::collections::BTreeSet;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The browser itself refuses whatever is not in the page.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of a record. Experiments that are not among the known ones are shown as bare rows.
pub(crate) fn page(record: &Record, known: &[Experiment]) -> String {
    let present: BTreeSet<&str> = record.rows.iter().map(|row| row.experiment.as_str()).collect();
    let shown: Vec<&Experiment> =
        known.iter().filter(|experiment| present.contains(experiment.name)).collect();
    let unknown = present.iter().filter(|name| shown.iter().all(|each| each.name != **name));
    let unknown: Vec<&str> = unknown.copied().collect();

    let titles = shown.iter().map(|each| each.title).chain(unknown.iter().copied());
    let title = match titles.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "An empty record".to_owned(),
        titles => titles,
    };
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\
         <title>{} · Cantina</title>\n<style>\n{STYLE}</style></head>\n<body><main>\n",
        Escaped(POLICY),
        Escaped(&title)
    );
    // A single experiment shares its heading with the page.
    let alone = unknown.is_empty() && shown.len() == 1;
    header(&mut html, record, &title, shown.first().filter(|_| alone).map(|only| only.about));
    for experiment in shown {
        section(&mut html, experiment, &record.rows, !alone);
    }
    for name in unknown {
        rest::bare_rows(&mut html, name, &record.rows);
    }
    rest::origin(&mut html, record);
    html.push_str("</main>\n");
    // A record with a flaw is never written, so it has no page either; an empty block says so.
    let json = record.to_json().unwrap_or_default();
    let json = json_in_script(&json);
    let _ = write!(html, "<script type=\"application/json\" id=\"record\">\n{json}</script>\n");
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body></html>\n");
    html
}

fn header(html: &mut String, record: &Record, title: &str, about: Option<&str>) {
    let pools: BTreeSet<&str> = record
        .rows
        .iter()
        .filter(|row| row.text(SKIPPED).is_none())
        .map(|row| row.pool.as_str())
        .collect();
    let fact = |name: &str| record.machine.get(name).map(Value::to_string);
    let mut run = match pools.len() {
        1 => "1 pool".to_owned(),
        pools => format!("{pools} pools"),
    };
    if let Some(cpu) = fact("cpu") {
        let _ = write!(run, " on {cpu}");
    }
    if let Some(cores) = fact("cores") {
        let _ = write!(run, ", {cores} core{}", if cores == "1" { "" } else { "s" });
    }
    let measured = fact("measured").map_or_else(String::new, |when| format!(", {when}"));
    let _ = write!(
        html,
        "<header><p class=\"brand\">Cantina</p><h1>{}</h1>{}<p class=\"origin\">{}, commit \
         <code>{}</code>{}</p>",
        Escaped(title),
        about.map_or_else(String::new, |about| {
            format!("<p class=\"lede\">{}</p>", Escaped(about))
        }),
        Escaped(run),
        Escaped(&record.commit),
        Escaped(measured)
    );
    if fact("build").as_deref() == Some("debug") {
        html.push_str(
            "<p class=\"note warning\"><strong>A debug build.</strong> Its numbers say nothing \
             about the pools: run it with <code>--release</code>.</p>",
        );
    }
    let is_real = |row: &Row| row.machine == "real";
    if record.rows.iter().any(is_real) {
        html.push_str(
            "<p class=\"note\"><strong>Compare within this page.</strong> How far the cores are from \
             each other decides what pools reach, and in which order: numbers and ratios belong to the \
             regime that stands beside them. It is read of the first two cores that the program may use: where \
             there are more, it is the distance of these two. Marks are medians, whiskers reach from the smallest to \
             the largest reading.</p>",
        );
    }
    if !record.rows.iter().all(is_real) {
        html.push_str(
            "<p class=\"note\"><strong>Simulated numbers</strong> claim rankings, ratios and \
             shapes, never absolute times. Take a ratio of less than two for none. Marks are \
             medians over seeds, and the same seeds give the same numbers again.</p>",
        );
    }
    html.push_str("</header>\n");
}

fn section(html: &mut String, experiment: &Experiment, rows: &[Row], headed: bool) {
    let Experiment { name, title, about, notes, simulated_notes, .. } = experiment;
    let _ = write!(html, "<section id=\"{}\">", Escaped(name));
    if headed {
        let (title, about) = (Escaped(title), Escaped(about));
        let _ = writeln!(html, "<h2>{title}</h2><p class=\"about\">{about}.</p>");
    }
    for chart in charts(experiment, rows) {
        chart_block(html, experiment, &chart);
    }
    trade_off(html, experiment, rows);
    for comparison in comparisons(experiment, rows) {
        let _ = write!(html, "<p class=\"note\">{}</p><ul>", Escaped(&comparison.heading));
        for line in &comparison.lines {
            let _ = write!(html, "<li>{}</li>", Escaped(line));
        }
        let _ = writeln!(html, "</ul><p class=\"note\">{}</p>", Escaped(comparison.why));
    }
    let constants = constants(experiment, rows);
    html.push_str("<ul class=\"notes\">");
    let on = |real: bool| {
        rows.iter().any(|row| row.experiment == *name && (row.machine == "real") == real)
    };
    let real = notes.iter().filter(|_| on(true));
    for note in real.chain(simulated_notes.iter().filter(|_| on(false))) {
        let _ = write!(html, "<li>{}</li>", Escaped(note));
    }
    if !constants.is_empty() {
        let facts: Vec<String> = constants
            .iter()
            .map(|(name, value)| format!("{} {}", name.replace('_', " "), field(value)))
            .collect();
        let _ = write!(html, "<li>In every cell: {}.</li>", Escaped(facts.join(", ")));
    }
    let count = |field: &str| -> f64 {
        let own = rows.iter().filter(|row| row.experiment == *name);
        own.filter_map(|row| row.number(field)).sum()
    };
    // A repetition that ran on other cores is among the discarded ones, and no sign of a busy machine.
    let strays = count("strays");
    let repetitions = [
        ("during which the machine was busy, measured again", count("discarded") - strays),
        ("during which the machine was busy, kept nevertheless", count("disturbed")),
        ("on cores nearer or farther apart than in most, measured again", strays),
    ];
    for (which, count) in repetitions.into_iter().filter(|(_, count)| *count > 0.0) {
        let _ = write!(html, "<li>Repetitions {which}: {count}.</li>");
    }
    if let Some(sentence) = beside::regimes(experiment, rows) {
        let _ = write!(html, "<li>{}</li>", Escaped(sentence));
    }
    html.push_str("</ul></section>\n");
}

/// One measure: a legend, and its panels.
fn chart_block(html: &mut String, experiment: &Experiment, chart: &Chart) {
    let Chart { measure, axis, panels } = chart;
    html.push_str("<div class=\"chart\">");
    if measure.title != experiment.title {
        let _ = write!(html, "<h3>{}</h3>", Escaped(measure.title));
    }
    legend(html, panels);
    for panel in panels {
        html.push_str("<figure>");
        if !panel.title.is_empty() {
            let _ = write!(html, "<figcaption>{}</figcaption>", Escaped(&panel.title));
        }
        // The bars in the table are picture enough for a single column.
        if panel.columns.len() > 1 {
            let scale = shared_scale(panels, panel.machine);
            html.push_str(&plot(measure, panel, &scale, &WIDE));
            html.push_str(&plot(measure, panel, &scale, &NARROW));
        }
        html.push_str(&sheet(measure, *axis, panel));
        html.push_str("</figure>\n");
    }
    html.push_str("</div>\n");
}

/// The two measures of which one is bought with the other: a legend, and a picture for each panel.
fn trade_off(html: &mut String, experiment: &Experiment, rows: &[Row]) {
    let Some((across, up)) = experiment.against else { return };
    let Some(across) = experiment.measures.iter().find(|measure| measure.value == across) else {
        return;
    };
    for chart in charts(experiment, rows).iter().filter(|chart| chart.measure.value == up) {
        let pictures =
            |panel| [&WIDE, &NARROW].map(|layout| against(across, chart.measure, panel, layout));
        let pictures: Vec<_> = chart.panels.iter().map(|panel| (panel, pictures(panel))).collect();
        if pictures.iter().all(|(_, [picture, _])| picture.is_empty()) {
            return;
        }
        let (up, across) = (Escaped(chart.measure.title), across.title.to_lowercase());
        let _ = write!(html, "<div class=\"chart\"><h3>{up} against {}</h3>", Escaped(across));
        legend(html, &chart.panels);
        for (panel, [wide, narrow]) in pictures {
            html.push_str("<figure>");
            if !panel.title.is_empty() {
                let _ = write!(html, "<figcaption>{}</figcaption>", Escaped(&panel.title));
            }
            let _ = write!(html, "{wide}{narrow}</figure>");
        }
        html.push_str("</div>\n");
    }
}

/// The marks of the kinds there are. Each can be switched off, without a script.
fn legend(html: &mut String, panels: &[Panel]) {
    let lines = panels.iter().flat_map(|panel| &panel.lines);
    let kinds: BTreeSet<Kind> = lines.map(|line| line.kind).collect();
    if kinds.len() < 2 {
        return;
    }
    html.push_str("<p class=\"legend\">");
    for kind in kinds {
        let (class, mark, name) = (kind_class(kind), mark(kind, 14.0, 6.0), kind_name(kind));
        let _ = write!(
            html,
            "<label><input type=\"checkbox\" checked=\"checked\" data-kind=\"{class}\"/>\
             <svg viewBox=\"0 0 28 12\" aria-hidden=\"true\"><g class=\"series {class}\">\
             <path class=\"line\" d=\"M0 6H28\"/>{mark}</g></svg>{name}</label>"
        );
    }
    html.push_str("</p>");
}

/// The panels of a machine share a vertical scale. Those of another machine do not: its numbers
/// are not to be compared with these.
fn shared_scale(panels: &[Panel], machine: &str) -> Scale {
    let panels = panels.iter().filter(|panel| panel.machine == machine);
    let cells = panels.flat_map(|panel| &panel.lines).flat_map(|line| &line.cells);
    Scale::new(cells.filter_map(|cell| cell.reading()).flat_map(|reading| {
        let (low, high) = reading.spread.unwrap_or((reading.value, reading.value));
        [low, reading.value, high]
    }))
}
