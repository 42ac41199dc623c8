export const options = { scenarios: {
  s: { executor: 'shared-iterations', vus: 4, iterations: 20 },
  p: { executor: 'per-vu-iterations', vus: 5, iterations: 3 },
} };
export default function () {}
