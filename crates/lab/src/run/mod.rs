//! Runs a lab.

pub mod command;
mod disturbance;
pub mod host;
pub mod http_get;
mod identity;
pub mod keeper;
mod link_figures;
pub mod names;
pub mod network;
pub mod observe;
pub mod order;
pub mod problems_by_cause;
pub mod process;
mod progress;
pub mod rate;
mod reading;
mod relay;
pub mod request_script;
mod sanity;
pub mod server;
pub mod service;
pub mod sources;
mod standstill;
pub mod start;
pub mod store;
pub mod variant;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_machine::Programs;
use plimsoll_results::environment::Environment;
use plimsoll_results::lab::{CellState, Placed};
use plimsoll_results::run_seed;

use crate::plan::variants_of;
use crate::problem::Problem;
use crate::resolve::{Cell, Lab};
use crate::stamp::now;
use disturbance::repeat_if_disturbed;
use identity::{commit_of, version};
use network::Network;
use observe::{ObservedEntry, Observer};
use order::{ScheduledRun, new_seed, order};
use problems_by_cause::ProblemsByCause;
use progress::Progress;
pub use reading::{FirstLook, Reading};
use server::Server;
use standstill::Standstill;
use store::{Facts, OtherPrograms, RunFile, Store};
use variant::Variant;

/// The result of running a lab.
#[derive(Clone, Debug, Default)]
pub struct LabOutcome {
    /// Number of runs made now.
    pub ran: u32,
    /// Number of runs made earlier.
    pub before: u32,
    /// Problems, without duplicates.
    pub problems: Vec<Problem>,
}

/// A progress report of a lab.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A step has ended.
    Done(&'a str),
    /// A run of a cell has ended: what is printed before and after its figures.
    Measured {
        cell: &'a Cell,
        text: &'a str,
        figures: &'a str,
        time: &'a str,
    },
    /// A step has started.
    Now(&'a str),
}

/// Checks that all programs exist and all networks can be created, before anything is started.
///
/// # Errors
/// All missing programs and networks, with their locations in the lab file.
pub fn check_programs(lab: &Lab) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for number in variants_of(lab) {
        let Some(setup) = lab.variants.get(number) else {
            continue;
        };
        for process in setup
            .processes
            .iter()
            .filter(|process| process.url.is_none() && process.host.is_none())
        {
            let found = match process.kind {
                crate::resolve::process::ProcessKind::Command => {
                    server::with_program(process.command.clone()).map(drop)
                }
                _ => service::program(process).map(drop),
            };
            if let Err(why) = found {
                problems.push(process.place_of_command.problem(why));
            }
        }
    }
    for cell in lab.cells.iter().filter(|cell| cell.chosen) {
        let load = &cell.load;
        let missing = match (&load.source, load.tool.as_str()) {
            (crate::resolve::load::Source::Command(words), _) => {
                server::with_program(words.clone()).err()
            }
            (_, "plimsoll") => None,
            (_, tool) => {
                let name = load.program.as_deref().unwrap_or(tool);
                service::find(name, &[]).is_none().then(|| {
                    format!("the program {name} is missing: install it, set its path with program = \"…\", or remove tool")
                })
            }
        };
        problems.extend(missing.map(|why| load.place_of_source.problem(why)));
    }
    problems.sort();
    problems.dedup();
    match problems.is_empty() {
        true => network::check(lab),
        false => Err(problems),
    }
}

