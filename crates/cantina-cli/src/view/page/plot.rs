//! A panel as a picture: a line per pool over the columns, with whiskers from the smallest to the
//! largest reading and the pool's name at the line's end.
//!
//! Ours, contenders and peers differ in weight, dash and mark, not in colour alone. All colours
//! come from the page's style, so that the picture follows light and dark. A mark that may not be compared is dotted and not filled.

mod against;

use super::escape::Escaped;
use super::labels::apart;
use super::scale::Scale;
use super::tip::tip;
use crate::view::experiment::Measure;
use crate::view::grid::{Cell, Line, Panel};
use cantina_record::Kind;
use std::fmt::Write;

pub(super) use against::against;

/// How large a picture is and where its parts are, in its own units.
pub(super) struct Layout {
    class: &'static str,
    width: f64,
    left: f64,
    /// The room for names, at most.
    names: f64,
    /// The width of a letter of a name, on average.
    letter: f64,
    top: f64,
    bottom: f64,
    /// The height between top and bottom, at least.
    height: f64,
    /// The height of a label.
    pitch: f64,
    /// Whether the columns' names are turned to fit.
    turned: bool,
}

/// For a desk and for paper.
pub(super) const WIDE: Layout = Layout {
    class: "plot wide",
    width: 960.0,
    left: 48.0,
    names: 230.0,
    letter: 7.2,
    top: 30.0,
    bottom: 34.0,
    height: 380.0,
    pitch: 16.0,
    turned: false,
};

/// For a phone.
pub(super) const NARROW: Layout = Layout {
    class: "plot narrow",
    width: 400.0,
    left: 34.0,
    names: 150.0,
    letter: 6.3,
    top: 28.0,
    bottom: 56.0,
    height: 400.0,
    pitch: 13.0,
    turned: true,
};

/// The hues that the page's style knows.
const HUES: usize = 8;
/// How much of a column's width its marks take up.
const DODGE: f64 = 0.56;
/// Between the columns and the names.
const NAME_GAP: f64 = 22.0;

/// A point of a line: its column, its place, and its smallest and largest reading.
struct Point {
    column: usize,
    x: f64,
    y: f64,
    whisker: Option<(f64, f64)>,
    is_comparable: bool,
    tip: String,
}

/// The picture of a panel. The scale is given, so that panels side by side can share it.
pub(super) fn plot(measure: &Measure, panel: &Panel, scale: &Scale, layout: &Layout) -> String {
    Plot::new(measure, panel, scale, layout).draw()
}

struct Plot<'a> {
    measure: &'a Measure,
    panel: &'a Panel<'a>,
    scale: &'a Scale,
    layout: &'a Layout,
    /// The height between top and bottom.
    height: f64,
    /// The width of a column.
    band: f64,
    /// Where the columns end and the names begin.
    end: f64,
    /// How many letters of a name are shown.
    letters: usize,
}

impl<'a> Plot<'a> {
    fn new(
        measure: &'a Measure,
        panel: &'a Panel<'a>,
        scale: &'a Scale,
        layout: &'a Layout,
    ) -> Self {
        let labels = layout.pitch * panel.lines.len() as f64;
        let height = layout.height.max(labels);
        let longest = panel.lines.iter().map(|line| line.pool.chars().count()).max().unwrap_or(0);
        let names = (NAME_GAP + layout.letter * longest as f64).min(layout.names);
        let letters = ((layout.names - NAME_GAP) / layout.letter) as usize;
        let end = layout.width - names;
        let band = (end - layout.left) / panel.columns.len().max(1) as f64;
        Self { measure, panel, scale, layout, height, band, end, letters }
    }

    fn draw(&self) -> String {
        let Layout { class, width, top, bottom, .. } = *self.layout;
        let height = top + self.height + bottom;
        let mut svg = String::new();
        let name = format!("{} by pool; the table below has the numbers", self.measure.title);
        let _ = write!(
            svg,
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
            Escaped(name)
        );
        self.draw_axes(&mut svg);
        let points: Vec<Vec<Point>> =
            self.panel.lines.iter().enumerate().map(|(at, line)| self.points(at, line)).collect();
        let labels = self.place_labels(&points);
        // The heavier lines come last, on top.
        for (at, line) in self.panel.lines.iter().enumerate().rev() {
            if !points[at].is_empty() {
                self.draw_line(&mut svg, line, &points[at], labels[at]);
            }
        }
        svg.push_str("</svg>");
        svg
    }

