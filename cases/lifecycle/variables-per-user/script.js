export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
let count = 0;
export default function () { count++; console.log(`user ${__VU} iteration ${__ITER} count ${count}`); }
