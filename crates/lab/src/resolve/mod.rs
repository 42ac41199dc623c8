//! Resolves a lab file to all cells with all their effective values.

pub mod address;
pub mod conclusions;
pub mod design;
pub mod fields;
pub mod host;
pub mod link;
pub mod load;
pub mod process;
pub mod questions;
pub mod same_cell;
pub mod scope;
pub mod tables;
pub mod until;
pub mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::file::node::Table;
use crate::file::{Document, keys, missing};
use crate::form::{Form, FormName};
use crate::matrix::{Axis, Coordinates, Matrix, is_name};
use crate::problem::{Location, Problem};
use crate::template;
use conclusions::{Avoided, Compared, Objective, Published};
use fields::{Fields, merged, merged_by_name};
pub use link::{Implementation, Link};
use load::{Load, SOURCES, Sanity};
use process::{Process, names_of};
use questions::DeclaredQuestion;
use scope::{ProcessNames, Scope};
use tables::DeclaredTable;
use words::AxisWords;

/// A lab in one of its forms, with all values that are known before it runs.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The lab file.
    pub document: Document,
    pub title: String,
    /// The lab's question.
    pub question: String,
    /// The document that the lab repeats.
    pub source: Option<String>,
    /// Maximum number of variants that run at the same time.
    pub keep: usize,
    /// Pause between runs.
    pub pause: Duration,
    pub form: FormName,
    pub axes: Vec<Axis>,
    /// All cells. The last cell may be a copy of another one: see [`Lab::matrix`].
    pub cells: Vec<Cell>,
    /// The variants. Each cell refers to its variant by index.
    pub variants: Vec<Setup>,
    pub objectives: Vec<Objective>,
    /// The comparisons.
    pub compared: Vec<Compared>,
    /// The tables of the report.
    pub tables: Vec<DeclaredTable>,
    /// The questions and statements with which the report begins.
    pub questions: Vec<DeclaredQuestion>,
    /// The report's words for the values of axes.
    pub words: AxisWords,
    /// The published figures.
    pub published: Vec<Published>,
    /// The published errors.
    pub avoided: Vec<Avoided>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Its number, counted from 1.
    pub number: usize,
    pub name: String,
    /// Its values on the axes.
    #[serde(serialize_with = "map_of_coordinates")]
    pub coordinates: Coordinates,
    /// The index of the repeated cell, if this cell is a second measurement of another cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<usize>,
    /// Whether this form includes the cell.
    pub chosen: bool,
    /// The number of its variant, counted from 0.
    pub variant: usize,
    /// The link to the system, if any.
    pub link: Option<Link>,
    /// The check that must pass before the cell is measured.
    pub sanity: Sanity,
    pub load: Load,
    /// The observations to make.
    pub observe: Observe,
}

/// A variant: the processes and data that several cells share.
#[derive(Clone, Debug, Serialize)]
pub struct Setup {
    /// The names in the certificates, if there are certificates.
    pub certificates: Option<Vec<String>>,
    /// Services, then systems, in the order in which they start.
    pub processes: Vec<Process>,
    /// The steps that write data.
    pub seeds: Vec<Seed>,
}

impl Setup {
    /// Whether the lab starts a process. A system with a URL runs already.
    pub fn starts_processes(&self) -> bool {
        self.processes.iter().any(|process| process.url.is_none())
    }
}

/// A step that writes data and checks it.
#[derive(Clone, Debug, Serialize)]
pub struct Seed {
    pub name: String,
    /// A k6 script.
    #[serde(serialize_with = "text_of_optional_path")]
    pub script: Option<PathBuf>,
    pub command: Vec<String>,
    /// Variables of the script, or the environment of the command.
    pub environment: Vec<(String, String)>,
    /// The expected results.
    pub expect: Vec<(String, String)>,
    /// Its time limit.
    #[serde(serialize_with = "text_of_time")]
    pub within: Duration,
    /// Its location in the lab file.
    #[serde(skip)]
    pub place: Location,
    /// The location of the expected results in the lab file.
    #[serde(skip)]
    pub place_of_expect: Location,
}

/// What to observe during runs.
#[derive(Clone, Debug, Serialize)]
pub struct Observe {
    /// The interval.
    #[serde(serialize_with = "text_of_time")]
    pub every: Duration,
    /// Whether the link is measured.
    pub link: bool,
}

