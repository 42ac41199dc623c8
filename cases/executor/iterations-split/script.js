import { Counter } from 'k6/metrics';
const c = new Counter('by_user');
export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () { c.add(1, { user: String(__VU) }); }
