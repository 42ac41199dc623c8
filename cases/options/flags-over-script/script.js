export const options = { vus: 1, iterations: 2 };
export default function () {}