impl Default for Location {
    fn default() -> Location {
        Location::new(Path::new(""), 1)
    }
}

impl Lab {
    /// Reads a lab file in the given form.
    ///
    /// # Errors
    /// All problems in it.
    pub fn read(path: &Path, which: FormName) -> Result<Lab, Vec<Problem>> {
        Lab::of(Document::read(path)?, which)
    }

    /// Resolves a lab file that has already been read.
    ///
    /// # Errors
    /// All problems in it.
    pub fn of(document: Document, which: FormName) -> Result<Lab, Vec<Problem>> {
        let mut problems = Vec::new();
        let matrix = Matrix::read(&document, &mut problems);
        for (_, node) in every_table(&document) {
            if let Some(table) = node.table() {
                crate::matrix::When::of(table).check(&matrix.axes, &mut problems);
            }
        }
        let form = Form::read(&document, which, &matrix.axes, &mut problems);
        if document.tables("load").is_empty() {
            problems.push(
                document
                    .top()
                    .problem("there is no [load]: add one, for example with script = \"check.js\""),
            );
        }
        check_names(&document, &mut problems);
        // Report errors in tables that apply to no cell or to all cells only once.
        if !problems.is_empty() {
            return Err(sorted(problems));
        }
        let mut lab = Lab::head(&document, &matrix, which, &mut problems);
        let chosen = form.choose(&matrix.cells);
        let mut known: Vec<String> = Vec::new();
        for (at, coordinates) in matrix.cells.iter().enumerate() {
            let (setup, mut cell) = cell_of(&document, coordinates, &form, &mut problems);
            let hash = hash_of(&setup);
            let variant = known.iter().position(|one| *one == hash);
            cell.variant = variant.unwrap_or_else(|| {
                known.push(hash);
                lab.variants.push(setup);
                known.len() - 1
            });
            cell.number = at + 1;
            cell.chosen = chosen.get(at).copied().unwrap_or(false);
            lab.cells.push(cell);
            // Errors in one cell usually occur in all cells, so stop early.
            if problems.len() > 100 {
                break;
            }
        }
        if problems.is_empty() {
            design::check(&lab, &mut problems);
            same_cell::add(&mut lab);
        }
        match problems.is_empty() {
            true => Ok(lab),
            false => Err(sorted(problems)),
        }
    }

    fn head(
        document: &Document,
        matrix: &Matrix,
        which: FormName,
        problems: &mut Vec<Problem>,
    ) -> Lab {
        let nowhere = Coordinates::default();
        let scope = Scope {
            directory: Some(document.directory()),
            ..Scope::default()
        };
        let (place, table) = merged(document.tables("lab"), &nowhere, &keys::LAB, &[])
            .unwrap_or_else(|| (document.top(), Table::new()));
        let mut fields = Fields::new(&keys::LAB, place, &table, &scope, problems);
        let title = fields.required("title");
        let question = fields.text("question").unwrap_or_default();
        let source = fields.text("source");
        let keep = fields.count("keep").unwrap_or(4).max(1);
        let pause = fields.time("pause").unwrap_or(Duration::from_millis(500));
        Lab {
            title,
            question,
            source,
            keep: usize::try_from(keep).unwrap_or(1),
            pause,
            form: which,
            axes: matrix.axes.clone(),
            cells: Vec::new(),
            variants: Vec::new(),
            objectives: conclusions::objectives(document, problems),
            compared: conclusions::compared(document, &matrix.axes, problems),
            tables: tables::tables(document, &matrix.axes, problems),
            questions: questions::questions(document, &matrix.axes, problems),
            words: words::words(document, &matrix.axes, problems),
            published: conclusions::published(document, problems),
            avoided: conclusions::avoided(document, problems),
            document: document.clone(),
        }
    }
}

fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort();
    problems.dedup();
    problems
}

/// All tables that may contain `when`, with the names of their sections.
fn every_table(
    document: &Document,
) -> impl Iterator<Item = (&'static str, &crate::file::node::Node)> {
    let sections = keys::FILE.keys.iter().map(|key| key.name);
    sections
        .filter(|name| {
            !matches!(
                *name,
                "axes" | "exclude" | "forms" | "include" | "lab" | "words"
            )
        })
        .flat_map(|name| document.tables(name).iter().map(move |node| (name, node)))
}