    fn y(&self, value: f64) -> f64 {
        self.layout.top + self.height * (1.0 - self.scale.at(value))
    }

    /// The left edge of a column.
    fn x(&self, column: usize) -> f64 {
        self.layout.left + self.band * column as f64
    }

    fn draw_axes(&self, svg: &mut String) {
        let Layout { left, top, turned, .. } = *self.layout;
        let (end, foot) = (self.end, top + self.height);
        let unit = unit(self.measure, self.scale);
        let _ = write!(
            svg,
            "<text class=\"unit\" x=\"{}\" y=\"14\">{}</text><g class=\"axis\">",
            if turned { 2.0 } else { 8.0 },
            Escaped(unit)
        );
        draw_levels(svg, self.scale, (left, end), |tick| self.y(tick));
        for (at, column) in self.panel.columns.iter().enumerate() {
            let middle = self.x(at) + self.band / 2.0;
            if at > 0 && !column.joined {
                let x = self.x(at);
                let _ = write!(
                    svg,
                    "<line class=\"break\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{foot:.1}\"/>"
                );
            }
            let (y, turn) = if turned {
                (foot + 14.0, format!(" transform=\"rotate(-40 {middle:.1} {:.1})\"", foot + 14.0))
            } else {
                (foot + 22.0, String::new())
            };
            let class = if turned { "column turned" } else { "column" };
            let _ = write!(
                svg,
                "<text class=\"{class}\" x=\"{middle:.1}\" y=\"{y:.1}\"{turn}>{}</text>",
                Escaped(&column.label)
            );
        }
        svg.push_str("</g>");
    }

    /// The points of a line. In a column the lines stand side by side, so that whiskers do not
    /// cover each other.
    fn points(&self, at: usize, line: &Line) -> Vec<Point> {
        let place = (at as f64 + 0.5) / self.panel.lines.len() as f64;
        let offset = self.band * ((1.0 - DODGE) / 2.0 + DODGE * place);
        let point = |(column, cell): (usize, &Cell)| {
            let reading = cell.reading()?;
            Some(Point {
                column,
                x: self.x(column) + offset,
                y: self.y(reading.value),
                whisker: reading.spread.map(|(low, high)| (self.y(low), self.y(high))),
                is_comparable: reading.is_comparable(),
                tip: tip(self.measure, line, &self.panel.columns[column].label, &reading),
            })
        };
        line.cells.iter().enumerate().filter_map(point).collect()
    }

    /// Where the pools' names go: beside the picture, or beside the last point of a line that
    /// ends early.
    fn place_labels(&self, points: &[Vec<Point>]) -> Vec<(f64, f64)> {
        let last_column = self.panel.columns.len().saturating_sub(1);
        let mut labels = vec![(0.0, 0.0); points.len()];
        for column in 0..=last_column {
            let mut ending: Vec<(usize, &Point)> = points
                .iter()
                .enumerate()
                .filter_map(|(at, points)| Some((at, points.last()?)))
                .filter(|(_, point)| point.column == column)
                .collect();
            ending.sort_by(|(_, a), (_, b)| a.y.total_cmp(&b.y));
            let wishes: Vec<f64> = ending.iter().map(|(_, point)| point.y).collect();
            let (top, bottom) = (self.layout.top, self.layout.top + self.height);
            let heights = apart(&wishes, self.layout.pitch, top, bottom);
            let x = if column == last_column {
                self.end + NAME_GAP
            } else {
                self.x(column + 1) - self.band * (1.0 - DODGE) / 4.0
            };
            for ((at, _), y) in ending.into_iter().zip(heights) {
                labels[at] = (x, y);
            }
        }
        labels
    }

