import exec from 'k6/execution';

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 6, iterations: 1 },
    second: { executor: 'per-vu-iterations', vus: 6, iterations: 1, startTime: '1s' },
  },
};

export default function () {
  console.log(exec.scenario.name, exec.vu.idInInstance, exec.vu.idInTest, __VU);
}
