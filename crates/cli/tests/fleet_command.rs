//! `--fleet` and `plimsoll fleet` with a real NATS server. Runs of a fleet mostly wait, so several tests run at the
//! same time.

#![cfg(target_os = "linux")]

mod fleet_runs;
mod plimsoll;
mod tiny_lab;

use fleet_runs::{at_once, figures, labs, losses, other_commands, servers};

#[test]
fn a_fleet_measures_the_same_as_one_process() {
    at_once(&[
        figures::a_fleet_gives_the_figures_of_one_process,
        figures::merged_histograms_are_those_of_one_process,
        figures::loads_without_a_script_are_divided,
        figures::secrets_reach_agents_and_not_their_files,
    ]);
}

#[test]
fn outputs_pages_and_thresholds_use_the_totals_of_a_fleet() {
    at_once(&[
        figures::outputs_get_every_sample,
        figures::outputs_get_every_request_of_a_load_without_a_script,
        figures::a_threshold_on_the_sums_aborts_the_run,
        figures::the_live_page_shows_the_sums,
    ]);
}

#[test]
fn searches_and_calls_use_a_fleet() {
    at_once(&[
        other_commands::a_search_uses_a_fleet,
        other_commands::a_search_with_a_script_uses_a_fleet,
        other_commands::calls_are_divided,
    ]);
}

#[test]
fn labs_use_a_fleet() {
    at_once(&[
        labs::a_lab_measures_with_a_fleet,
        labs::a_fleet_attacks_the_targets_of_a_lab,
    ]);
}

#[test]
fn killed_agents_are_named() {
    at_once(&[
        losses::a_killed_agent_ends_the_run,
        losses::a_killed_agent_fails_a_load_without_a_script,
        losses::a_killed_agent_is_named_when_the_run_continues,
        losses::the_load_of_a_killed_agent_moves_to_the_others,
    ]);
}

#[test]
fn agents_of_a_server_are_found_limited_and_recovered() {
    at_once(&[
        servers::agents_serve_several_runs_and_report_failures,
        servers::missing_agents_and_wrong_passwords_are_explained,
        servers::regions_are_chosen_and_shown,
        servers::an_agent_reaches_allowed_hosts_only,
        servers::results_are_recovered_when_the_coordinator_is_killed,
    ]);
}
