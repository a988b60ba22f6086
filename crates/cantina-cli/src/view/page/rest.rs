//! The parts of the page that are not charts: where the numbers come from, and rows of experiments
//! that this program does not know.

use super::escape::Escaped;
use crate::view::number;
use cantina_record::{Record, Row};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The machine, and how to run the same again.
pub(super) fn origin(html: &mut String, record: &Record) {
    html.push_str("<section id=\"machine\"><h2>Where it was measured</h2><dl class=\"facts\">");
    for (name, value) in record.machine.iter().filter(|(name, _)| *name != "command") {
        let _ = write!(
            html,
            "<div><dt>{}</dt><dd>{}</dd></div>",
            Escaped(name.replace('_', " ")),
            Escaped(number::field(value))
        );
    }
    let commit = Escaped(&record.commit);
    let _ =
        writeln!(html, "<div><dt>commit</dt><dd><code>{commit}</code></dd></div></dl></section>");
    let Some(command) = record.machine.get("command") else { return };
    html.push_str("<section id=\"again\"><h2>Run it again</h2><pre><code>");
    let clean = record.commit.strip_suffix("-dirty").unwrap_or(&record.commit);
    if clean != "unknown" {
        let _ = writeln!(html, "git checkout {}", Escaped(clean));
    }
    let _ = write!(html, "cargo run --release -- {}</code></pre>", Escaped(command));
    if clean != record.commit {
        html.push_str("<p>The code differed from that commit: there were uncommitted changes.</p>");
    }
    html.push_str("</section>\n");
}

/// The rows of an experiment that nothing is known of, field by field.
pub(super) fn bare_rows(html: &mut String, name: &str, rows: &[Row]) {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.experiment == name).collect();
    let fields: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.fields.keys()).map(String::as_str).collect();
    let _ = write!(
        html,
        "<section><h2>{}</h2><p class=\"about\">This version of Cantina does not know the \
         experiment. Its rows, as they are:</p><div class=\"scroll\"><table class=\"bare\"><thead>\
         <tr><th>pool</th><th>machine</th><th>shape</th>",
        Escaped(name)
    );
    for field in &fields {
        let _ = write!(html, "<th>{}</th>", Escaped(field.replace('_', " ")));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}P/{}C</td>",
            Escaped(&row.pool),
            Escaped(&row.machine),
            row.producers,
            row.consumers
        );
        for field in &fields {
            let text = row.fields.get(*field).map(number::field).unwrap_or_default();
            let _ = write!(html, "<td>{}</td>", Escaped(text));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div></section>\n");
}
