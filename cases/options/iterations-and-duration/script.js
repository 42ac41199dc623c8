export const options = { vus: 1, iterations: 2, duration: '20s' };
export default function () {}
