import http from 'k6/http';
export const options = { scenarios: {
  first: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'one', env: { WHO: 'first' }, tags: { kind: 'a' } },
  second: { executor: 'per-vu-iterations', vus: 2, iterations: 1, exec: 'two', env: { WHO: 'second' }, tags: { kind: 'b', name: 'own' } },
} };
export function one() { console.log(`one ${__ENV.WHO}`); http.get(`${__ENV.BASE}/get`); }
export function two() { console.log(`two ${__ENV.WHO}`); http.get(`${__ENV.BASE}/get`); }
