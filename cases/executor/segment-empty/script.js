export const options = { vus: 1, iterations: 3 };
export default function () { console.log('ran'); }