/// Creates the directory of a new run. Without a seed, the order of the cells is random.
///
/// # Errors
/// The system's error.
pub fn begin(
    lab: &Lab,
    results: &Path,
    private: &Path,
    seed: Option<u64>,
) -> Result<Store, String> {
    let file =
        std::path::absolute(&lab.document.file).unwrap_or_else(|_| lab.document.file.clone());
    let stem = match file.file_name().and_then(|name| name.to_str()) {
        Some(crate::file::NAME) | None => file.parent().and_then(|parent| parent.file_name()),
        Some(_) => file.file_stem(),
    };
    let stem = stem.map_or_else(
        || "lab".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let started = now();
    let time: String = started
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    std::fs::create_dir_all(results)
        .map_err(|error| format!("cannot create {}: {error}", results.display()))?;
    let mut directory = results.join(format!("{stem}-{}-{time}", lab.form.name()));
    let mut another = 2;
    while std::fs::create_dir(&directory).is_err() {
        if another > 100 {
            return Err(format!(
                "cannot create {}; choose another directory with --results",
                directory.display()
            ));
        }
        directory = results.join(format!("{stem}-{}-{time}-{another}", lab.form.name()));
        another += 1;
    }
    let store = Store { directory };
    let run = RunFile {
        schema: store::SCHEMA.to_owned(),
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        file,
        text: lab.document.text.clone(),
        form: lab.form.name().to_owned(),
        started,
        seed: seed.unwrap_or_else(new_seed),
        environment: environment(private),
        commit: commit_of(&lab.document.file),
        sources: sources::of(lab),
    };
    store::write(&store.directory.join("run.json"), &run)?;
    store::write(&store.directory.join("plan.json"), &crate::plan::json(lab))?;
    Ok(store)
}

/// The machine, and the file system of the processes' private directories, which affects durable
/// stores.
fn environment(private: &Path) -> Environment {
    let mut environment = Environment::here();
    let file_system = plimsoll_machine::file_system(private);
    let named = file_system.map(|text| ("file system of the stores".to_owned(), text));
    environment.settings.extend(named);
    let step = plimsoll_units::duration::short(plimsoll_machine::clock_step());
    let settings = &mut environment.settings;
    settings.push(("clock resolution".to_owned(), step));
    environment
}

/// Opens an existing run: its lab file and the resolved lab.
///
/// # Errors
/// If it is not a run, or if its lab file is missing or has changed.
pub fn open(directory: &Path) -> Result<(Store, RunFile, Lab), Vec<Problem>> {
    let one = |why: String| vec![Problem::nowhere(why)];
    let run: RunFile = store::read(&directory.join("run.json")).map_err(|why| {
        one(format!(
            "{} is not a run of a lab ({why}); list all runs with plimsoll lab list",
            directory.display()
        ))
    })?;
    if run.schema != store::SCHEMA {
        return Err(one(format!(
            "{} was created by plimsoll {}, which did not measure in restarts, so this version ({}) cannot continue or \
             evaluate it: run {} again. Its report.md and result.json remain readable",
            directory.display(),
            run.plimsoll,
            env!("CARGO_PKG_VERSION"),
            run.file.display()
        )));
    }
    let form = crate::form::FormName::of(&run.form).ok_or_else(|| {
        one(format!(
            "{}: unknown form {}",
            directory.display(),
            run.form
        ))
    })?;
    let lab = Lab::read(&run.file, form)?;
    if lab.document.text != run.text {
        return Err(one(format!(
            "{} has changed since this run started, so its cells would not be the same: run it again, or restore the text from {}/run.json",
            run.file.display(),
            directory.display()
        )));
    }
    let store = Store {
        directory: directory.to_owned(),
    };
    Ok((store, run, lab))
}

/// Opens a run to resume it: none of its input files may have changed.
///
/// # Errors
/// See [`open`]. Also lists the changed files.
pub fn open_to_resume(directory: &Path) -> Result<(Store, RunFile, Lab), Vec<Problem>> {
    let (store, run, lab) = open(directory)?;
    let changed = sources::changed(&run.sources);
    if changed.is_empty() {
        return Ok((store, run, lab));
    }
    let names: Vec<String> = changed
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Err(vec![Problem::nowhere(format!(
        "{} {} changed since this run started, so new runs could not be compared with the existing ones: restore {}, or start a new run with plimsoll lab run {}",
        names.join(", "),
        if names.len() == 1 { "has" } else { "have" },
        if names.len() == 1 { "it" } else { "them" },
        run.file.display()
    ))])
}

/// Makes the missing runs in the order given by the seed, and reports each step.
pub fn run(
    lab: &Lab,
    seed: u64,
    store: &Store,
    private: &Path,
    reading: Reading,
    tell: &mut dyn FnMut(Step<'_>),
) -> LabOutcome {
    let turns = order(lab, seed);
    let mut outcome = LabOutcome::default();
    let mut wrong = ProblemsByCause::default();
    let mut up: Vec<Variant> = Vec::new();
    let mut lost: Vec<usize> = Vec::new();
    let all = turns.len();
    let mut progress = Progress::begin();
    for (at, turn) in turns.iter().enumerate() {
        let Some(cell) = lab.cells.get(turn.cell) else {
            continue;
        };
        let mut disturbed = Vec::new();
        if let Some(facts) = store.facts(cell.number, turn.run) {
            let read = || (reading.look)(cell, turn.run, store).disturbance;
            let Some(why) = reading.repeats_disturbed.then(read).flatten() else {
                outcome.before += 1;
                continue;
            };
            disturbed = facts.disturbed;
            disturbed.push(why);
        }
        if lost.contains(&cell.variant) || (reading.is_enough)(lab, cell, turn.restart - 1, store) {
            continue;
        }
        let turn_name = name_of_turn(cell, turn);
        let label = format!("[{}/{all}] {}, {turn_name}", at + 1, cell.name);
        let left = turns.get(at..).unwrap_or_default();
        let text = progress.text(lab, left);
        tell(Step::Now(&format!("{label} ({text})")));
        let began = Instant::now();
        let problem = match start_variant(lab, cell, turn.restart, store, private, &mut up, tell) {
            Ok(variant) => {
                let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
                let mut attempt = |before: &[String]| {
                    attempt(cell, variant, store, turn.run, (seed, number), before)
                };
                let seen = RefCell::new(FirstLook::default());
                let why = || {
                    seen.replace((reading.look)(cell, turn.run, store));
                    seen.borrow().disturbance.clone()
                };
                let mut say = |text: &str| tell(Step::Done(&format!("{label}: {text}")));
                match repeat_if_disturbed(disturbed, &mut attempt, &why, &mut say) {
                    Ok(line) => {
                        progress.ended(cell, began.elapsed());
                        let left = turns.get(at + 1..).unwrap_or_default();
                        tell(Step::Measured {
                            cell,
                            text: &format!("{label}: {line}"),
                            figures: &seen.borrow().figures,
                            time: &progress.text(lab, left),
                        });
                        outcome.ran += 1;
                        std::thread::sleep(lab.pause);
                        continue;
                    }
                    Err((state, problem)) => {
                        let _ = store.set_fate(cell.number, Some(state));
                        problem
                    }
                }
            }
            Err(problem) => {
                // No cell of this variant can be measured.
                lost.push(cell.variant);
                for other in lab
                    .cells
                    .iter()
                    .filter(|one| one.chosen && one.variant == cell.variant)
                {
                    let _ =
                        store.set_fate(other.number, Some(CellState::Failed(problem.to_string())));
                }
                problem
            }
        };
        tell(Step::Done(&format!("{label}: not measured")));
        wrong.add(problem, &cell.name);
        if let Err(why) = store.check_space() {
            // Further measurements would also be lost.
            outcome.problems = wrong.problems();
            outcome.problems.push(Problem::nowhere(format!(
                "{why}. The lab stops here and keeps its measurements. Free some space, then run: plimsoll lab resume {}",
                store.directory.display()
            )));
            return outcome;
        }
    }
    outcome.problems = wrong.problems();
    outcome
}

/// For example `restart 2`, or `restart 2, run 1 of 3`.
fn name_of_turn(cell: &Cell, turn: &ScheduledRun) -> String {
    let repeats = cell.load.repeats.max(1);
    match repeats {
        1 => format!("restart {}", turn.restart),
        _ => format!(
            "restart {}, run {} of {repeats}",
            turn.restart,
            (turn.run.saturating_sub(1)) % repeats + 1
        ),
    }
}

/// Starts the cell's variant, unless it was already started in this restart. Stops all variants of
/// earlier restarts, the variant with the same setup and, if there are too many, the least recently
/// used one.
fn start_variant<'a>(
    lab: &Lab,
    cell: &Cell,
    restart: u32,
    store: &Store,
    private: &Path,
    up: &'a mut Vec<Variant>,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<&'a mut Variant, Problem> {
    let twin = lab.twin_of(cell.variant);
    up.retain(|variant| variant.restart == restart && Some(variant.number) != twin);
    if let Some(at) = up.iter().position(|variant| variant.number == cell.variant) {
        let mut variant = up.remove(at);
        match variant.ended() {
            None => up.push(variant),
            Some(why) => tell(Step::Done(&format!(
                "variant {} is started again: {why}",
                cell.variant + 1
            ))),
        }
    }
    if up
        .last()
        .is_none_or(|variant| variant.number != cell.variant)
    {
        while up.len() >= lab.keep {
            up.remove(0);
        }
        let setup = lab
            .variants
            .get(cell.variant)
            .ok_or_else(|| Problem::nowhere("the variant does not exist"))?;
        tell(Step::Done(&format!(
            "variant {} {}",
            cell.variant + 1,
            match setup.starts_processes() {
                true => "is started",
                false => "uses systems that already run",
            }
        )));
        let logs = store.logs(cell.variant);
        let mut variant = Variant::start(cell.variant, setup, private, &logs)?;
        variant.restart = restart;
        up.push(variant);
    }
    up.last_mut()
        .ok_or_else(|| Problem::nowhere("no variant is running"))
}

type Unmeasured = (CellState, Problem);

/// Makes one attempt at a run. `seed` is the lab's seed, and `turn` the number of the run in the
/// lab. `disturbed` contains the reasons why earlier attempts do not count.
fn attempt(
    cell: &Cell,
    variant: &mut Variant,
    store: &Store,
    repeat: u32,
    (seed, turn): (u64, u32),
    disturbed: &[String],
) -> Result<String, Unmeasured> {
    let failed = |problem: Problem| (CellState::Failed(problem.to_string()), problem);
    let nowhere = |why: String| failed(Problem::nowhere(why));
    let names = variant.names_from(cell.link.as_ref()).map_err(failed)?;
    let names = command::names_of(cell, repeat, &names);
    let directory = store.make_repeat(cell.number, repeat).map_err(nowhere)?;
    let network = variant.network_of(cell.link.as_ref()).map_err(failed)?;
    let mut link = link_figures::measure(cell, variant, network.as_deref());
    let enter = || network.as_deref().map(Network::enter).transpose();
    let inside = enter().map_err(nowhere)?;
    let sanity = sanity::check(cell, &names, &directory)
        .map_err(|problem| (CellState::Insane(problem.to_string()), problem))?;
    drop(inside);
    let invocation = command::of(cell, &names, &directory).map_err(failed)?;
    let (program, arguments) = invocation
        .words
        .split_first()
        .ok_or_else(|| nowhere("the command is empty".to_owned()))?;
    scrape(variant, &directory, "before");

    let processes: Vec<ObservedEntry> = variant
        .servers
        .iter()
        .filter_map(Server::observed_entry)
        .collect();
    let hosts = host::HostsInUse::begin(&variant.servers);
    let started = now();
    // Only lateness during the load counts.
    variant.relays_late(cell.link.as_ref());
    let programs = Programs::read();
    let standstill = Standstill::watch(processors(variant, cell));
    let mut observer = Observer::begin(&processes, cell.observe.every);
    let mut load = Command::new(program);
    let environment = invocation.environment.iter();
    load.args(arguments)
        .env(
            run_seed::VARIABLE,
            run_seed::of_run(seed, turn.into()).to_string(),
        )
        .envs(environment.map(|(name, value)| (name, value)));
    let inside = enter().map_err(nowhere)?;
    let finished = process::run_watched(&mut load, &cell.load.cpus, cell.load.within, |pid| {
        observer.turn(pid)
    });
    drop(inside);
    let observed = observer.end();
    let standstill = standstill.end();
    let others = Programs::read().others_since(&programs);
    if let Some(link) = &mut link {
        link.late_p99_ms = variant.relays_late(cell.link.as_ref());
    }
    let hosts = hosts.end();
    scrape(variant, &directory, "after");
    let finished = finished.map_err(|why| failed(cell.load.place.problem(why)))?;
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        store::write_text(&path, text.as_bytes())
            .map_err(|error| nowhere(format!("cannot write {}: {error}", path.display())))
    };
    let mut raw = finished.output.clone();
    if !invocation.afterwards.is_empty() {
        let mut after = Command::new(invocation.afterwards.first().map_or("", String::as_str));
        after.args(invocation.afterwards.get(1..).unwrap_or_default());
        let report = process::run(&mut after, &[], Duration::from_secs(120)).map_err(nowhere)?;
        raw += &report.output;
    }
    write("raw.txt", &raw)?;
    write("talk.txt", &finished.talk)?;
    let expected = finished.code == Some(0)
        || finished
            .code
            .is_some_and(|code| invocation.results.contains(&code));
    let results = expected && (!cell.load.is_search() || crate::limit_search::read(&raw).is_some());
    if !results {
        return Err(failed(cell.load.place_of_source.problem(format!(
            "the load of {} ended with {}: {}; run it by hand: {}",
            cell.name,
            finished.status,
            finished.last_lines(),
            invocation.words.join(" ")
        ))));
    }
    let facts = Facts {
        turn,
        started,
        command: invocation.words.clone(),
        status: finished.status,
        failed: variant.ended(),
        observed,
        link,
        others: others.map(|used| OtherPrograms {
            share: used.share,
            most: used.most,
        }),
        standstill_ms: Some(standstill.as_secs_f64() * 1e3),
        sanity: Some(sanity),
        disturbed: disturbed.to_vec(),
        topology: topology(variant, cell, &invocation.words),
        hosts,
    };
    store.set_fate(cell.number, None).map_err(nowhere)?;
    store::write(&directory.join("facts.json"), &facts).map_err(nowhere)?;
    Ok(match &facts.failed {
        Some(why) => format!("done, but {why}"),
        None => "done".to_owned(),
    })
}

/// The processors of this host that the lab selected, for the systems and for the generator.
fn processors(variant: &Variant, cell: &Cell) -> BTreeSet<u32> {
    let servers = variant
        .servers
        .iter()
        .filter(|server| server.connection.is_none());
    let cpus = servers.flat_map(|server| &server.cpus);
    cpus.chain(&cell.load.cpus).copied().collect()
}

fn topology(variant: &Variant, cell: &Cell, words: &[String]) -> Vec<Placed> {
    let mut placed: Vec<Placed> = variant
        .servers
        .iter()
        .map(|server| Placed {
            name: server.name.clone(),
            cpus: server.cpus.clone(),
            command: server.command.join(" "),
            version: server.version.clone(),
            settings: server.settings.clone(),
        })
        .collect();
    placed.push(Placed {
        name: "generator".to_owned(),
        cpus: cell.load.cpus.clone(),
        command: words.join(" "),
        version: version(None, words),
        settings: Vec::new(),
    });
    placed
}

/// Saves the systems' own metrics.
fn scrape(variant: &Variant, directory: &Path, when: &str) {
    for server in &variant.servers {
        let Some(url) = &server.metrics else { continue };
        let text = match http_get::get(url, Duration::from_secs(5)) {
            Ok((_, body)) => body,
            Err(why) => format!("# {why}\n"),
        };
        // The metrics are additional information: the run is valid without them.
        let path: PathBuf = directory.join(format!("{}-metrics-{when}.txt", server.name));
        let _ = std::fs::write(path, text);
    }
}
