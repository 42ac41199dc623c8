export const options = { VUs: 5, iteration: 3, own: { a: 1 }, vus: 2, iterations: 4 };
export default function () {}
