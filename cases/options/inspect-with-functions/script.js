export const options = { vus: 1, iterations: 2, nothing: () => 1, [Symbol('s')]: 5 };
export default function () {}
