export const options = { vus: 4, iterations: 20 };
export default function () {}
