import exec from 'k6/execution';
export const options = { scenarios: {
  a: { executor: 'per-vu-iterations', vus: 2, iterations: 1, maxDuration: '1s', gracefulStop: '0s' },
  b: { executor: 'per-vu-iterations', vus: 2, iterations: 1, startTime: '1s' },
} };
export default function () { console.log(exec.scenario.name, exec.vu.idInTest, exec.vu.iterationInInstance, exec.vu.iterationInScenario, __ITER); }
