import exec from 'k6/execution';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export const options = { scenarios: { one: { executor: 'shared-iterations', vus: 1, iterations: 2, tags: { t: 'x' }, env: { E: 'f' } } }, tags: { run: 'r' } };
attempt('init scenario', () => exec.scenario.name);
attempt('init vu', () => exec.vu.idInTest);
attempt('init test', () => exec.test.options.vus);
attempt('init instance', () => exec.instance.vusActive);
export default function () {
  console.log(Object.keys(exec).sort().join(), Object.keys(exec.vu).sort().join(), Object.keys(exec.scenario).sort().join(), Object.keys(exec.instance).sort().join(), Object.keys(exec.test).sort().join());
  console.log(exec.scenario.name, exec.scenario.executor, exec.scenario.iterationInInstance, exec.scenario.iterationInTest, typeof exec.scenario.startTime, exec.scenario.progress >= 0);
  console.log(exec.vu.idInInstance, exec.vu.idInTest, exec.vu.iterationInInstance, exec.vu.iterationInScenario, Object.keys(exec.vu.metrics.tags).sort().join(), JSON.stringify(exec.vu.metrics.metadata));
  for (const value of ['x', 5, true, null, undefined, {}, [], 1.5]) attempt('tag ' + JSON.stringify(value), () => { exec.vu.metrics.tags.mine = value; return exec.vu.metrics.tags.mine; });
  for (const value of ['x', 5, true, null, {}]) attempt('metadata ' + JSON.stringify(value), () => { exec.vu.metrics.metadata.mine = value; return exec.vu.metrics.metadata.mine; });
  attempt('delete', () => { delete exec.vu.metrics.tags.mine; return exec.vu.metrics.tags.mine; });
  attempt('system tag', () => { exec.vu.metrics.tags.group = '::g'; return exec.vu.metrics.tags.group; });
  attempt('replace', () => { exec.vu.metrics.tags = { a: 'b' }; return JSON.stringify(exec.vu.metrics.tags); });
  attempt('write', () => { exec.scenario.name = 'other'; return exec.scenario.name; });
  console.log(JSON.stringify(exec.test.options.scenarios), exec.instance.iterationsCompleted, exec.instance.iterationsInterrupted, exec.instance.vusActive, exec.instance.vusInitialized);
}
