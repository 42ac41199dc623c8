export const options = { thresholds: { iterations: ['count>1 && count<5'] } };
export default function () { console.log('never'); }
