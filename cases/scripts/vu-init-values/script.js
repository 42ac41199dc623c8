export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
const list = [];
let first = __VU;
export default function () {
  list.push(`${__VU}.${__ITER}`);
  console.log(first, list.join());
}
