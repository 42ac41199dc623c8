export const options = { vus: 1, iteration: 5 };
export default function () { console.log('ran'); }
