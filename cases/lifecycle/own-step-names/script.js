// k6 gives these names no meaning.
export const options = {
  scenarios: {
    calls: { executor: 'per-vu-iterations', vus: 1, iterations: 2, maxDuration: '1s', gracefulStop: '0s' },
    runs: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'setupVU', startTime: '1s' },
  },
};
let calls = 0;
export function setupVU(...values) {
  calls += 1;
  console.log('setupVU', calls, JSON.stringify(values));
}
export function teardownVU(name) { console.log('teardownVU', name); }
export function setup() { return { base: 10 }; }
export default function (data) {
  setupVU('own', data.base);
  teardownVU(`of ${__ITER}`);
}
