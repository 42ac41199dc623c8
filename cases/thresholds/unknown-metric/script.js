export const options = { thresholds: { nothing_here: ['count>0'] } };
export default function () { console.log('never'); }
