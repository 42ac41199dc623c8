import exec from 'k6/execution';
const names = {
  instance: ['currentTestRunDuration', 'iterationsCompleted', 'vusActive', 'vusInitialized'],
  scenario: ['name', 'executor', 'startTime', 'progress', 'iterationInInstance', 'iterationInTest'],
  vu: ['idInInstance', 'idInTest', 'iterationInInstance', 'iterationInScenario', 'tags', 'metrics'],
  test: ['options', 'abort', 'fail'],
};
function probe(where) {
  for (const [part, keys] of Object.entries(names)) {
    for (const key of keys) {
      try { console.log(where, part, key, typeof exec[part][key]); } catch (e) { console.log(where, part, key, e.name, e.message); }
    }
  }
}
if (__VU === 1) probe('init');
export function setup() { probe('setup'); }
export default function () { probe('iteration'); }
export function teardown() { probe('teardown'); }
