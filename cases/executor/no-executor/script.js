export const options = { scenarios: { a: { vus: 4 } } };
export default function () {}
