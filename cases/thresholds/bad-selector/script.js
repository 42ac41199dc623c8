export const options = { thresholds: { 'http_reqs{status}': ['count>0'] } };
export default function () { console.log('never'); }
