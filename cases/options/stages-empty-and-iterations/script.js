export const options = { stages: [], vus: 1, iterations: 2 };
export default function () { console.log(1); }
