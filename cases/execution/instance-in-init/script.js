import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } } };
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
if (__VU === 1) {
  attempt('active', () => exec.instance.vusActive);
  attempt('completed', () => exec.instance.iterationsCompleted);
  attempt('interrupted', () => exec.instance.iterationsInterrupted);
  attempt('duration', () => typeof exec.instance.currentTestRunDuration);
  attempt('id', () => exec.vu.idInTest);
  attempt('options', () => typeof exec.test.options);
}
export default function () { attempt('later', () => [exec.instance.vusActive, exec.vu.idInInstance, exec.vu.iterationInScenario]); }