/// Checks that names exist, are valid and are unique.
fn check_names(document: &Document, problems: &mut Vec<Problem>) {
    for section in ["system", "service", "place"] {
        for node in document.tables(section) {
            let name = node.table().and_then(|table| table.get("name"));
            match name {
                None => problems.push(missing(&node.place, &format!("[[{section}]]"), "name")),
                Some(name) => {
                    let text = name.scalar().unwrap_or_default();
                    if !is_name(&text) {
                        problems.push(name.place.problem(format!(
                            "{text:?} cannot be a name: names consist of letters, digits, - and _, and start with a letter"
                        )));
                    }
                    if section != "place"
                        && ["seed", "certificates", "generator", "lab"].contains(&text.as_str())
                    {
                        problems.push(name.place.problem(format!(
                            "\"{text}\" is reserved in a lab: choose another name"
                        )));
                    }
                }
            }
        }
    }
    for node in document.tables("variables") {
        for (name, node) in node.table().into_iter().flatten() {
            if !is_name(name) {
                problems.push(node.place.problem(format!(
                    "{name:?} cannot be a variable: names consist of letters, digits, - and _, and start with a letter"
                )));
            }
        }
    }
}

fn cell_of(
    document: &Document,
    coordinates: &Coordinates,
    form: &Form,
    problems: &mut Vec<Problem>,
) -> (Setup, Cell) {
    let tables = |name| document.tables(name);
    let services = merged_by_name(
        tables("service"),
        coordinates,
        &keys::SERVICE,
        &["command", "url"],
    );
    let systems = merged_by_name(tables("system"), coordinates, &keys::SYSTEM, &[]);
    let processes: Vec<ProcessNames> = services
        .iter()
        .chain(&systems)
        .map(|(name, _, table)| names_of(name, table))
        .collect();
    let seeds = merged_by_name(
        tables("seed"),
        coordinates,
        &keys::SEED,
        &["script", "command"],
    );
    let seed_names: Vec<String> = seeds.iter().map(|(name, ..)| seed_name(name)).collect();
    let certificates = merged(
        tables("certificates"),
        coordinates,
        &keys::CERTIFICATES,
        &[],
    );
    let mut scope = Scope {
        cell: Some(coordinates),
        variables: &[],
        directory: Some(document.directory()),
        processes: &processes,
        seeds: &seed_names,
        certificates: certificates.is_some(),
        own: None,
        load: false,
    };
    let variables = variables(document, coordinates, &scope, problems);
    scope.variables = &variables;

    let mut setup = Setup {
        certificates: certificates.map(|(place, table)| {
            let fields = Fields::new(&keys::CERTIFICATES, place, &table, &scope, problems);
            match fields.strings("names") {
                none if none.is_empty() => vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
                names => names,
            }
        }),
        processes: Vec::new(),
        seeds: Vec::new(),
    };
    let all = services
        .iter()
        .map(|one| (false, one))
        .chain(systems.iter().map(|one| (true, one)));
    for ((measured, (_, place, table)), names) in all.zip(&processes) {
        let scope = Scope {
            own: Some(names),
            ..scope.clone()
        };
        let process = Process::read(measured, place, table, &scope, problems);
        setup.processes.push(process);
    }
    process::check(&setup.processes, problems);
    for (_, place, table) in &seeds {
        setup.seeds.push(seed(place, table, &scope, problems));
    }

    scope.load = true;
    let observe = observe(document, coordinates, &scope, problems);
    let (place, table) = merged(tables("load"), coordinates, &keys::LOAD, &SOURCES)
        .unwrap_or_else(|| (document.top(), Table::new()));
    if table.is_empty() {
        problems.push(place.problem(format!(
            "no [load] applies to the cell {}: add one, or exclude the cell",
            coordinates.name()
        )));
    }
    let mut fields = Fields::new(&keys::LOAD, place, &table, &scope, problems);
    let load = Load::read(&mut fields, form, &scope);
    let near = coordinates.get("place").unwrap_or("near").to_owned();
    let from = fields.text("place").unwrap_or(near);
    let place_of_from = fields.place_of("place");
    let sanity = match merged(
        tables("sanity"),
        coordinates,
        &keys::SANITY,
        &["script", "command"],
    ) {
        Some((place, table)) => {
            let mut fields = Fields::new(&keys::SANITY, place, &table, &scope, problems);
            Sanity::read(Some(&mut fields), &load.place)
        }
        None => Sanity::read(None, &load.place),
    };
    let link = link::read(
        document,
        coordinates,
        &from,
        &place_of_from,
        &scope,
        problems,
    );
    if let Some(host) = link.as_ref().and_then(|link| link.host.as_ref()) {
        host::place(&mut setup.processes, host, problems);
    }
    let cell = Cell {
        number: 0,
        name: coordinates.name(),
        coordinates: coordinates.clone(),
        copy_of: None,
        chosen: true,
        variant: 0,
        link,
        sanity,
        load,
        observe,
    };
    (setup, cell)
}

