//! The feature `async-metric-context`: tags, metadata and groups across `await` and in callbacks, with an image of the
//! heap and without.

mod running;

use running::{Run, Script};

/// The samples of the metric `name`: their values and tags without `scenario`, and their metadata.
fn samples(run: &Run, name: &str) -> Vec<String> {
    let metric = run.metric(name);
    let of_metric = run
        .records
        .iter()
        .filter(|record| Some(record.metric) == metric);
    let shown = of_metric.map(|record| {
        let tags = record.tags.iter().filter(|(key, _)| *key != "scenario");
        let metadata = record.metadata.iter().flat_map(|metadata| metadata.iter());
        let tags = tags.map(|(key, value)| format!("{key}={value}"));
        let metadata = metadata.map(|(key, value)| format!("{key}:{value}"));
        let rest: Vec<String> = tags.chain(metadata).collect();
        match name {
            "seen" => format!("{} {}", record.value, rest.join(" ")),
            _ => rest.join(" "),
        }
    });
    shown.collect()
}

/// Runs `body` as the default function, with the feature.
fn run(body: &str) -> Run {
    let text = format!(
        "
        import {{ check, group }} from 'k6';
        import exec from 'k6/execution';
        import {{ Counter }} from 'k6/metrics';
        const seen = new Counter('seen');
        const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
        const tag = (name, value) => {{ exec.vu.metrics.tags[name] = value; }};
        const note = (value) => {{ exec.vu.metrics.metadata.note = value; }};
        export default {body}"
    );
    let runs = [true, false].map(|with_image| {
        let script = Script::text(&text).with_metric_context();
        match with_image {
            true => script.with_image().run(),
            false => script.without_image().run(),
        }
    });
    let [with_image, without_image] = runs;
    assert_eq!(
        samples(&with_image, "seen"),
        samples(&without_image, "seen")
    );
    assert!(
        !with_image.log.iter().any(|line| line.starts_with("error")),
        "{:?}",
        with_image.log
    );
    without_image
}

#[test]
fn interleaved_chains_keep_their_own_tags() {
    let run = run("async function () {
            const chain = async (name, first, second) => {
                tag('chain', name);
                note(name);
                seen.add(1);
                await pause(first);
                seen.add(2);
                tag('step', 'late');
                await pause(second);
                seen.add(3);
            };
            const both = [chain('a', 5, 60), chain('b', 30, 5)];
            tag('chain', 'main');
            await Promise.all(both);
            seen.add(4);
        }");
    assert_eq!(
        samples(&run, "seen"),
        [
            "1 chain=a group= note:a",
            "1 chain=b group= note:b",
            "2 chain=a group= note:a",
            "2 chain=b group= note:b",
            "3 chain=b group= step=late note:b",
            "3 chain=a group= step=late note:a",
            "4 chain=main group= note:b",
        ]
    );
}

#[test]
fn handlers_of_promises_have_the_tags_of_their_registration() {
    let run = run("function () {
            tag('at', 'start');
            const promise = pause(5);
            tag('at', 'registered');
            promise.then(() => { seen.add(1); tag('at', 'inside'); return Promise.reject(2); })
                .catch((value) => seen.add(value))
                .finally(() => seen.add(3));
            tag('at', 'end');
            seen.add(0);
        }");
    assert_eq!(
        samples(&run, "seen"),
        [
            "0 at=end group=",
            "1 at=registered group=",
            "2 at=registered group=",
            "3 at=registered group=",
        ]
    );
}

#[test]
fn asynchronous_groups_end_when_their_promise_is_settled() {
    let run = run(
        "async function () {
            const results = await Promise.all([
                group('a', async () => {
                    seen.add(1);
                    await pause(30);
                    check(1, { fine: true });
                    tag('late', 'yes');
                    await group('inner', async () => { await pause(1); seen.add(2); });
                    seen.add(3);
                    return 'result';
                }),
                group('b', async () => { await pause(5); throw new Error('lost'); }).catch((error) => error.message),
                group('c', () => ({ then(resolve) { resolve('thenable'); } })),
                group('d', () => { tag('inside', 'only'); seen.add(5); return 'plain'; }),
            ]);
            seen.add(6);
            if (results.join() !== 'result,lost,thenable,plain') throw new Error(results.join());
        }",
    );
    assert_eq!(
        samples(&run, "seen"),
        [
            "1 group=::a",
            "5 group=::d inside=only",
            "2 group=::a::inner late=yes",
            "3 group=::a late=yes",
            "6 group=",
        ]
    );
    assert_eq!(samples(&run, "checks"), ["check=fine group=::a"]);
    // A group ends in the order in which the promises are settled, with the tags that it began with.
    assert_eq!(
        samples(&run, "group_duration"),
        [
            "group=::d",
            "group=::c",
            "group=::b",
            "group=::a::inner late=yes",
            "group=::a"
        ]
    );
}

#[test]
fn timers_run_with_the_tags_of_their_registration() {
    let run = run("function () {
            let ticks = 0;
            group('timers', () => {
                tag('tick', 'none');
                setTimeout((value) => seen.add(value), 60, 9);
                const interval = setInterval(() => {
                    seen.add(++ticks);
                    tag('tick', `after ${ticks}`);
                    Promise.resolve().then(() => seen.add(0));
                    if (ticks === 2) clearInterval(interval);
                }, 5);
            });
            seen.add(7);
        }");
    assert_eq!(
        samples(&run, "seen"),
        [
            "7 group=",
            "1 group=::timers tick=none",
            "0 group=::timers tick=after 1",
            "2 group=::timers tick=none",
            "0 group=::timers tick=after 2",
            "9 group=::timers tick=none",
        ]
    );
}

#[test]
fn an_exception_after_await_does_not_leave_its_tags_behind() {
    let text = "
        import { group } from 'k6';
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const seen = new Counter('seen');
        export const options = { iterations: 2 };
        export default async function () {
            seen.add(__ITER);
            await group('g', async () => {
                await 0;
                exec.vu.metrics.tags.late = 'yes';
                throw new Error('on purpose');
            });
        }";
    let run = Script::text(text).with_metric_context().run();
    assert_eq!(samples(&run, "seen"), ["0 group=", "1 group="]);
    assert_eq!(samples(&run, "group_duration"), ["group=::g", "group=::g"]);
    assert_eq!(samples(&run, "iterations"), ["group=", "group="]);
}

#[test]
fn without_the_feature_groups_refuse_async_functions_and_end_at_once() {
    let text = "
        import { group } from 'k6';
        import { Counter } from 'k6/metrics';
        const seen = new Counter('seen');
        export default function () {
            try { group('refused', async () => {}); } catch (error) { console.log(error.message.slice(0, 45)); }
            group('g', () => { Promise.resolve().then(() => seen.add(1)); });
        }";
    let run = Script::text(text).run();
    assert_eq!(
        run.console(),
        ["group() does not support async functions, who"]
    );
    assert_eq!(samples(&run, "seen"), ["1 group="]);
}
