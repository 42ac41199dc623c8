console.log('seen');
export const options = { vus: 1 };
export default function () { console.log('never'); }
