//! A panel as an HTML table: a row per pool, a bar in every cell, the best of a column marked.

use super::escape::Escaped;
use super::plot::kind_class;
use crate::view::experiment::{Axis, Measure};
use crate::view::grid::{Cell, Line, Panel, Reading};
use crate::view::number::short;
use crate::view::table::{STRANGE, UNSETTLED, kind_name};
use std::fmt::Write;

/// The table of a panel.
pub(super) fn sheet(measure: &Measure, axis: Axis, panel: &Panel) -> String {
    let mut html = String::from("<div class=\"scroll\"><table class=\"sheet\"><thead><tr>");
    let _ = write!(html, "<th scope=\"col\" class=\"axis\">{}</th>", Escaped(axis.label()));
    for column in &panel.columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", Escaped(&column.label));
    }
    html.push_str("</tr></thead>");
    let best = panel.winners(measure);
    let largest: Vec<f64> = (0..panel.columns.len()).map(|at| largest(panel, at)).collect();
    let mut kind = None;
    for line in &panel.lines {
        if kind != Some(line.kind) {
            if kind.is_some() {
                html.push_str("</tbody>");
            }
            let _ = write!(
                html,
                "<tbody class=\"{}\"><tr class=\"kind\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
                kind_class(line.kind),
                panel.columns.len() + 1,
                kind_name(line.kind)
            );
            kind = Some(line.kind);
        }
        row(&mut html, line, &best, &largest);
    }
    if kind.is_some() {
        html.push_str("</tbody>");
    }
    ratios(&mut html, measure, panel);
    html.push_str("</table></div>");
    footnotes(&mut html, panel);
    html
}

/// The largest value of a column: what a full bar stands for.
fn largest(panel: &Panel, column: usize) -> f64 {
    let readings = panel.lines.iter().filter_map(|line| line.cells[column].reading());
    readings.map(|reading| reading.value).fold(0.0, f64::max)
}

fn row(html: &mut String, line: &Line, best: &[Option<f64>], largest: &[f64]) {
    let pool = Escaped(line.pool);
    let _ = write!(html, "<tr data-pool=\"{pool}\"><th scope=\"row\">{pool}");
    if let Some(version) = line.version {
        let _ = write!(html, " <small>{}</small>", Escaped(version));
    }
    html.push_str("</th>");
    for ((cell, best), &largest) in line.cells.iter().zip(best).zip(largest) {
        match cell {
            Cell::Absent => html.push_str("<td class=\"none\"></td>"),
            Cell::Skipped(_) => html.push_str("<td class=\"none\">–</td>"),
            Cell::Measured(reading) => value(html, reading, *best, largest),
        }
    }
    html.push_str("</tr>");
}

fn value(html: &mut String, reading: &Reading, best: Option<f64>, largest: f64) {
    let bar = if largest > 0.0 { 100.0 * reading.value.max(0.0) / largest } else { 0.0 };
    let text = Escaped(reading.value_text());
    let _ = write!(html, "<td style=\"--bar:{bar:.0}%\">");
    let _ = if !reading.converged {
        write!(html, "<i title=\"not converged\">~ {text}</i>")
    } else if reading.strange {
        write!(html, "<i title=\"another regime\">! {text}</i>")
    } else if best == Some(reading.value) {
        write!(html, "<b title=\"the best of its column\">{text}</b>")
    } else {
        write!(html, "<span>{text}</span>")
    };
    if let Some((low, high)) = reading.spread {
        let _ = write!(html, "<small>{} – {}</small>", short(low), short(high));
    }
    html.push_str("</td>");
}

fn ratios(html: &mut String, measure: &Measure, panel: &Panel) {
    let ratios = panel.ratios(measure);
    if ratios.is_empty() {
        return;
    }
    html.push_str("<tfoot>");
    for (name, ratios) in ratios {
        let _ = write!(html, "<tr><th scope=\"row\">{name}</th>");
        for ratio in ratios {
            let text = ratio.map_or_else(String::new, |ratio| format!("{} ×", short(ratio)));
            let _ = write!(html, "<td>{text}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tfoot>");
}

/// What else marks them, where there is a plot.
fn dotted(panel: &Panel) -> &'static str {
    if panel.columns.len() > 1 { "; its mark is dotted" } else { "" }
}

fn footnotes(html: &mut String, panel: &Panel) {
    if let Some(line) = panel.stealing() {
        let _ = write!(html, "<p class=\"footnote\">– {}.</p>", Escaped(line));
    }
    for (reason, places) in panel.skipped() {
        let _ = write!(
            html,
            "<p class=\"footnote\">– {}: {}</p>",
            Escaped(places.join(", ")),
            Escaped(reason)
        );
    }
    let marks = [(panel.is_unsettled(), UNSETTLED), (panel.has_strangers(), STRANGE)];
    for (_, line) in marks.iter().filter(|(is_there, _)| *is_there) {
        let _ = write!(html, "<p class=\"footnote\">{}{}.</p>", Escaped(line), dotted(panel));
    }
    if panel.surplus > 0 {
        let _ = write!(
            html,
            "<p class=\"footnote\">{} further rows for the same cells are not shown.</p>",
            panel.surplus
        );
    }
}