    fn draw_line(&self, svg: &mut String, line: &Line, points: &[Point], label: (f64, f64)) {
        begin_series(svg, line);
        let path = self.path(points);
        if !path.is_empty() {
            let _ = write!(
                svg,
                "<path class=\"reach\" d=\"{path}\"/><path class=\"line\" d=\"{path}\"/>"
            );
        }
        for point in points {
            let Point { x, y, .. } = point;
            begin_dot(svg, point.is_comparable, &point.tip);
            if let Some((low, high)) = point.whisker {
                let _ = write!(
                    svg,
                    "<path class=\"whisker\" d=\"M{x:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h4M{0:.1} {high:.1}h4\"/>",
                    x - 2.0
                );
            }
            let _ = write!(svg, "<circle class=\"reach\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>");
            svg.push_str(&mark(line.kind, *x, *y));
            svg.push_str("</g>");
        }
        let (x, y) = label;
        if let Some(last) = points.last() {
            let _ = write!(
                svg,
                "<path class=\"leader\" d=\"M{:.1} {:.1}L{:.1} {y:.1}h4\"/>",
                last.x + 6.0,
                last.y,
                x - 8.0
            );
        }
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
            y + 4.0,
            Escaped(self.shortened(line.pool))
        );
    }

    /// A name that fits beside the picture.
    fn shortened(&self, name: &str) -> String {
        if name.chars().count() <= self.letters {
            return name.to_owned();
        }
        name.chars().take(self.letters - 1).chain(['…']).collect()
    }

    /// The line through the points, broken where a column is missing or stands for itself.
    fn path(&self, points: &[Point]) -> String {
        let mut path = String::new();
        for pair in points.windows(2) {
            let [from, to] = pair else { continue };
            if to.column == from.column + 1 && self.panel.columns[to.column].joined {
                let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", from.x, from.y, to.x, to.y);
            }
        }
        path
    }
}

/// What a measure is in, how it is drawn, and which of it is better.
fn unit(measure: &Measure, scale: &Scale) -> String {
    let how = if scale.logarithmic { ", logarithmic" } else { "" };
    format!("{}{how}, {}", measure.unit, measure.better.hint())
}

/// The lines of what goes upwards, from left to right, with their numbers.
fn draw_levels(svg: &mut String, scale: &Scale, (left, end): (f64, f64), y: impl Fn(f64) -> f64) {
    for (tick, label) in &scale.ticks {
        let y = y(*tick);
        let _ = write!(
            svg,
            "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            left - 7.0,
            y + 4.0
        );
    }
}

/// Opens what belongs to a pool.
fn begin_series(svg: &mut String, line: &Line) {
    let (kind, hue, pool) = (kind_class(line.kind), line.hue % HUES, Escaped(line.pool));
    let _ = write!(svg, "<g class=\"series {kind} hue{hue}\" data-pool=\"{pool}\">");
}

/// Opens what belongs to a point, with what is told of it. Who may not be compared has a dotted mark.
fn begin_dot(svg: &mut String, is_comparable: bool, tip: &str) {
    let class = if is_comparable { "dot" } else { "dot apart" };
    let _ = write!(svg, "<g class=\"{class}\"><title>{}</title>", Escaped(tip));
}

/// The mark of a kind: a disc for ours, a square for contenders, a diamond for peers.
pub(super) fn mark(kind: Kind, x: f64, y: f64) -> String {
    match kind {
        Kind::Ours => format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\"/>"),
        Kind::Contender => {
            let (x, y) = (x - 3.2, y - 3.2);
            format!("<rect class=\"mark\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"6.4\" height=\"6.4\"/>")
        }
        Kind::Peer => {
            format!(
                "<path class=\"mark\" d=\"M{x:.1} {:.1}l3.8 3.8l-3.8 3.8l-3.8 -3.8z\"/>",
                y - 3.8
            )
        }
    }
}

/// The name that the page's style has for a kind.
pub(super) fn kind_class(kind: Kind) -> &'static str {
    match kind {
        Kind::Ours => "ours",
        Kind::Contender => "contender",
        Kind::Peer => "peer",
    }
}
