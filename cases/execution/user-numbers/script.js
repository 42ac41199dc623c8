import exec from 'k6/execution';
export const options = { scenarios: {
  first: { executor: 'per-vu-iterations', vus: 2, iterations: 2 },
  second: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '1s' } } };
export default function () {
  const { vu, scenario } = exec;
  console.log(scenario.name, scenario.executor, vu.iterationInScenario, vu.idInTest === __VU, vu.iterationInInstance === __ITER, typeof scenario.startTime, scenario.progress >= 0 && scenario.progress <= 1);
}
