import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export default function () {
  console.log(`user-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`, `${__VU}-${__ITER}`, exec.vu.iterationInInstance);
}
