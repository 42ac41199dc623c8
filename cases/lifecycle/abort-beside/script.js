import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 20 } } };
export default function () { sleep(__VU === 1 ? 0.3 : 5); if (__VU === 1) exec.test.abort('done'); }
