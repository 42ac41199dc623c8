export const options = { vus: 3, iterations: 3 };
console.log(`init vu=${__VU} iter=${typeof __ITER}`);
export default function () {}
