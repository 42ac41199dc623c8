export const options = { stages: [{ target: 1 }], vus: 1, iterations: 2 };
export default function () { console.log(1); }
