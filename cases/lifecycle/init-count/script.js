export const options = { vus: 2, iterations: 2 };
console.log(`init vu=${__VU}`);
export function setup() { console.log(`setup vu=${__VU}`); }
export default function () { console.log('iteration'); }
export function teardown() { console.log(`teardown vu=${__VU}`); }
export function handleSummary() { console.log(`summary vu=${__VU}`); return {}; }
