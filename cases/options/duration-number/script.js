export const options = { vus: 1, iterations: 1, duration: 90000, setupTimeout: 5000 };
export default function () {}