fn seed_name(name: &str) -> String {
    if name.is_empty() { "seed" } else { name }.to_owned()
}

/// Reads variables in the order of the file. Each may use those before it.
fn variables(
    document: &Document,
    cell: &Coordinates,
    scope: &Scope<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<(String, String)> {
    let mut known: Vec<(String, String)> = Vec::new();
    for node in document.tables("variables") {
        let Some(table) = node.table() else { continue };
        if !crate::matrix::When::of(table).holds(cell) {
            continue;
        }
        for (name, node) in table.iter().filter(|(name, _)| *name != "when") {
            let Some(text) = node.scalar() else {
                problems.push(
                    node.place
                        .problem(format!("the variable {name} must be text")),
                );
                continue;
            };
            if cell.get(name).is_some() {
                problems.push(node.place.problem(format!(
                    "\"{name}\" is already an axis: give the variable another name"
                )));
            }
            let scope = Scope {
                variables: &known,
                load: true,
                ..scope.clone()
            };
            match template::expand(&text, |name| scope.look_up(name)) {
                Ok(text) => known.push((name.clone(), text)),
                Err(why) => {
                    problems.push(node.place.problem(why));
                    // Register it anyway, so the error is reported only once.
                    known.push((name.clone(), String::new()));
                }
            }
        }
    }
    known
}

fn seed(place: &Location, table: &Table, scope: &Scope<'_>, problems: &mut Vec<Problem>) -> Seed {
    let mut fields = Fields::new(&keys::SEED, place.clone(), table, scope, problems);
    fields.one_of(&["script", "command"]);
    Seed {
        name: seed_name(&fields.text("name").unwrap_or_default()),
        script: fields.path("script"),
        command: fields.words("command").unwrap_or_default(),
        environment: fields.string_map("environment"),
        expect: fields.string_map("expect"),
        within: fields.time("within").unwrap_or(Duration::from_secs(600)),
        place: place.clone(),
        place_of_expect: fields.place_of("expect"),
    }
}

fn observe(
    document: &Document,
    cell: &Coordinates,
    scope: &Scope<'_>,
    problems: &mut Vec<Problem>,
) -> Observe {
    let mut observe = Observe {
        every: Duration::from_secs(1),
        link: true,
    };
    if let Some((place, table)) = merged(document.tables("observe"), cell, &keys::OBSERVE, &[]) {
        let mut fields = Fields::new(&keys::OBSERVE, place, &table, scope, problems);
        observe.every = fields.time("every").unwrap_or(observe.every);
        observe.link = fields.flag("link").unwrap_or(observe.link);
        if observe.every < Duration::from_millis(50) {
            fields.problem_at(
                "every",
                "observing more often than every 50ms disturbs the measurement",
            );
        }
    }
    observe
}

fn hash_of(setup: &Setup) -> String {
    let text = serde_json::to_vec(setup).unwrap_or_default();
    Sha256::digest(&text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub(crate) fn text_of_time<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&plimsoll_units::duration::format(*time))
}

pub(crate) fn text_of_path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.display().to_string())
}

pub(crate) fn text_of_optional_path<S: Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => text_of_path(path, to),
        None => to.serialize_none(),
    }
}

fn map_of_coordinates<S: Serializer>(cell: &Coordinates, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(cell.0.iter().map(|(axis, value)| (axis, value)))
}
